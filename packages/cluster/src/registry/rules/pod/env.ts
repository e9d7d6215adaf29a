/** Variables of containers, and where their values come from. */
import { invalidValue, notSupported, required } from "../../fields.ts";
import { readAmount } from "../../quantity-form.ts";
import {
  checkConfigKey,
  checkLabel,
  checkPresent,
  checkQualifiedName,
  type Errors,
  type Fields,
  struct,
  subdomainMessages,
  text,
} from "./check.ts";
import { checkNoBacksteps } from "./paths.ts";

/** What Go calls printable ASCII, without the sign that ends a name. */
const VARIABLE = /^[ -<>-~]*$/;
const VARIABLE_RULE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

function checkVariableName(name: string, path: string, errors: Errors): void {
  if (!VARIABLE.test(name)) errors.push(invalidValue(path, name, VARIABLE_RULE));
}

/** Single variables. */
export function checkEnv(variables: readonly Fields[], path: string, errors: Errors): void {
  for (const [i, variable] of variables.entries()) {
    const here = `${path}[${i}]`;
    const name = text(variable.name);
    if (name === "") errors.push(required(`${here}.name`));
    else checkVariableName(name, `${here}.name`, errors);
    const from = struct(variable.valueFrom);
    if (from !== undefined) checkValueFrom(from, text(variable.value), `${here}.valueFrom`, errors);
  }
}

function checkValueFrom(from: Fields, value: string, path: string, errors: Errors): void {
  let sources = 0;
  const each = (name: string, check: (source: Fields, path: string) => void) => {
    const source = struct(from[name]);
    if (source === undefined) return;
    sources++;
    check(source, `${path}.${name}`);
  };
  each("fieldRef", (ref, here) => checkFieldRef(ref, ENV_FIELDS, here, errors));
  each("resourceFieldRef", (ref, here) => checkResourceFieldRef(ref, false, here, errors));
  for (const name of ["configMapKeyRef", "secretKeyRef"]) each(name, (ref, here) => checkKeyRef(ref, here, errors));
  each("fileKeyRef", (ref, here) => checkFileKeyRef(ref, here, errors));
  if (sources === 0) {
    const detail =
      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    errors.push(invalidValue(path, "", detail));
  } else if (value !== "") errors.push(invalidValue(path, "", "may not be specified when `value` is not empty"));
  else if (sources > 1) errors.push(invalidValue(path, "", "may not have more than one field specified at a time"));
}

function checkKeyRef(ref: Fields, path: string, errors: Errors): void {
  for (const message of subdomainMessages(text(ref.name))) {
    errors.push(invalidValue(`${path}.name`, text(ref.name), message));
  }
  checkConfigKey(text(ref.key), `${path}.key`, errors);
}

function checkFileKeyRef(ref: Fields, path: string, errors: Errors): void {
  const key = text(ref.key);
  if (key === "") errors.push(required(`${path}.key`));
  else checkVariableName(key, `${path}.key`, errors);
  const volume = text(ref.volumeName);
  if (volume === "") errors.push(required(`${path}.volumeName`));
  else checkLabel(volume, `${path}.volumeName`, errors);
  const file = text(ref.path);
  if (file === "") errors.push(required(`${path}.path`));
  else checkNoBacksteps(file, `${path}.path`, errors);
}

/** Variables by the dozen. */
export function checkEnvFrom(sources: readonly Fields[], path: string, errors: Errors): void {
  for (const [i, source] of sources.entries()) {
    const here = `${path}[${i}]`;
    checkVariableName(text(source.prefix), `${here}.prefix`, errors);
    let found = 0;
    for (const name of ["configMapRef", "secretRef"]) {
      const ref = struct(source[name]);
      if (ref === undefined) continue;
      found++;
      const target = text(ref.name);
      checkPresent(target, `${here}.${name}.name`, errors);
      if (target === "") continue;
      // Such a name may be the beginning of one, which may end in a dash.
      for (const message of subdomainMessages(target.length > 1 ? target.replace(/-$/, "a") : target)) {
        errors.push(invalidValue(`${here}.${name}.name`, target, message));
      }
    }
    // The list is to blame, and not its item.
    if (found === 0) errors.push(invalidValue(path, "", "must specify one of: `configMapRef` or `secretRef`"));
    if (found > 1) errors.push(invalidValue(path, "", "may not have more than one field specified at a time"));
  }
}

const ENV_FIELDS: readonly string[] = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** Fields of a pod that one of its files can hold. */
export const FILE_FIELDS: readonly string[] = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

/** Fields that can be named at all, whether here or elsewhere. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  ...FILE_FIELDS,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);

/** A field with the key of a map behind it. */
const SUBSCRIPTED = /^([\s\S]+?)\['([\s\S]*)'\]$/;

/** A reference to a field of the pod; `fields` are those that the place allows. */
export function checkFieldRef(ref: Fields, fields: readonly string[], path: string, errors: Errors): void {
  const version = text(ref.apiVersion);
  if (version === "") {
    errors.push(required(`${path}.apiVersion`));
    return;
  }
  const field = text(ref.fieldPath);
  if (field === "") {
    errors.push(required(`${path}.fieldPath`));
    return;
  }
  const wrong = (why: string): void => {
    errors.push(invalidValue(`${path}.fieldPath`, field, `error converting fieldPath: ${why}`));
  };
  const [, map, key = ""] = SUBSCRIPTED.exec(field) ?? [];
  if (version !== "v1") wrong(`unsupported pod version: ${version}`);
  else if (map === "metadata.annotations") checkQualifiedName(key.toLowerCase(), path, errors);
  else if (map === "metadata.labels") checkQualifiedName(key, path, errors);
  else if (map !== undefined) wrong(`field label does not support subscript: ${field}`);
  else {
    const known = field === "spec.host" ? "spec.nodeName" : field;
    if (!KNOWN_FIELDS.has(known)) wrong(`field label not supported: ${field}`);
    else if (!fields.includes(known)) errors.push(notSupported(`${path}.fieldPath`, known, fields));
  }
}

const RESOURCES = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const HUGE_PAGES = /^(?:requests|limits)\.hugepages-/;
const BYTES = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/** A reference to what a container asks for; in a file the container must be named. */
export function checkResourceFieldRef(ref: Fields, inFile: boolean, path: string, errors: Errors): void {
  const resource = text(ref.resource);
  if (inFile && text(ref.containerName) === "") errors.push(required(`${path}.containerName`));
  else if (resource === "") errors.push(required(`${path}.resource`));
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource)) {
    errors.push(notSupported(`${path}.resource`, resource, RESOURCES));
  }
  checkDivisor(resource, ref.divisor, `${path}.divisor`, errors);
}

function checkDivisor(resource: string, divisor: unknown, path: string, errors: Errors): void {
  if (typeof divisor !== "string" || readAmount(divisor).nanos === 0n) return;
  const kind = HUGE_PAGES.test(resource) ? "hugepages" : resource.slice(resource.indexOf(".") + 1);
  const what = DIVIDED[kind];
  if (what === undefined || !(kind === "hugepages" || RESOURCES.includes(resource))) return;
  const allowed = kind === "cpu" ? ["1m", "1"] : BYTES;
  if (allowed.includes(divisor)) return;
  const list = kind === "cpu" ? "1m and 1" : BYTES.join(", ");
  errors.push(invalidValue(path, resource, `only divisor's values ${list} are supported with the ${what} resource`));
}

const DIVIDED: Readonly<Record<string, string | undefined>> = {
  cpu: "cpu",
  memory: "memory",
  "ephemeral-storage": "local ephemeral storage",
  hugepages: "hugepages",
};
