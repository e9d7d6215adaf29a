import { type ApiObject, listAt, objectAt } from "../../registry/index.ts";

/** One TCP port of a Service. */
export interface ServicePort {
  readonly namespace: string;
  readonly service: string;
  /** Empty when the port has none. */
  readonly name: string;
  readonly port: number;
  /** Whether programs are told of it by variables. */
  readonly linked: boolean;
}

/** The TCP ports of a Service, in its order. */
export function portsOf(service: ApiObject): ServicePort[] {
  const { name: title, namespace = "" } = service.metadata;
  const { clusterIP } = objectAt(service, "spec");
  const addressed = typeof clusterIP === "string" && clusterIP !== "" && clusterIP !== "None";
  // A program that finds KUBERNETES_SERVICE_HOST looks for its account in places that a process does not have. Where the
  // API server is, KUBECONFIG tells.
  const linked = addressed && !(namespace === "default" && title === "kubernetes");
  return listAt(service, "spec", "ports")
    .filter(({ protocol = "TCP" }) => protocol === "TCP")
    .map(({ name = "", port }) => ({
      namespace,
      service: title,
      name: String(name),
      port: Number(port),
      linked,
    }));
}

/** What tells a port of a Service from all others. */
export const keyOf = ({ namespace, service, port }: ServicePort): string => `${namespace}/${service}:${port}`;

/** The names under which programs of a namespace know a Service: those that a cluster's DNS has for it. */
export function namesOf({ namespace, service }: ServicePort, from: string): string[] {
  const inFull = ["", ".svc", ".svc.cluster.local"].map((rest) => `${service}.${namespace}${rest}`);
  return namespace === from ? [service, ...inFull] : inFull;
}

/** Where a port of a Service is found on this machine; undefined while it is not. */
export type LocalPort = (port: ServicePort) => number | undefined;

/** From `host:port`, as programs of a namespace write it, to ports of this machine. */
export function hostTable(ports: readonly ServicePort[], from: string, local: LocalPort): Record<string, number> {
  const table: Record<string, number> = {};
  for (const port of ports) {
    const at = local(port);
    if (at === undefined) continue;
    for (const host of namesOf(port, from)) table[`${host}:${port.port}`] = at;
  }
  return table;
}
