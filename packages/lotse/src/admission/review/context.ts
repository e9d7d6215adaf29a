/** Builds what handlers of requests get. What costs something is made when it is asked for. */
import { type Client, type KindClass, type KindDescription, type KubeBody, KubeObject } from "@lotse/client";
import { deepClone, diff } from "@lotse/client/meta";
import {
  type AdmissionHandler,
  type AdmissionRequest,
  DeclarationError,
  deepFreeze,
  type FixedSettings,
  type Indexes,
  type Memo,
  type MutateContext,
  type ValidateContext,
} from "../../declare/index.ts";
import type { Logger } from "../../report/index.ts";
import type { PatchDraft } from "../../turn/index.ts";

const NOTHING: Readonly<Record<string, never>> = Object.freeze({});

/** What a context is made of. */
export interface AdmissionContextParts {
  readonly handler: AdmissionHandler;
  readonly kind: KindDescription;
  readonly kindClass: KindClass | undefined;
  readonly request: AdmissionRequest;
  /** As it would be stored, or the stored one where it would be deleted. */
  readonly body: KubeBody;
  readonly old: KubeBody | undefined;
  readonly new: KubeBody | undefined;
  readonly warnings: string[];
  /** What an `on.mutate` handler writes into. */
  readonly draft: PatchDraft;
  readonly memo: () => Memo;
  readonly client: () => Client;
  readonly logger: Logger;
  readonly runId: string;
  readonly signal: () => AbortSignal;
  readonly settings: FixedSettings;
  readonly indexes: Indexes;
}

/** See the module comment. */
export function admissionContext(parts: AdmissionContextParts): MutateContext<KubeBody> {
  const { handler, kind, request, warnings, settings, indexes } = parts;
  const body = deepFreeze(parts.body);
  const [old, now] = [deepFreeze(parts.old), deepFreeze(parts.new)];
  const metadata = body.metadata ?? NOTHING;
  let client: Client | undefined;
  let memo: Memo | undefined;
  let differences: ValidateContext<KubeBody>["diff"] | undefined;
  const context: ValidateContext<KubeBody> = {
    get object() {
      const own = deepClone(parts.body);
      // What a subresource is asked with may be of another kind: a Scale, an Eviction.
      const ofKind = own.kind === undefined || own.kind === kind.kind;
      return parts.kindClass && ofKind ? new parts.kindClass(own, this.client) : new KubeObject(own, this.client, kind);
    },
    body,
    spec: (body.spec ?? NOTHING) as ValidateContext<KubeBody>["spec"],
    status: (body.status ?? NOTHING) as ValidateContext<KubeBody>["status"],
    meta: metadata,
    labels: metadata.labels ?? NOTHING,
    annotations: metadata.annotations ?? NOTHING,
    name: request.name || (metadata.name ?? ""),
    namespace: request.namespace ?? metadata.namespace,
    uid: metadata.uid ?? "",
    resource: kind,
    operation: request.operation,
    subresource: request.subresource,
    request,
    userInfo: request.userInfo,
    dryRun: request.dryRun,
    headers: request.headers,
    old,
    new: now,
    get diff() {
      differences ??= diff(old, now);
      return differences;
    },
    warnings,
    warn: (text) => void warnings.push(text),
    get memo() {
      memo ??= parts.memo();
      return memo;
    },
    get logger() {
      return parts.logger.with({ handler: handler.id, runId: parts.runId });
    },
    runId: parts.runId,
    get client() {
      client ??= parts.client();
      return client;
    },
    get signal() {
      return parts.signal();
    },
    param: handler.param,
    settings,
    indexes,
  };
  return withPatch(context, handler, parts.draft);
}

/** Only `on.mutate` handlers have a patch; the others hear why, also where no compiler tells them. */
function withPatch(
  context: ValidateContext<KubeBody>,
  { type, id }: AdmissionHandler,
  draft: PatchDraft,
): MutateContext<KubeBody> {
  if (type === "mutate")
    return Object.defineProperty(context, "patch", { value: draft.view, enumerable: true }) as never;
  const get = () => {
    throw new DeclarationError(`the validating handler ${id} cannot change the object`, {
      hint: "declare it with on.mutate",
    });
  };
  return Object.defineProperty(context, "patch", { get, enumerable: false }) as never;
}
