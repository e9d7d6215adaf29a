import { duplicateValue, type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { addressErrors, endpointAddressErrors, parseAddress, rangeErrors } from "./addresses.ts";
import { recordOf, textOf, textsOf } from "./common.ts";
import { clusterAddressErrors, isHeadless } from "./service-addresses.ts";
import {
  given,
  labelErrors,
  labelsErrors,
  portErrors,
  portNumberErrors,
  protocolErrors,
  qualifiedErrors,
  subdomainErrors,
} from "./values.ts";

type Fields = Record<string, unknown>;

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const AFFINITIES = ["ClientIP", "None"];
const POLICIES = ["Cluster", "Local"];
const DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const HINTS = "service.kubernetes.io/topology-aware-hints";
const MODE = "service.kubernetes.io/topology-mode";
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const LONGEST_AFFINITY = 86_400;

const isBalancer = (spec: Fields): boolean => spec.type === "LoadBalancer";

/** Whether clients outside of the cluster can reach it. */
export function isExternal(spec: Fields): boolean {
  return (
    isBalancer(spec) || spec.type === "NodePort" || (spec.type === "ClusterIP" && textsOf(spec.externalIPs).length > 0)
  );
}

/** Whether a balancer must find out which nodes have endpoints. */
export const needsHealthCheck = (spec: Fields): boolean => isBalancer(spec) && spec.externalTrafficPolicy === "Local";

/** What is wrong with a new Service. */
export const serviceCreate = (object: ApiObject): FieldError[] => serviceErrors(object, undefined);

/** What is wrong with a changed one, or with its status. */
export function serviceUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") return statusErrors(object, old);
  const [now, before] = [objectAt(object, "spec"), objectAt(old, "spec")];
  return [
    ...changedAddresses(now, before),
    ...changedFamilies(now, before),
    ...balancerClassErrors(now, before),
    ...changedHealthCheck(now, before),
    ...serviceErrors(object, old),
  ];
}

function serviceErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = objectAt(object, "spec");
  const ports = listAt(spec, "ports");
  const errors = topologyErrors(object);
  if (ports.length === 0 && !isHeadless(spec) && spec.type !== "ExternalName") errors.push(required("spec.ports"));
  errors.push(...typeErrors(spec));
  const names = new Set<string>();
  for (const [i, port] of ports.entries()) {
    errors.push(...servicePortErrors(port, ports.length > 1, names, `spec.ports[${i}]`));
  }
  if (given(spec.selector)) errors.push(...labelsErrors(spec.selector, "spec.selector"));
  errors.push(...affinityErrors(spec));
  errors.push(...clusterAddressErrors(spec, old && objectAt(old, "spec")));
  const known = textsOf(old && objectAt(old, "spec").externalIPs);
  for (const [i, ip] of textsOf(spec.externalIPs).entries()) {
    const field = `spec.externalIPs[${i}]`;
    const wrong = addressErrors(ip, field, known);
    errors.push(...(wrong.length > 0 ? wrong : endpointAddressErrors(ip, field)));
  }
  const type = textOf(spec.type);
  if (type === "") errors.push(required("spec.type"));
  else if (!TYPES.includes(type)) errors.push(notSupported("spec.type", type, TYPES));
  errors.push(...nodePortErrors(spec, ports), ...samePortErrors(ports));
  errors.push(...sourceRangeErrors(object, old));
  const allocates = given(spec.allocateLoadBalancerNodePorts);
  if (allocates && !isBalancer(spec)) {
    errors.push(forbiddenField("spec.allocateLoadBalancerNodePorts", ONLY_BALANCER));
  }
  if (!allocates && isBalancer(spec)) errors.push(required("allocateLoadBalancerNodePorts"));
  errors.push(...balancerClassErrors(spec, undefined), ...trafficErrors(spec));
  return errors;
}

const ONLY_BALANCER = "may only be used when `type` is 'LoadBalancer'";

