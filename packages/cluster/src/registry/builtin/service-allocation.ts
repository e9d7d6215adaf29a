import { bareInternal, invalid } from "../errors.ts";
import { type FieldError, invalidValue } from "../fields.ts";
import { type ApiObject, isRecord, listAt, objectAt } from "../object.ts";
import {
  clusterAddressErrors,
  containsAddress,
  familyOf,
  isExternal,
  needsHealthCheck,
  parseRange,
  textOf,
  textsOf,
} from "../rules/index.ts";
import type { StrategyContext } from "../strategy.ts";

type Fields = Record<string, unknown>;

const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;
/** The lower ports of the range are for those who ask for one: a server chooses among the others as long as it can. */
const FIRST_CHOSEN_PORT = 30_086;
/** The only family that services get addresses of. */
const FAMILY = "IPv4";

/**
 * Gives a Service its addresses and ports; an update keeps those that the object already had, and drops what its new
 * type has no use for. What cannot be given is refused before anything else is looked at.
 */
export function prepareService(object: ApiObject, context: StrategyContext, old?: ApiObject): void {
  const spec = object.spec as Fields;
  const before = old && objectAt(old, "spec");
  if (before) keepAllocated(spec, before);
  matchAddresses(spec, before);
  const name = object.metadata.name ?? "";
  const refuse = (errors: readonly FieldError[]) => {
    if (errors.length > 0) throw invalid({ group: "", kind: "Service" }, name, errors);
  };
  setFamilies(spec, before, refuse);
  setAddresses(spec, before, context, refuse);
  if (hasNodePorts(spec)) setNodePorts(spec, before, context, refuse);
  if (needsHealthCheck(spec) && !(before && needsHealthCheck(before))) setHealthCheck(spec, context);
  if (old && before) dropUnused(object, spec, before);
  if (spec.type === "ExternalName") delete spec.internalTrafficPolicy;
}

type Refuse = (errors: readonly FieldError[]) => void;

const hasNodePorts = (spec: Fields): boolean => spec.type === "NodePort" || spec.type === "LoadBalancer";
const wantsNodePorts = (spec: Fields): boolean =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
const hasAddress = (spec: Fields): boolean => spec.type !== "ExternalName";
const same = (a: unknown, b: unknown): boolean => JSON.stringify(textsOf(a)) === JSON.stringify(textsOf(b));

/** A client that sends the manifest again does not mean to give up what the server put in. */
function keepAllocated(spec: Fields, before: Fields): void {
  if (hasAddress(before) && hasAddress(spec)) {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
    if (textsOf(spec.clusterIPs).length === 0 && before.clusterIPs) spec.clusterIPs = [...textsOf(before.clusterIPs)];
  }
  if (wantsNodePorts(before) && wantsNodePorts(spec)) {
    const old = listAt(before, "ports");
    const now = new Set(listAt(spec, "ports").map((port) => port.nodePort));
    const byName = new Map(old.map((port) => [textOf(port.name), port.nodePort]));
    for (const port of listAt(spec, "ports")) {
      if (port.nodePort) continue;
      const known = byName.get(textOf(port.name));
      if (known && !now.has(known)) port.nodePort = known;
    }
  }
  if (needsHealthCheck(before) && needsHealthCheck(spec) && !spec.healthCheckNodePort) {
    spec.healthCheckNodePort = before.healthCheckNodePort;
  }
}

/** The one address and the list of them say the same; who writes only one of them means both. */
function matchAddresses(spec: Fields, before: Fields | undefined): void {
  const ip = textOf(spec.clusterIP);
  const ips = textsOf(spec.clusterIPs);
  if (!before) {
    if (ip !== "" && ips.length === 0) spec.clusterIPs = [ip];
    return;
  }
  const was = textOf(before.clusterIP);
  if (textsOf(before.clusterIPs).length > 0 && ips.length === 0 && was === ip) {
    spec.clusterIPs = [...textsOf(before.clusterIPs)];
  }
  if (was === ip || !same(before.clusterIPs, spec.clusterIPs)) return;
  if (was !== "" && ip === "") delete spec.clusterIPs;
  else spec.clusterIPs = [ip];
}

