/** Where the containers of a pod see its volumes. */
import { forbiddenField, invalidValue, missingReference, notSupported, required } from "../../fields.ts";
import { checkOneOf, type Errors, type Fields, isSet, struct, structs, text } from "./check.ts";
import { checkLocalPath, hasBackstep } from "./paths.ts";

/** The volumes of a pod that are all right, by name. */
export type Volumes = ReadonlyMap<string, Fields>;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIONS = ["Disabled", "Enabled", "IfPossible"];

/** Volumes that a container sees as folders. */
export function checkMounts(container: Fields, volumes: Volumes, path: string, errors: Errors): void {
  const mounts = structs(container.volumeMounts);
  if (mounts.length === 0) return;
  const devices = structs(container.volumeDevices);
  const points = new Set<string>();
  for (const [i, mount] of mounts.entries()) {
    const here = `${path}[${i}]`;
    const name = text(mount.name);
    const point = text(mount.mountPath);
    if (name === "") errors.push(required(`${here}.name`));
    if (!volumes.has(name)) errors.push(missingReference(`${here}.name`, name));
    if (point === "") errors.push(required(`${here}.mountPath`));
    if (points.has(point)) errors.push(invalidValue(`${here}.mountPath`, point, "must be unique"));
    points.add(point);
    if (devices.some((device) => text(device.name) === name)) {
      errors.push(invalidValue(`${here}.name`, name, "must not already exist in volumeDevices"));
    }
    if (lastPaths(devices, "devicePath").has(point)) {
      errors.push(invalidValue(`${here}.mountPath`, point, "must not already exist as a path in volumeDevices"));
    }
    checkSubPaths(mount, here, path, errors);
    checkPropagation(mount, container, path, errors);
    checkRecursion(mount, `${path}.recursiveReadOnly`, errors);
  }
}

/** The paths of a list in which a later item takes the place of an earlier one with the same name. */
function lastPaths(list: readonly Fields[], field: string): Set<string> {
  return new Set(new Map(list.map((item) => [text(item.name), text(item[field])])).values());
}

/** The list is to blame for paths that lead elsewhere, and not its item. */
function checkSubPaths(mount: Fields, here: string, path: string, errors: Errors): void {
  const subPath = text(mount.subPath);
  const expression = text(mount.subPathExpr);
  if (subPath !== "") checkLocalPath(subPath, `${path}.subPath`, errors);
  if (expression === "") return;
  if (subPath !== "") {
    errors.push(invalidValue(`${here}.subPathExpr`, expression, "subPathExpr and subPath are mutually exclusive"));
  }
  checkLocalPath(expression, `${path}.subPathExpr`, errors);
}

function checkPropagation(mount: Fields, container: Fields, path: string, errors: Errors): void {
  if (!isSet(mount.mountPropagation)) return;
  const field = `${path}.mountPropagation`;
  checkOneOf(mount.mountPropagation, PROPAGATIONS, field, errors);
  if (mount.mountPropagation !== "Bidirectional" || struct(container.securityContext)?.privileged === true) return;
  errors.push(forbiddenField(field, "Bidirectional mount propagation is available only to privileged containers"));
}

function checkRecursion(mount: Fields, path: string, errors: Errors): void {
  const mode = mount.recursiveReadOnly;
  if (!isSet(mode) || mode === "Disabled") return;
  if (!RECURSIONS.includes(text(mode))) {
    errors.push(notSupported(path, text(mode), RECURSIONS));
    return;
  }
  if (mount.readOnly !== true) errors.push(forbiddenField(path, "may only be specified when readOnly is true"));
  if (isSet(mount.mountPropagation) && mount.mountPropagation !== "None") {
    errors.push(forbiddenField(path, "may only be specified when mountPropagation is None or not specified"));
  }
}

/** Volumes that a container sees as devices. */
export function checkDevices(container: Fields, volumes: Volumes, path: string, errors: Errors): void {
  const mounts = structs(container.volumeMounts);
  const paths = new Set<string>();
  const names = new Set<string>();
  for (const [i, device] of structs(container.volumeDevices).entries()) {
    const here = `${path}[${i}]`;
    const name = text(device.name);
    const point = text(device.devicePath);
    const volume = volumes.get(name);
    if (name === "") errors.push(required(`${here}.name`));
    if (names.has(name)) errors.push(invalidValue(`${here}.name`, name, "must be unique"));
    if (volume === undefined) errors.push(missingReference(`${here}.name`, name));
    else if (!isSet(volume.persistentVolumeClaim) && !isSet(volume.ephemeral)) {
      const detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      errors.push(invalidValue(`${here}.name`, name, detail));
    }
    if (point === "") errors.push(required(`${here}.devicePath`));
    if (paths.has(point)) errors.push(invalidValue(`${here}.devicePath`, point, "must be unique"));
    if (hasBackstep(point)) {
      errors.push(invalidValue(`${here}.devicePath`, point, "can not contain backsteps ('..')"));
    } else paths.add(point);
    if (mounts.some((mount) => text(mount.name) === name)) {
      errors.push(invalidValue(`${here}.name`, name, "must not already exist in volumeMounts"));
    }
    if (lastPaths(mounts, "mountPath").has(point)) {
      errors.push(invalidValue(`${here}.devicePath`, point, "must not already exist as a path in volumeMounts"));
    }
    if (name !== "") names.add(name);
  }
}
