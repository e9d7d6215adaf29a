/** What a kubelet may say about a pod. */
import { forbiddenField, IMMUTABLE, internalTrouble, invalidValue, Verbatim } from "../../fields.ts";
import { isIpv4, isIpv6 } from "../common.ts";
import { checkAddress } from "./addresses.ts";
import { checkAnnotationUpdates, checkPodAnnotations } from "./annotations.ts";
import {
  checkQualifiedName,
  checkSubdomain,
  type Errors,
  type Fields,
  number,
  struct,
  structs,
  text,
} from "./check.ts";
import { checkClaimStatuses } from "./status-claims.ts";
import { checkContainerFacts } from "./status-containers.ts";

const OWN_CONDITIONS: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized"]);

/** A change of the status. */
export function checkPodStatus(pod: Fields, old: Fields, errors: Errors): void {
  const annotations = struct(struct(pod.metadata)?.annotations) ?? {};
  const before = struct(struct(old.metadata)?.annotations) ?? {};
  const spec = struct(old.spec) ?? {};
  const now = struct(pod.status) ?? {};
  const then = struct(old.status) ?? {};
  checkAnnotationUpdates(annotations, before, "metadata.annotations", errors);
  checkPodAnnotations(annotations, spec, "metadata.annotations", errors);
  for (const [i, condition] of structs(now.conditions).entries()) {
    const here = `status.conditions[${i}]`;
    checkGeneration(condition.observedGeneration, `${here}.observedGeneration`, errors);
    if (!OWN_CONDITIONS.has(text(condition.type))) checkQualifiedName(text(condition.type), `${here}.Type`, errors);
  }
  checkNomination(now, then, spec, errors);
  checkGeneration(now.observedGeneration, "status.observedGeneration", errors);
  if (text(now.qosClass) !== text(then.qosClass)) {
    errors.push(invalidValue("status.qosClass", text(now.qosClass), IMMUTABLE));
  }
  for (const [list, containers] of [
    ["containerStatuses", "containers"],
    ["initContainerStatuses", "initContainers"],
    ["ephemeralContainerStatuses", ""],
  ] as const) {
    checkRestarts(now[list], then[list], spec, containers, `status.${list}`, errors);
  }
  checkClaimStatuses(now, spec, errors);
  checkAddresses(now, then, errors);
  checkContainerFacts(now, spec, errors);
}

function checkGeneration(value: unknown, path: string, errors: Errors): void {
  if (number(value) < 0) errors.push(invalidValue(path, value, "must be a non-negative integer"));
}

function checkNomination(now: Fields, then: Fields, spec: Fields, errors: Errors): void {
  const name = text(now.nominatedNodeName);
  if (name === "" || name === text(then.nominatedNodeName)) return;
  checkSubdomain(name, "status.nominatedNodeName", errors);
  if (text(spec.nodeName) === "") return;
  errors.push(forbiddenField("status.nominatedNodeName", "may not be set on pods that are already bound to a node"));
}

/** A container that has ended for good does not come back. */
function checkRestarts(
  now: unknown,
  then: unknown,
  spec: Fields,
  list: "containers" | "initContainers" | "",
  path: string,
  errors: Errors,
): void {
  const containers = [...structs(spec.containers), ...structs(spec.initContainers)];
  const all = containers.some((container) =>
    structs(container.restartPolicyRules).some((rule) => rule.action === "RestartAllContainers"),
  );
  if (all && list !== "") return;
  for (const [i, before] of structs(then).entries()) {
    const ended = struct(struct(before.state)?.terminated);
    if (ended === undefined) continue;
    const after = structs(now).find((status) => status.name === before.name);
    if (after === undefined || struct(struct(after.state)?.terminated) !== undefined) continue;
    const container = structs(spec[list]).find(({ name }) => name === before.name);
    if (container !== undefined && restarts(container, spec, number(ended.exitCode))) continue;
    errors.push(forbiddenField(`${path}[${i}].state`, "may not be transitioned to non-terminated state"));
  }
}

function restarts(container: Fields, spec: Fields, exitCode: number): boolean {
  for (const rule of structs(container.restartPolicyRules)) {
    const codes = struct(rule.exitCodes) ?? {};
    const listed = Array.isArray(codes.values) && codes.values.includes(exitCode);
    if ((codes.operator === "In" && listed) || (codes.operator === "NotIn" && !listed)) {
      return rule.action === "Restart";
    }
  }
  const policy = text(container.restartPolicy) || text(spec.restartPolicy);
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function checkAddresses(now: Fields, then: Fields, errors: Errors): void {
  checkPair(now.podIPs, then.podIPs, "status.podIPs", errors);
  const hosts = structs(now.hostIPs);
  if (hosts.length === 0) return;
  const first = text(hosts[0]?.ip);
  if (text(now.hostIP) !== first) {
    errors.push(invalidValue("status.hostIPs[0].ip", first, "must be equal to `hostIP`"));
  }
  checkPair(now.hostIPs, then.hostIPs, "status.hostIPs", errors);
}

/** Zeros in front of numbers do no harm here. */
const withoutZeros = (ip: string): string => ip.replace(/(^|\.)0+(?=\d)/g, "$1");

/** One address of each family at most. */
function checkPair(now: unknown, then: unknown, path: string, errors: Errors): void {
  const known = new Set(structs(then).map(({ ip }) => text(ip)));
  const list = structs(now).map(({ ip }) => text(ip));
  for (const [i, ip] of list.entries()) if (!known.has(ip)) checkAddress(ip, `${path}[${i}]`, errors);
  if (list.length < 2) return;
  const none = list.findIndex((ip) => !isIpv4(withoutZeros(ip)) && !isIpv6(ip));
  if (none >= 0) {
    const why = `failed to check for dual stack with error:invalid IP[${none}]: ${list[none]}`;
    errors.push(internalTrouble(path, why));
  }
  const families = new Set(list.map((ip) => ip.includes(":")));
  if (none < 0 && families.size === 2 && list.length === 2) return;
  const shown = new Verbatim(JSON.stringify(list.map((ip) => ({ IP: ip }))));
  errors.push(invalidValue(path, shown, "may specify no more than one IP for each IP family"));
}
