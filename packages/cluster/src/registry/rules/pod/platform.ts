/** Fields that fit only one operating system, and those that share something with the node. */
import { forbiddenField, invalidValue, notSupported, required } from "../../fields.ts";
import { type Errors, type Fields, isSet, number, struct, structs, text, texts } from "./check.ts";
import { everyContainer } from "./containers.ts";

/** On the node's network a port is the node's; templates may leave it out. */
export function checkHostNetworkPorts(spec: Fields, isPod: boolean, path: string, errors: Errors): void {
  if (spec.hostNetwork !== true) return;
  for (const [i, container] of structs(spec.containers).entries()) {
    for (const [j, port] of structs(container.ports).entries()) {
      const hostPort = number(port.hostPort);
      if ((!isPod && hostPort === 0) || hostPort === number(port.containerPort)) continue;
      const detail = "must match `containerPort` when `hostNetwork` is true";
      errors.push(invalidValue(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, detail));
    }
  }
}

/** Users of its own do not go with other things of the host. */
export function checkHostUsers(spec: Fields, path: string, errors: Errors): void {
  if (spec.hostUsers !== false) return;
  const detail = "when `hostUsers` is false";
  if (spec.hostNetwork === true) errors.push(forbiddenField(`${path}.hostNetwork`, detail));
  if (spec.hostPID === true) errors.push(forbiddenField(`${path}.HostPID`, detail));
  if (spec.hostIPC === true) errors.push(forbiddenField(`${path}.HostIPC`, detail));
  for (const [container, here] of everyContainer(spec, path)) {
    if (structs(container.volumeDevices).length > 0) errors.push(forbiddenField(`${here}.volumeDevices`, detail));
  }
}

/** Containers of Windows that are processes of the host. */
export function checkHostProcesses(spec: Fields, path: string, errors: Errors): void {
  const pod = hostProcess(struct(spec.securityContext));
  let containers = 0;
  let processes = 0;
  for (const [container, here] of everyContainer(spec, path)) {
    const own = hostProcess(struct(container.securityContext));
    containers++;
    if (pod !== undefined && own !== undefined && pod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${pod}`;
      errors.push(invalidValue(`${here}.securityContext.windowsOptions.hostProcess`, own, detail));
    }
    if (own ?? pod) processes++;
  }
  if (processes === 0) return;
  if (processes !== containers) {
    const detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    errors.push(invalidValue(path, "", detail));
  }
  if (spec.hostNetwork !== true) {
    const detail = "hostNetwork must be true if pod contains any hostProcess containers";
    errors.push(invalidValue(`${path}.hostNetwork`, false, detail));
  }
}

function hostProcess(context: Fields | undefined): boolean | undefined {
  const value = struct(context?.windowsOptions)?.hostProcess;
  return typeof value === "boolean" ? value : undefined;
}

/** What of a pod's security is not for Windows; with the path below the spec, in the server's order. */
const NOT_FOR_WINDOWS = [
  "securityContext.appArmorProfile",
  "securityContext.seLinuxOptions",
  "hostUsers",
  "hostPID",
  "hostIPC",
  "securityContext.seccompProfile",
  "securityContext.fsGroup",
  "securityContext.fsGroupChangePolicy",
  "securityContext.sysctls",
  "shareProcessNamespace",
  "securityContext.runAsUser",
  "securityContext.runAsGroup",
  "securityContext.supplementalGroups",
  "securityContext.supplementalGroupsPolicy",
  "securityContext.seLinuxChangePolicy",
];
const CONTAINER_NOT_FOR_WINDOWS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

/** The system that a pod says it is for. */
export function checkPlatform(spec: Fields, path: string, errors: Errors): void {
  const system = struct(spec.os);
  if (system === undefined) return;
  const name = text(system.name);
  if (name === "") errors.push(required(`${path}.os.name`));
  else if (name === "linux") checkLinux(spec, path, errors);
  else if (name === "windows") checkWindows(spec, path, errors);
  else errors.push(notSupported(`${path}.os`, name, ["linux", "windows"]));
}

function checkLinux(spec: Fields, path: string, errors: Errors): void {
  const detail = "windows options cannot be set for a linux pod";
  if (isSet(struct(spec.securityContext)?.windowsOptions)) {
    errors.push(forbiddenField(`${path}.securityContext.windowsOptions`, detail));
  }
  for (const [container, here] of everyContainer(spec, path)) {
    if (!isSet(struct(container.securityContext)?.windowsOptions)) continue;
    errors.push(forbiddenField(`${here}.securityContext.windowsOptions`, detail));
  }
}

function checkWindows(spec: Fields, path: string, errors: Errors): void {
  const detail = "cannot be set for a windows pod";
  const context = struct(spec.securityContext) ?? {};
  for (const field of NOT_FOR_WINDOWS) {
    const inner = field.startsWith("securityContext.");
    const value = inner ? context[field.slice("securityContext.".length)] : spec[field];
    // Two of them are plain yes or no, and no is the same as nothing.
    const given = field === "hostPID" || field === "hostIPC" ? value === true : isSet(value);
    if (given && !(field.endsWith("sysctls") && texts(value).length === 0)) {
      errors.push(forbiddenField(`${path}.${field}`, detail));
    }
  }
  for (const [container, here] of everyContainer(spec, path)) {
    const own = struct(container.securityContext) ?? {};
    for (const field of CONTAINER_NOT_FOR_WINDOWS) {
      if (isSet(own[field])) errors.push(forbiddenField(`${here}.securityContext.${field}`, detail));
    }
  }
}
