import { dns1035LabelErrors, dns1123SubdomainErrors } from "@lotse/client/meta";
import { type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, isRecord, listAt, objectAt } from "../object.ts";
import { textOf } from "./common.ts";
import { complain, portNumberErrors } from "./values.ts";

type Fields = Record<string, unknown>;

const HIGHEST_GROUP = 20_000;
const HIGHEST_VERSION = 1_000;
const STATES: readonly string[] = ["True", "False", "Unknown"];

/** What is wrong with an APIService; a write to its status is not to blame for the rest. */
export function apiService(object: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") return statusErrors(object);
  const spec = objectAt(object, "spec");
  return [...nameErrors(object, spec), ...servedErrors(spec), ...serverErrors(spec)];
}

/** The name says what is served; that of the core group ends in a dot. */
function nameErrors({ metadata }: ApiObject, { group, version }: Fields): FieldError[] {
  const wanted = `${textOf(version)}.${textOf(group)}`;
  // One without a name is refused for that alone.
  if (!metadata.name || metadata.name === wanted) return [];
  const text = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
  return [invalidValue("metadata.name", metadata.name, text)];
}

function servedErrors(spec: Fields): FieldError[] {
  const group = textOf(spec.group);
  const version = textOf(spec.version);
  const errors: FieldError[] = [];
  if (group !== "") errors.push(...complain(dns1123SubdomainErrors(group), "spec.group", group));
  else if (version !== "v1") {
    errors.push(required("spec.group", "only v1 may have an empty group and it better be legacy kube"));
  }
  errors.push(...complain(dns1035LabelErrors(version), "spec.version", version));
  for (const [key, highest] of [
    ["groupPriorityMinimum", HIGHEST_GROUP],
    ["versionPriority", HIGHEST_VERSION],
  ] as const) {
    const priority = Number(spec[key] ?? 0);
    if (priority > 0 && priority <= highest) continue;
    errors.push(invalidValue(`spec.${key}`, priority, `must be positive and less than ${highest}`));
  }
  return errors;
}

/** Where it is served: by this server itself, or behind a Service. */
function serverErrors(spec: Fields): FieldError[] {
  const bundle = textOf(spec.caBundle);
  const insecure = spec.insecureSkipTLSVerify === true;
  const skipping = (text: string) => invalidValue("spec.insecureSkipTLSVerify", true, text);
  const errors: FieldError[] = [];
  if (!isRecord(spec.service)) {
    if (bundle !== "") {
      const size = `${atob(bundle).length} bytes`;
      errors.push(invalidValue("spec.caBundle", size, "local APIServices may not have a caBundle"));
    }
    if (insecure) errors.push(skipping("local APIServices may not have insecureSkipTLSVerify"));
    return errors;
  }
  for (const key of ["namespace", "name"]) {
    if (textOf(spec.service[key]) === "") errors.push(required(`spec.service.${key}`));
  }
  for (const error of portNumberErrors(spec.service.port, "spec.service.port")) {
    errors.push({ ...error, detail: `port is not valid: ${error.detail}` } as FieldError);
  }
  if (insecure && bundle !== "") errors.push(skipping("may not be true if caBundle is present"));
  return errors;
}

function statusErrors(object: ApiObject): FieldError[] {
  return listAt(object, "status", "conditions").flatMap((condition, i) =>
    STATES.includes(textOf(condition.status))
      ? []
      : [notSupported(`status.conditions[${i}].status`, textOf(condition.status), STATES)],
  );
}
