import { dns1123SubdomainErrors, pathSegmentErrors } from "@lotse/client/meta";
import { duplicateValue, type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { isRecord, listAt } from "../object.ts";
import { given, selectorErrors, textsOf } from "../rules/index.ts";

export { selectorErrors, textsOf };

/** Parts that webhooks and policies have in common: which requests they are about. */

type Fields = Record<string, unknown>;

/** What is not one of the supported values; nothing when it is absent, unless it has to be there. */
export function oneOf(value: unknown, path: string, supported: readonly string[], needed = false): FieldError[] {
  if (value === undefined || value === null || (needed && value === "")) return needed ? [required(path)] : [];
  return supported.includes(String(value)) ? [] : [notSupported(path, value, supported)];
}

/** What can be done when a webhook or policy fails. */
export const FAILURE_POLICIES: readonly string[] = ["Fail", "Ignore"];
/** Whether rules also match the same object in other versions. */
export const MATCH_POLICIES: readonly string[] = ["Equivalent", "Exact"];
/** Whether a webhook or policy is asked again after others have changed the object. */
export const REINVOCATION_POLICIES: readonly string[] = ["IfNeeded", "Never"];
const OPERATIONS: readonly string[] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES: readonly string[] = ["*", "Cluster", "Namespaced"];

/** A list in which a star stands for everything, so that nothing may stand beside it. */
function starOrOthers(values: readonly string[], path: string, what: string): FieldError[] {
  if (values.length === 0) return [required(path)];
  if (values.length === 1 || !values.includes("*")) return [];
  return [invalidValue(path, values, `if '*' is present, must not specify other ${what}`)];
}

/** What is wrong with one rule about operations and resources. */
export function ruleErrors(rule: Fields, path: string): FieldError[] {
  const operations = textsOf(rule.operations);
  const versions = textsOf(rule.apiVersions);
  return [
    ...starOrOthers(operations, `${path}.operations`, "operations"),
    ...operations.flatMap((operation, i) => oneOf(operation, `${path}.operations[${i}]`, OPERATIONS)),
    ...starOrOthers(textsOf(rule.apiGroups), `${path}.apiGroups`, "API groups"),
    ...starOrOthers(versions, `${path}.apiVersions`, "API versions"),
    ...versions.flatMap((version, i) => (version === "" ? [required(`${path}.apiVersions[${i}]`)] : [])),
    ...resourceErrors(textsOf(rule.resources), `${path}.resources`),
    ...oneOf(rule.scope, `${path}.scope`, SCOPES),
  ];
}

function resourceErrors(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const covered = new Set<string>();
  let plain = false;
  for (const [i, text] of resources.entries()) {
    if (text === "") {
      errors.push(required(`${path}[${i}]`));
      continue;
    }
    const [resource = "", below] = text.split(/\/(.*)/s);
    if (below === undefined) {
      plain = text !== "*";
      continue;
    }
    for (const wide of [`${resource}/*`, `*/${below}`]) {
      if (!covered.has(wide)) continue;
      errors.push(invalidValue(`${path}[${i}]`, text, `if '${wide}' is present, must not specify ${text}`));
    }
    if (below === "*" || resource === "*") covered.add(text);
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && plain) {
    const text = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalidValue(path, resources, text));
  }
  return errors;
}

/** `matchConstraints` of a policy, `matchResources` of a binding. */
export function matchErrors(match: unknown, path: string): FieldError[] {
  if (!isRecord(match)) return [];
  const errors = given(match.matchPolicy)
    ? oneOf(match.matchPolicy, `${path}.matchPolicy`, MATCH_POLICIES)
    : [required(`${path}.matchPolicy`)];
  for (const key of ["namespaceSelector", "objectSelector"]) {
    if (isRecord(match[key])) errors.push(...selectorErrors(match[key], `${path}.${key}`));
    else errors.push(required(`${path}.${key}`));
  }
  for (const key of ["resourceRules", "excludeResourceRules"]) {
    for (const [i, rule] of listAt(match, key).entries()) {
      const at = `${path}.${key}[${i}]`;
      errors.push(...nameErrors(textsOf(rule.resourceNames), `${at}.resourceNames`), ...ruleErrors(rule, at));
    }
  }
  return errors;
}

function nameErrors(names: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, name] of names.entries()) {
    for (const text of pathSegmentErrors(name)) errors.push(invalidValue(`${path}[${i}]`, name, text));
    if (names.indexOf(name) < i) errors.push(duplicateValue(`${path}[${i}]`, name));
  }
  return errors;
}

const MUTABLE: readonly string[] = ["*", "CONNECT", "CREATE", "UPDATE"];

/** A deletion has no object that could be changed. */
export function mutableErrors(match: unknown, path: string): FieldError[] {
  return listAt(match, "resourceRules").flatMap((rule) =>
    textsOf(rule.operations).flatMap((operation) => oneOf(operation, `${path}.resourceRules.operations`, MUTABLE)),
  );
}

/** What is wrong with the name of a policy in a binding. */
export function policyNameErrors(name: unknown, path: string): FieldError[] {
  if (typeof name !== "string" || name === "") return [required(path)];
  return dns1123SubdomainErrors(name).map((text) => invalidValue(path, name, text));
}
