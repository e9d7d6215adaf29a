/** What the status of a pod may say about the users and devices of its containers. */
import { duplicateValue, forbiddenField, invalidValue, notSupported, required, tooLongValue } from "../../fields.ts";
import { type Errors, type Fields, isSet, number, struct, structs, text } from "./check.ts";

const LISTS = [
  ["containerStatuses", "containers"],
  ["initContainerStatuses", "initContainers"],
  ["ephemeralContainerStatuses", ""],
] as const;

/** Users of all containers first, then their devices: so does the server. */
export function checkContainerFacts(status: Fields, spec: Fields, errors: Errors): void {
  const windows = struct(spec.os)?.name === "windows";
  const each = (check: (one: Fields, path: string, list: (typeof LISTS)[number][1]) => void): void => {
    for (const [key, list] of LISTS) {
      for (const [i, one] of structs(status[key]).entries()) check(one, `status.${key}[${i}]`, list);
    }
  };
  each((one, path) => checkUser(struct(struct(one.user)?.linux), windows, `${path}.user.linux`, errors));
  each((one, path, list) => {
    const devices = structs(one.allocatedResourcesStatus);
    const here = `${path}.allocatedResourcesStatus`;
    if (list !== "")
      checkDevices(
        devices,
        structs(spec[list]).find(({ name }) => name === one.name),
        here,
        errors,
      );
    else if (devices.length > 0) errors.push(forbiddenField(here, "must not be specified in container status"));
  });
}

const LARGEST_ID = 2_147_483_647;
const ID_RANGE = `must be between 0 and ${LARGEST_ID}, inclusive`;

function checkUser(user: Fields | undefined, windows: boolean, path: string, errors: Errors): void {
  if (user === undefined) return;
  if (windows) {
    errors.push(forbiddenField(path, "cannot be set for a windows pod"));
    return;
  }
  const check = (value: unknown, field: string): void => {
    const id = number(value);
    if (id < 0 || id > LARGEST_ID) errors.push(invalidValue(`${path}.${field}`, id, ID_RANGE));
  };
  check(user.uid, "uid");
  check(user.gid, "gid");
  const groups = Array.isArray(user.supplementalGroups) ? user.supplementalGroups : [];
  for (const [i, group] of groups.entries()) check(group, `supplementalGroups[${i}]`);
}

const HEALTH = ["Healthy", "Unhealthy", "Unknown"];
const LONGEST_MESSAGE = 1_024;
const NO_CLAIM =
  "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
const NO_REQUEST = "must match one of the container's resource requests";

function checkDevices(devices: readonly Fields[], container: Fields | undefined, path: string, errors: Errors): void {
  const resources = struct(container?.resources) ?? {};
  const claims = structs(resources.claims).map(({ name, request }) => `claim:${name}${request ? `/${request}` : ""}`);
  for (const [i, device] of devices.entries()) {
    const name = text(device.name);
    const claimed = name.startsWith("claim:");
    const known = claimed ? claims.includes(name) : Object.hasOwn(struct(resources.requests) ?? {}, name);
    // Containers that the spec does not have are not looked for.
    if (container !== undefined && !known) {
      errors.push(invalidValue(`${path}[${i}].name`, name, claimed ? NO_CLAIM : NO_REQUEST));
    }
    checkHealth(structs(device.resources), `${path}[${i}].resources`, errors);
  }
}

function checkHealth(resources: readonly Fields[], path: string, errors: Errors): void {
  const ids = new Set<string>();
  for (const [i, one] of resources.entries()) {
    const health = text(one.health);
    if (!HEALTH.includes(health)) errors.push(notSupported(`${path}[${i}].health`, health, HEALTH));
    if (isSet(one.message)) {
      const message = text(one.message);
      if (message === "") errors.push(required(`${path}[${i}].message`, "must be non-empty if specified"));
      else if (message.length > LONGEST_MESSAGE) errors.push(tooLongValue(`${path}[${i}].message`, LONGEST_MESSAGE));
    }
    const id = text(one.resourceID);
    if (ids.has(id)) errors.push(duplicateValue(`${path}[${i}].resourceID`, id));
    ids.add(id);
  }
}