function setFamilies(spec: Fields, before: Fields | undefined, refuse: Refuse): void {
  if (!hasAddress(spec) || (before && keepsPreferred(spec, before))) return;
  const open = spec.clusterIP === "None" && Object.keys(objectAt(spec, "selector")).length === 0;
  // Without a selector it is not known which families the endpoints will have, so both are promised.
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (open ? "RequireDualStack" : "SingleStack");
  refuse(clusterAddressErrors(spec, before));
  refuse(familyErrors(spec, before));
  const families = textsOf(spec.ipFamilies);
  for (const ip of textsOf(spec.clusterIPs).slice(families.length)) if (ip !== "None") families.push(familyOf(ip));
  if (families.length === 0) families.push(FAMILY);
  if (open && families.length < 2 && spec.ipFamilyPolicy !== "SingleStack") {
    families.push(families[0] === "IPv4" ? "IPv6" : "IPv4");
  }
  if (!open) refuse(unavailableErrors(spec, families));
  spec.ipFamilies = families;
}

/** Nothing changes for a service that takes what it can get and has it. */
function keepsPreferred(spec: Fields, before: Fields): boolean {
  const prefer = "PreferDualStack";
  return (
    spec.type === before.type &&
    spec.ipFamilyPolicy === prefer &&
    (before.ipFamilyPolicy ?? prefer) === prefer &&
    same(spec.clusterIPs, before.clusterIPs) &&
    same(spec.ipFamilies, before.ipFamilies)
  );
}

function familyErrors(spec: Fields, before: Fields | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const field = "spec.ipFamilyPolicy";
  const policy = spec.ipFamilyPolicy;
  const single = policy === "SingleStack";
  const shrunk = (key: string) => {
    const now = textsOf(spec[key]).length;
    return now > 0 && now < textsOf(before?.[key]).length;
  };
  if (before && single) {
    for (const key of ["clusterIPs", "ipFamilies"]) {
      if (same(spec[key], before[key]) && textsOf(spec[key]).length > 1) spec[key] = textsOf(spec[key]).slice(0, 1);
    }
  } else if (before) {
    if (shrunk("clusterIPs")) {
      errors.push(invalidValue(field, policy, "must be 'SingleStack' to release the secondary cluster IP"));
    }
    if (shrunk("ipFamilies")) {
      errors.push(invalidValue(field, policy, "must be 'SingleStack' to release the secondary IP family"));
    }
  }
  const ips = textsOf(spec.clusterIPs);
  const families = textsOf(spec.ipFamilies);
  const both = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (single && ips.length === 2) errors.push(invalidValue(field, policy, `${both} cluster IPs are specified`));
  if (single && families.length === 2) errors.push(invalidValue(field, policy, `${both} IP families are specified`));
  for (const [i, ip] of ips.entries()) {
    if (ip === "None") break;
    if (i < families.length || familyOf(ip) === FAMILY) continue;
    const text = `${familyOf(ip)} is not configured on this cluster`;
    errors.push(invalidValue(`spec.clusterIPs[${i}]`, ips, text));
  }
  return errors;
}

function unavailableErrors(spec: Fields, families: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === "RequireDualStack") {
    const text = "this cluster is not configured for dual-stack services";
    errors.push(invalidValue("spec.ipFamilyPolicy", spec.ipFamilyPolicy, text));
  }
  for (const [i, family] of families.entries()) {
    if (family !== FAMILY) errors.push(invalidValue(`spec.ipFamilies[${i}]`, family, "not configured on this cluster"));
  }
  return errors;
}

function setAddresses(spec: Fields, before: Fields | undefined, context: StrategyContext, refuse: Refuse): void {
  // A service that has an address keeps it for good, and whether it may change is checked later.
  if (!hasAddress(spec) || (before && hasAddress(before))) return;
  const ips = textsOf(spec.clusterIPs);
  if (ips[0] === "None") return;
  const wanted = ips[0] || undefined;
  const ranges = wanted === undefined ? [] : context.serviceRanges();
  const inRange = (range: string) => {
    const [outer, inner] = [parseRange(range), parseRange(`${wanted}/32`)];
    return outer && inner && containsAddress(outer, inner);
  };
  const fails = (why: string) =>
    refuse([invalidValue("spec.clusterIPs", ips, `failed to allocate IP ${wanted}: ${why}`)]);
  if (ranges.length > 0 && !ranges.some(inRange)) fails("the provided network does not match the current range");
  const ip = context.allocateClusterIp(wanted);
  if (ip === undefined && wanted !== undefined) fails("provided IP is already allocated");
  if (ip === undefined) throw bareInternal("failed to allocate a serviceIP: range is full");
  spec.clusterIP = ip;
  spec.clusterIPs = [ip, ...ips.slice(1)];
}

