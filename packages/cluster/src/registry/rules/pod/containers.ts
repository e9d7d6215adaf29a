/** Containers of a pod, of all three sorts. */
import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  missingReference,
  required,
  tooManyValues,
} from "../../fields.ts";
import {
  checkChoice,
  checkLabel,
  checkOneOf,
  checkPort,
  type Errors,
  type Fields,
  isSet,
  number,
  portNameMessages,
  struct,
  structs,
  text,
} from "./check.ts";
import { checkEnv, checkEnvFrom } from "./env.ts";
import { checkDevices, checkMounts, type Volumes } from "./mounts.ts";
import { checkLifecycle, checkProbes, PROBES } from "./probes.ts";
import { checkContainerResources } from "./resources.ts";
import { checkSecurityContext } from "./security.ts";

/** What the containers of one pod share. */
export interface Surroundings {
  readonly volumes: Volumes;
  /** Names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly gracePeriod: number | undefined;
  readonly restartPolicy: string;
  readonly hostUsers: boolean;
  /** A pod itself, and not a template of pods. */
  readonly isPod: boolean;
}

const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
/** When an image is fetched; sorted, as the server lists them. */
export const PULL_POLICIES: readonly string[] = ["Always", "IfNotPresent", "Never"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** The containers that a pod is made for. */
export function checkContainers(list: readonly Fields[], around: Surroundings, path: string, errors: Errors): void {
  if (list.length === 0) {
    errors.push(required(path));
    return;
  }
  const names = new Set<string>();
  for (const [i, container] of list.entries()) {
    const here = `${path}[${i}]`;
    checkCommon(container, around, here, errors);
    const name = text(container.name);
    if (names.has(name)) errors.push(duplicateValue(`${here}.name`, name));
    names.add(name);
    checkLifecycle(struct(container.lifecycle), around.gracePeriod, `${here}.lifecycle`, errors);
    checkProbes(container, around.gracePeriod, here, errors);
    checkRestartPolicy(container, here, errors);
  }
  checkHostPorts(list, path, errors);
}

/** Containers that run before the others, or beside them when they are restarted always. */
export function checkInitContainers(
  list: readonly Fields[],
  regular: readonly Fields[],
  around: Surroundings,
  path: string,
  errors: Errors,
): void {
  const names = new Set(regular.map(({ name }) => text(name)));
  for (const [i, container] of list.entries()) {
    const here = `${path}[${i}]`;
    checkCommon(container, around, here, errors);
    if (isSet(container.restartPolicy)) checkRestartPolicy(container, here, errors);
    else if (structs(container.restartPolicyRules).length > 0)
      errors.push(required(`${here}.restartPolicy`, NO_POLICY));
    const name = text(container.name);
    if (names.has(name)) errors.push(duplicateValue(`${here}.name`, name));
    else if (name !== "") names.add(name);
    checkHostPorts([container], path, errors);
    const sidecar = container.restartPolicy === "Always";
    if (sidecar) {
      checkLifecycle(struct(container.lifecycle), around.gracePeriod, `${here}.lifecycle`, errors);
      checkProbes(container, around.gracePeriod, here, errors);
      continue;
    }
    for (const field of ["lifecycle", ...PROBES]) {
      const detail = "may not be set for init containers without restartPolicy=Always";
      if (isSet(container[field])) errors.push(forbiddenField(`${here}.${field}`, detail));
    }
    for (const [j, policy] of structs(container.resizePolicy).entries()) {
      if (policy.restartPolicy !== "RestartContainer") continue;
      const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      errors.push(invalidValue(`${here}.resizePolicy[${j}].restartPolicy`, policy.restartPolicy, detail));
    }
  }
}

/** Fields that a container which only visits may not have, in the order of their type. */
const NOT_FOR_VISITORS = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  ...["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"],
];

/** Containers that a user adds to a running pod to look around in it. */
export function checkEphemeralContainers(
  list: readonly Fields[],
  others: readonly Fields[],
  around: Surroundings,
  path: string,
  errors: Errors,
): void {
  if (list.length === 0) return;
  const targets = new Set(others.map(({ name }) => text(name)));
  const names = new Set(targets);
  const detail = "cannot be set for an Ephemeral Container";
  for (const [i, container] of list.entries()) {
    const here = `${path}[${i}]`;
    checkCommon(container, around, here, errors);
    checkImageSpaces(container, here, errors);
    const name = text(container.name);
    if (names.has(name)) errors.push(duplicateValue(`${here}.name`, name));
    names.add(name);
    const target = text(container.targetContainerName);
    if (target !== "" && !targets.has(target)) errors.push(missingReference(`${here}.targetContainerName`, target));
    for (const field of NOT_FOR_VISITORS) {
      if (isGiven(container, field)) errors.push(forbiddenField(`${here}.${field}`, detail));
    }
    for (const [j, mount] of structs(container.volumeMounts).entries()) {
      for (const field of ["subPath", "subPathExpr"]) {
        if (text(mount[field]) !== "") errors.push(forbiddenField(`${here}.volumeMounts[${j}].${field}`, detail));
      }
    }
  }
}

/** Whether the client wrote a field at all; empty resources are what defaults leave. */
const isGiven = (container: Fields, field: string): boolean =>
  isSet(container[field]) && (field !== "resources" || Object.keys(container.resources as object).length > 0);

/** The image of a pod's container is no place for spaces; templates may have them. */
export function checkImageSpaces(container: Fields, path: string, errors: Errors): void {
  const image = text(container.image);
  if (image !== image.trim()) {
    errors.push(invalidValue(`${path}.image`, image, "must not have leading or trailing whitespace"));
  }
}

