import type { ApiObject } from "../../object.ts";
import { struct, structs, text, texts } from "../pod/index.ts";
import { addressWarnings, rangeWarnings } from "./addresses.ts";

const OLD_HINTS = "service.kubernetes.io/topology-aware-hints";

/** Fields of a Service that do nothing, will do nothing, or are spelt oddly. */
export function serviceWarnings({ metadata, spec: fields }: ApiObject): string[] {
  const spec = struct(fields) ?? {};
  const warnings: string[] = [];
  const type = text(spec.type);
  const outside = texts(spec.externalIPs);
  const headless = type === "ClusterIP" && spec.clusterIP === "None";
  const named = type === "ExternalName";
  if (Object.hasOwn(metadata.annotations ?? {}, OLD_HINTS)) {
    warnings.push(`annotation ${OLD_HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead`);
  }
  if (text(spec.clusterIP) !== "" && spec.clusterIP !== "None") {
    for (const [i, ip] of texts(spec.clusterIPs).entries()) {
      warnings.push(...addressWarnings(ip, `spec.clusterIPs[${i}]`));
    }
  }
  if (headless) {
    if (text(spec.loadBalancerIP) !== "") warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (outside.length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  for (const [i, ip] of outside.entries()) warnings.push(...addressWarnings(ip, `spec.externalIPs[${i}]`));
  if (outside.length > 0 && !headless && !named) {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  warnings.push(...addressWarnings(text(spec.loadBalancerIP), "spec.loadBalancerIP"));
  for (const [i, range] of texts(spec.loadBalancerSourceRanges).entries()) {
    warnings.push(...rangeWarnings(range, `spec.loadBalancerSourceRanges[${i}]`));
  }
  if (named && outside.length > 0) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!named && text(spec.externalName) !== "") {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === "PreferClose") {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
}

/** Addresses of a load balancer in the status of a Service or an Ingress. */
export function balancerWarnings(object: ApiObject): string[] {
  const ingress = structs(struct(struct(object.status)?.loadBalancer)?.ingress);
  return ingress.flatMap(({ ip }, i) => addressWarnings(text(ip), `status.loadBalancer.ingress[${i}]`));
}
