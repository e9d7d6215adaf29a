/** One object as the page shows it: readable, without what users do not read and what they should not see. */
import type { KubeBody } from "@lotse/client";
import { isObject, toYaml } from "@lotse/client/meta";

/** What the page gets of one object. */
export interface ObjectView {
  readonly object: KubeBody;
  readonly yaml: string;
  /** What operators remember on the object, by operator. */
  readonly records: Readonly<Record<string, unknown>>;
}

/** The field of the status, and the end of the annotation's key, that hold an operator's record. */
const RECORD_FIELD = "lotse";
const RECORD_ANNOTATION = ".lotse.dev/state";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** See the module comment. */
export function viewOf(body: KubeBody): ObjectView {
  const records = recordsOf(body);
  const { managedFields: _managedFields, ...metadata } = body.metadata ?? {};
  const object = isSecret(body) ? withoutSecrets({ ...body, metadata }) : { ...body, metadata };
  return { object, yaml: toYaml(object), records };
}

function recordsOf(body: KubeBody): Record<string, unknown> {
  const records: Record<string, unknown> = {};
  for (const [key, text] of Object.entries(body.metadata?.annotations ?? {})) {
    if (key.endsWith(RECORD_ANNOTATION)) records[key.slice(0, -RECORD_ANNOTATION.length)] = parse(text);
  }
  const status = isObject(body.status) ? body.status[RECORD_FIELD] : undefined;
  return isObject(status) ? { ...records, ...status } : records;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const isSecret = ({ apiVersion, kind }: KubeBody): boolean => apiVersion === "v1" && kind === "Secret";

/** The page may be on a projector: it shows which keys a Secret has, never their values. */
function withoutSecrets(body: KubeBody): KubeBody {
  const { [LAST_APPLIED]: lastApplied, ...annotations } = body.metadata?.annotations ?? {};
  if (lastApplied !== undefined) annotations[LAST_APPLIED] = "(hidden)";
  const hidden: KubeBody = { ...body, metadata: { ...body.metadata, annotations } };
  for (const part of ["data", "stringData"]) {
    const values = body[part];
    if (isObject(values)) hidden[part] = Object.fromEntries(Object.keys(values).map((key) => [key, "(hidden)"]));
  }
  return hidden;
}