function checkCommon(container: Fields, around: Surroundings, path: string, errors: Errors): void {
  const name = text(container.name);
  if (name === "") errors.push(required(`${path}.name`));
  else checkLabel(name, `${path}.name`, errors);
  if (text(container.image) === "") errors.push(required(`${path}.image`));
  checkChoice(container.terminationMessagePolicy, MESSAGE_POLICIES, `${path}.terminationMessagePolicy`, errors);
  checkPorts(structs(container.ports), `${path}.ports`, errors);
  checkEnv(structs(container.env), `${path}.env`, errors);
  checkEnvFrom(structs(container.envFrom), `${path}.envFrom`, errors);
  checkMounts(container, around.volumes, `${path}.volumeMounts`, errors);
  checkDevices(container, around.volumes, `${path}.volumeDevices`, errors);
  checkChoice(container.imagePullPolicy, PULL_POLICIES, `${path}.imagePullPolicy`, errors);
  checkContainerResources(struct(container.resources), around.claims, `${path}.resources`, errors);
  checkResizePolicy(structs(container.resizePolicy), around.restartPolicy, `${path}.resizePolicy`, errors);
  checkSecurityContext(struct(container.securityContext), around.hostUsers, `${path}.securityContext`, errors);
}

function checkPorts(ports: readonly Fields[], path: string, errors: Errors): void {
  const names = new Set<string>();
  for (const [i, port] of ports.entries()) {
    const here = `${path}[${i}]`;
    const name = text(port.name);
    const messages = name === "" ? [] : portNameMessages(name);
    for (const message of messages) errors.push(invalidValue(`${here}.name`, name, message));
    if (name !== "" && messages.length === 0) {
      if (names.has(name)) errors.push(duplicateValue(`${here}.name`, name));
      names.add(name);
    }
    if (number(port.containerPort) === 0) errors.push(required(`${here}.containerPort`));
    else checkPort(number(port.containerPort), `${here}.containerPort`, errors);
    if (number(port.hostPort) !== 0) checkPort(number(port.hostPort), `${here}.hostPort`, errors);
    checkChoice(port.protocol, PROTOCOLS, `${here}.protocol`, errors);
  }
}

/** Ports of the node that two containers want. */
function checkHostPorts(containers: readonly Fields[], path: string, errors: Errors): void {
  const taken = new Set<string>();
  for (const [i, container] of containers.entries()) {
    for (const [j, port] of structs(container.ports).entries()) {
      if (number(port.hostPort) === 0) continue;
      const key = `${text(port.protocol)}/${text(port.hostIP)}/${number(port.hostPort)}`;
      if (taken.has(key)) errors.push(duplicateValue(`${path}[${i}].ports[${j}].hostPort`, key));
      taken.add(key);
    }
  }
}

const RESIZABLE = ["cpu", "memory"];
const RESIZE_POLICIES = ["NotRequired", "RestartContainer"];

function checkResizePolicy(list: readonly Fields[], restartPolicy: string, path: string, errors: Errors): void {
  const seen = new Set<string>();
  for (const [i, policy] of list.entries()) {
    const name = text(policy.resourceName);
    if (seen.has(name)) errors.push(duplicateValue(`${path}[${i}]`, name));
    seen.add(name);
    checkChoice(name, RESIZABLE, path, errors);
    checkChoice(policy.restartPolicy, RESIZE_POLICIES, path, errors);
    if (restartPolicy === "Never" && policy.restartPolicy !== "NotRequired") {
      const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      errors.push(invalidValue(path, text(policy.restartPolicy), detail));
    }
  }
}

const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const RESTART_ACTIONS = ["Restart", "RestartAllContainers"];
const NO_POLICY = "must specify restartPolicy when restart rules are used";
const MOST_RULES = 20;
const MOST_EXIT_CODES = 255;

/** When a single container is started again, whatever the pod says. */
function checkRestartPolicy(container: Fields, path: string, errors: Errors): void {
  const rules = structs(container.restartPolicyRules);
  const policy = container.restartPolicy;
  if (!isSet(policy)) {
    if (rules.length === 0) return;
    errors.push(required(`${path}.restartPolicy`, NO_POLICY));
  } else checkOneOf(policy, RESTART_POLICIES, `${path}.restartPolicy`, errors);
  if (rules.length > MOST_RULES) errors.push(tooManyValues(`${path}.restartPolicyRules`, rules.length, MOST_RULES));
  for (const [i, rule] of rules.entries()) {
    const here = `${path}.restartPolicyRules[${i}]`;
    checkOneOf(rule.action, RESTART_ACTIONS, `${here}.action`, errors);
    const codes = struct(rule.exitCodes);
    if (codes === undefined) {
      errors.push(required(`${here}.exitCodes`, "must be specified"));
      continue;
    }
    checkOneOf(codes.operator, ["In", "NotIn"], `${here}.exitCodes.operator`, errors);
    const count = Array.isArray(codes.values) ? codes.values.length : 0;
    if (count > MOST_EXIT_CODES) errors.push(tooManyValues(`${here}.exitCodes.values`, count, MOST_EXIT_CODES));
  }
}

/** All containers of a pod with their paths, in the order in which the server visits them. */
export function* everyContainer(spec: Fields, path: string): Generator<[container: Fields, path: string]> {
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const [i, container] of structs(spec[list]).entries()) yield [container, `${path}.${list}[${i}]`];
  }
}