function topologyErrors({ metadata }: ApiObject): FieldError[] {
  const annotations = metadata.annotations ?? {};
  const [hints, mode] = [annotations[HINTS], annotations[MODE]];
  if (hints === undefined || mode === undefined || hints === mode) return [];
  const text = `must match annotations[${HINTS}] when both are specified`;
  return [invalidValue(`metadata.annotations[${MODE}]`, mode, text)];
}

function typeErrors(spec: Fields): FieldError[] {
  switch (spec.type) {
    case "LoadBalancer":
    case "NodePort":
      if (!isHeadless(spec)) return [];
      return [invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${spec.type} services`)];
    case "ExternalName": {
      const errors: FieldError[] = [];
      const unused = "may not be set for ExternalName services";
      if (textsOf(spec.clusterIPs).length > 0) errors.push(forbiddenField("spec.clusterIPs", unused));
      if (textsOf(spec.ipFamilies).length > 0) errors.push(forbiddenField("spec.ipFamilies", unused));
      if (given(spec.ipFamilyPolicy)) errors.push(forbiddenField("spec.ipFamilyPolicy", unused));
      const name = textOf(spec.externalName).replace(/\.$/, "");
      if (name === "") return [...errors, required("spec.externalName")];
      return [...errors, ...subdomainErrors(name, "spec.externalName")];
    }
    default:
      return [];
  }
}

function servicePortErrors(port: Fields, named: boolean, names: Set<string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = textOf(port.name);
  if (named && name === "") errors.push(required(`${path}.name`));
  else if (name !== "") {
    errors.push(...labelErrors(name, `${path}.name`));
    if (names.has(name)) errors.push(duplicateValue(`${path}.name`, name));
    names.add(name);
  }
  errors.push(...portNumberErrors(port.port, `${path}.port`));
  errors.push(...protocolErrors(port.protocol, `${path}.protocol`));
  errors.push(...portErrors(port.targetPort, `${path}.targetPort`));
  if (given(port.appProtocol)) errors.push(...qualifiedErrors(textOf(port.appProtocol), `${path}.appProtocol`));
  return errors;
}

function affinityErrors(spec: Fields): FieldError[] {
  const affinity = textOf(spec.sessionAffinity);
  const errors: FieldError[] = [];
  if (affinity === "") errors.push(required("spec.sessionAffinity"));
  else if (!AFFINITIES.includes(affinity)) errors.push(notSupported("spec.sessionAffinity", affinity, AFFINITIES));
  const config = "spec.sessionAffinityConfig";
  if (affinity === "ClientIP") {
    const timeout = objectAt(spec, "sessionAffinityConfig", "clientIP").timeoutSeconds;
    if (Number(timeout) <= 0 || Number(timeout) > LONGEST_AFFINITY) {
      const text = `must be greater than 0 and less than ${LONGEST_AFFINITY}`;
      errors.push(invalidValue(`${config}.clientIP.timeoutSeconds`, timeout, text));
    }
  } else if (affinity === "None" && given(spec.sessionAffinityConfig)) {
    errors.push(forbiddenField(config, "must not be set when session affinity is None"));
  }
  return errors;
}

function nodePortErrors(spec: Fields, ports: readonly Fields[]): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.type === "ClusterIP") {
    for (const [i, port] of ports.entries()) {
      if (!port.nodePort) continue;
      errors.push(forbiddenField(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
  }
  const seen = new Set<string>();
  for (const [i, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue;
    const key = `${protocol}/${nodePort}`;
    if (seen.has(key)) errors.push(duplicateValue(`spec.ports[${i}].nodePort`, nodePort));
    seen.add(key);
  }
  return errors;
}

function samePortErrors(ports: readonly Fields[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { port, protocol }] of ports.entries()) {
    const key = `${protocol}/${port}`;
    if (seen.has(key)) {
      const shown = `{"Name":"","Protocol":${JSON.stringify(protocol)},"AppProtocol":null,"Port":${port},"TargetPort":0,"NodePort":0}`;
      errors.push(duplicateValue(`spec.ports[${i}]`, new Verbatim(shown)));
    }
    seen.add(key);
  }
  return errors;
}

function sourceRangeErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = objectAt(object, "spec");
  const ranges = textsOf(spec.loadBalancerSourceRanges);
  const errors: FieldError[] = [];
  if (ranges.length > 0) {
    const field = "spec.LoadBalancerSourceRanges";
    if (!isBalancer(spec)) errors.push(forbiddenField(field, ONLY_BALANCER));
    const known = textsOf(old && objectAt(old, "spec").loadBalancerSourceRanges).map((text) => text.trim());
    for (const [i, range] of ranges.entries()) errors.push(...rangeErrors(range.trim(), `${field}[${i}]`, known));
    return errors;
  }
  const text = object.metadata.annotations?.[SOURCE_RANGES];
  if (text === undefined) return errors;
  const field = `metadata.annotations[${SOURCE_RANGES}]`;
  if (!isBalancer(spec)) errors.push(forbiddenField(field, ONLY_BALANCER));
  if (text.trim() === "" || old?.metadata.annotations?.[SOURCE_RANGES] === text) return errors;
  return [
    ...errors,
    ...text
      .trim()
      .split(",")
      .flatMap((range) => rangeErrors(range.trim(), field)),
  ];
}

function balancerClassErrors(spec: Fields, old: Fields | undefined): FieldError[] {
  const field = "spec.loadBalancerClass";
  const errors: FieldError[] = [];
  const name = spec.loadBalancerClass;
  if (old && isBalancer(old) && isBalancer(spec) && (old.loadBalancerClass ?? null) !== (name ?? null)) {
    errors.push(invalidValue(field, name ?? null, "may not change once set"));
  }
  if (!given(name)) return errors;
  if (isBalancer(spec)) return [...errors, ...qualifiedErrors(textOf(name), field)];
  return [...errors, forbiddenField(field, ONLY_BALANCER)];
}

function trafficErrors(spec: Fields): FieldError[] {
  const errors: FieldError[] = [];
  const outside = textOf(spec.externalTrafficPolicy);
  const field = "spec.externalTrafficPolicy";
  if (!isExternal(spec)) {
    if (outside !== "") errors.push(invalidValue(field, outside, "may only be set for externally-accessible services"));
  } else if (outside === "") errors.push(required(field));
  else if (!POLICIES.includes(outside)) errors.push(notSupported(field, outside, POLICIES));
  const port = spec.healthCheckNodePort;
  const health = "spec.healthCheckNodePort";
  if (!needsHealthCheck(spec)) {
    const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    if (port) errors.push(invalidValue(health, port, text));
  } else if (!port) errors.push(required(health));
  else errors.push(...portNumberErrors(port, health));
  const inside = spec.internalTrafficPolicy;
  if (!given(inside)) {
    if (spec.type !== "ExternalName" && TYPES.includes(textOf(spec.type))) {
      errors.push(required("spec.internalTrafficPolicy"));
    }
  } else if (!POLICIES.includes(textOf(inside))) {
    errors.push(notSupported("spec.internalTrafficPolicy", inside, POLICIES));
  }
  const spread = spec.trafficDistribution;
  if (given(spread) && !DISTRIBUTIONS.includes(textOf(spread))) {
    errors.push(notSupported("spec.trafficDistribution", spread, DISTRIBUTIONS));
  }
  return errors;
}

const FIXED = "may not change once set";
const isNamed = (spec: Fields): boolean => spec.type === "ExternalName";

function changedAddresses(now: Fields, before: Fields): FieldError[] {
  if (isNamed(now) || isNamed(before) || (isHeadless(now) && isHeadless(before))) return [];
  const [fresh, old] = [textsOf(now.clusterIPs), textsOf(before.clusterIPs)];
  const field = "spec.clusterIPs[0]";
  if (fresh.length === old.length) {
    return old.flatMap((ip, i) => (ip === fresh[i] ? [] : [invalidValue(`spec.clusterIPs[${i}]`, fresh, FIXED)]));
  }
  const errors: FieldError[] = [];
  const first = old.length > 0 && fresh.length > 0 && fresh[0] !== old[0];
  if (fresh.length === 0) errors.push(invalidValue(field, null, "primary clusterIP can not be unset"));
  if (first) errors.push(invalidValue(field, fresh, FIXED));
  if (fresh.length === 1 && old.length > 1 && now.ipFamilyPolicy !== "SingleStack") {
    const text = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    errors.push(invalidValue("spec.ipFamilyPolicy", now.ipFamilyPolicy ?? null, text));
  }
  return errors;
}

function changedFamilies(now: Fields, before: Fields): FieldError[] {
  if (isNamed(now) || isNamed(before) || isHeadless(now) || isHeadless(before)) return [];
  const [fresh, old] = [textsOf(now.ipFamilies), textsOf(before.ipFamilies)];
  const field = "spec.ipFamilies[0]";
  if (fresh.length === old.length) {
    return old.flatMap((family, i) => (family === fresh[i] ? [] : [invalidValue(field, fresh, FIXED)]));
  }
  const errors: FieldError[] = [];
  const ips = textsOf(now.clusterIPs);
  if (old.length > fresh.length && ips.length === 0) {
    errors.push(invalidValue(field, fresh, "primary ipFamily can not be unset"));
  }
  if (old.length > 0 && fresh.length > 0 && fresh[0] !== old[0]) errors.push(invalidValue(field, ips, FIXED));
  if (old.length > fresh.length && fresh.length === 1 && now.ipFamilyPolicy !== "SingleStack") {
    const text = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    errors.push(invalidValue("spec.ipFamilyPolicy", now.ipFamilyPolicy ?? null, text));
  }
  return errors;
}

function changedHealthCheck(now: Fields, before: Fields): FieldError[] {
  if (!needsHealthCheck(now) || !needsHealthCheck(before)) return [];
  if ((now.healthCheckNodePort ?? 0) === (before.healthCheckNodePort ?? 0)) return [];
  return [forbiddenField("spec.healthCheckNodePort", "field is immutable")];
}

const IP_MODES = ["Proxy", "VIP"];

function statusErrors(object: ApiObject, old: ApiObject): FieldError[] {
  const ingress = listAt(object, "status", "loadBalancer", "ingress");
  const path = "status.loadBalancer.ingress";
  if (!isBalancer(objectAt(object, "spec"))) {
    if (ingress.length === 0) return [];
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const known = listAt(old, "status", "loadBalancer", "ingress").map(({ ip }) => textOf(ip));
  return ingress.flatMap((item, i) => {
    const errors: FieldError[] = [];
    const { ipMode } = item;
    const ip = textOf(item.ip);
    const mode = `${path}[${i}].ipMode`;
    if (ip !== "") errors.push(...addressErrors(ip, `${path}[${i}].ip`, known));
    if (!given(ipMode)) {
      if (ip !== "") errors.push(required(mode, "must be specified when `ip` is set"));
    } else if (ip === "") errors.push(forbiddenField(mode, "may not be specified when `ip` is not set"));
    else if (!IP_MODES.includes(textOf(ipMode))) errors.push(notSupported(mode, ipMode, IP_MODES));
    return [...errors, ...hostnameErrors(recordOf(item), `${path}[${i}].hostname`)];
  });
}

/** The name that a balancer answers to. */
export function hostnameErrors(item: Fields, field: string): FieldError[] {
  const hostname = textOf(item.hostname);
  if (hostname === "") return [];
  const errors = subdomainErrors(hostname, field);
  if (parseAddress(hostname)) errors.push(invalidValue(field, hostname, "must be a DNS name, not an IP address"));
  return errors;
}