function setNodePorts(spec: Fields, before: Fields | undefined, context: StrategyContext, refuse: Refuse): void {
  const own = new Set(listAt(before, "ports").map((port) => port.nodePort));
  const taken = new Set<number>();
  const ports = listAt(spec, "ports");
  const allocates = wantsNodePorts(spec);
  const byPort = new Map<unknown, number>();
  const take = (port: number, i: number) => {
    const free = !taken.has(port) && (own.has(port) || !context.usesNodePort(port));
    const out = port < FIRST_NODE_PORT || port > LAST_NODE_PORT;
    const range = `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
    const text = out ? range : "provided port is already allocated";
    // Who only tries is not told that a port is out of range: the server that would know is not asked.
    if ((out && !own.has(port) && !context.dryRun) || !free)
      refuse([invalidValue(`spec.ports[${i}].nodePort`, port, text)]);
    taken.add(port);
  };
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort && !allocates) continue;
    const shared = before ? undefined : byPort.get(port.port);
    if (shared !== undefined) {
      if (!port.nodePort) port.nodePort = shared;
      else if (port.nodePort !== shared) take(Number(port.nodePort), i);
      continue;
    }
    const asked = before ? undefined : ports.find((other) => other.port === port.port && other.nodePort)?.nodePort;
    const wanted = Number(port.nodePort ?? asked ?? 0);
    // An update may give one port to two protocols; two of one protocol are found by validation.
    if (before && wanted !== 0 && taken.has(wanted)) continue;
    port.nodePort = wanted === 0 ? freePort(taken, context) : wanted;
    take(port.nodePort as number, i);
    byPort.set(port.port, port.nodePort as number);
  }
}

function freePort(taken: ReadonlySet<number>, context: StrategyContext): number {
  const isFree = (port: number) => !taken.has(port) && !context.usesNodePort(port);
  const port =
    freeBetween(FIRST_CHOSEN_PORT, LAST_NODE_PORT, isFree, context) ??
    freeBetween(FIRST_NODE_PORT, FIRST_CHOSEN_PORT - 1, isFree, context);
  if (port === undefined) throw bareInternal("failed to allocate a nodePort: range is full");
  return port;
}

/** A free port of these, by chance. */
function freeBetween(
  first: number,
  last: number,
  isFree: (port: number) => boolean,
  { random }: Pick<StrategyContext, "random">,
): number | undefined {
  const count = last - first + 1;
  const start = Math.floor(random() * count);
  for (let i = 0; i < count; i++) {
    const port = first + ((start + i) % count);
    if (isFree(port)) return port;
  }
  return undefined;
}

function setHealthCheck(spec: Fields, context: StrategyContext): void {
  const wanted = Number(spec.healthCheckNodePort ?? 0);
  const own = new Set(listAt(spec, "ports").map((port) => Number(port.nodePort)));
  if (wanted === 0) {
    spec.healthCheckNodePort = freePort(own, context);
    return;
  }
  const out = wanted < FIRST_NODE_PORT || wanted > LAST_NODE_PORT;
  if (!out && !own.has(wanted) && !context.usesNodePort(wanted)) return;
  const range = `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
  const why = out ? range : "provided port is already allocated";
  throw bareInternal(`Internal error occurred: failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`);
}

/** Fields that belong to the old type go, unless the update changed them: then they are refused. */
function dropUnused(object: ApiObject, spec: Fields, before: Fields): void {
  if (hasAddress(before) && !hasAddress(spec)) {
    if (spec.clusterIP === before.clusterIP && same(spec.clusterIPs, before.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (same(spec.ipFamilies, before.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === before.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  if (hasNodePorts(before) && !hasNodePorts(spec)) {
    const known = new Set(listAt(before, "ports").map((port) => port.nodePort));
    const ports = listAt(spec, "ports");
    if (ports.every(({ nodePort }) => !nodePort || known.has(nodePort))) for (const port of ports) delete port.nodePort;
  }
  const unchanged = (key: string) => spec[key] === before[key];
  if (needsHealthCheck(before) && !needsHealthCheck(spec) && unchanged("healthCheckNodePort")) {
    delete spec.healthCheckNodePort;
  }
  if (before.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    for (const key of ["allocateLoadBalancerNodePorts", "loadBalancerClass"]) if (unchanged(key)) delete spec[key];
  }
  if (isExternal(before) && !isExternal(spec) && unchanged("externalTrafficPolicy")) delete spec.externalTrafficPolicy;
  // Only with the type: who writes the status of another one is refused, and should know why.
  const isOver = before.type === "LoadBalancer" && spec.type !== "LoadBalancer";
  if (isOver && isRecord(object.status)) object.status = { ...object.status, loadBalancer: {} };
}
