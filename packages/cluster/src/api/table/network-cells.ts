import { type ApiObject, listAt, objectAt } from "../../registry/index.ts";
import { NONE, UNSET } from "./columns.ts";

type Fields = Record<string, unknown>;

/** `80:30080/TCP,443/TCP` */
export function servicePorts(service: ApiObject): string {
  const ports = listAt(service, "spec", "ports").map((port) => {
    const node = port.nodePort ? `:${port.nodePort}` : "";
    return `${port.port}${node}/${port.protocol}`;
  });
  return ports.join(",") || NONE;
}

/** The addresses by which a Service is reached from outside, by its type. */
export function externalIps(service: ApiObject): string {
  const spec = objectAt(service, "spec");
  const own = Array.isArray(spec.externalIPs) ? (spec.externalIPs as string[]) : [];
  switch (spec.type) {
    case "LoadBalancer": {
      const balanced = listAt(service, "status", "loadBalancer", "ingress").map((i) => String(i.ip ?? i.hostname));
      return [...balanced, ...own].join(",") || "<pending>";
    }
    case "ExternalName":
      return String(spec.externalName ?? "");
    default:
      return own.join(",") || NONE;
  }
}

const SHOWN_ENDPOINTS = 3;

/** The first few addresses with ports, and how many more there are. */
export function endpointsCell(endpoints: ApiObject): string {
  const all = listAt(endpoints, "subsets").flatMap((subset) => {
    const ports = listAt(subset, "ports");
    return listAt(subset, "addresses").flatMap((address) =>
      ports.length === 0 ? [String(address.ip)] : ports.map((port) => `${address.ip}:${port.port}`),
    );
  });
  if (all.length === 0) return NONE;
  const more = all.length - SHOWN_ENDPOINTS;
  return all.slice(0, SHOWN_ENDPOINTS).join(",") + (more > 0 ? ` + ${more} more...` : "");
}

/** The ports of an EndpointSlice in one cell. */
export function slicePorts(slice: ApiObject): string {
  const ports = listAt(slice, "ports").map((port) => String(port.port ?? "*"));
  if (ports.length === 0) return UNSET;
  const more = ports.length - SHOWN_ENDPOINTS;
  return ports.slice(0, SHOWN_ENDPOINTS).join(",") + (more > 0 ? ` + ${more} more...` : "");
}

/** The hosts of an Ingress, `*` where it has rules for all. */
export function ingressHosts(ingress: ApiObject): string {
  const hosts = listAt(ingress, "spec", "rules")
    .map((rule) => rule.host)
    .filter(Boolean) as string[];
  const more = hosts.length - SHOWN_ENDPOINTS;
  if (hosts.length === 0) return "*";
  return hosts.slice(0, SHOWN_ENDPOINTS).join(",") + (more > 0 ? ` + ${more} more...` : "");
}

/** Where the load balancer of an Ingress is reached. */
export function ingressAddress(ingress: ApiObject): string {
  return listAt(ingress, "status", "loadBalancer", "ingress")
    .map((entry: Fields) => entry.ip ?? entry.hostname)
    .join(",");
}

/** The ports that an Ingress opens: the second one only with TLS. */
export function ingressPorts(ingress: ApiObject): string {
  return listAt(ingress, "spec", "tls").length > 0 ? "80, 443" : "80";
}
