/** What people write for the ports to forward, read once. */
import type { corev1 } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import { readPort } from "./port-number.ts";

/**
 * A port to forward: its number or name in the pod (of a service: in the service), kubectl's `"8080:80"` (`":80"` for any
 * local port), or both ends by name.
 */
export type PortSpec =
  | number
  | string
  | {
      readonly remote: number | string;
      /** `"same"`: the number of the remote port. Default: the option `localPort`, else any that is free. */
      readonly local?: number | "same" | undefined;
    };

/** A port to forward, as it was asked for. */
export interface WantedPort {
  readonly remote: number | string;
  /** 0: any that is free. */
  readonly local: number | "same";
}

/** Reads the ports of a call; `localPort` is for the single one of a call. */
export function readPorts(
  ports: PortSpec | readonly PortSpec[],
  localPort: number | "same" | undefined,
): readonly WantedPort[] {
  const list = Array.isArray(ports) ? (ports as readonly PortSpec[]) : [ports as PortSpec];
  if (list.length === 0) throw new ConfigError("there is no port to forward", { hint: "name at least one port" });
  if (list.length > 1 && typeof localPort === "number" && localPort !== 0) {
    throw new ConfigError(`${list.length} ports cannot all be forwarded from the local port ${localPort}`, {
      hint: 'write { remote, local } for each port, or localPort: "same"',
    });
  }
  return list.map((spec) => readOne(spec, localPort ?? 0));
}

function readOne(spec: PortSpec, localPort: number | "same"): WantedPort {
  if (typeof spec === "object") return { remote: readRemote(spec.remote), local: readLocal(spec.local ?? localPort) };
  if (typeof spec === "number") return { remote: readRemote(spec), local: readLocal(localPort) };
  const [first = "", second, ...more] = spec.split(":");
  if (more.length > 0) {
    throw new ConfigError(`${JSON.stringify(spec)} is not a port`, { hint: 'write 80, "http", "8080:80" or ":80"' });
  }
  if (second === undefined) return { remote: readRemote(first), local: readLocal(localPort) };
  return { remote: readRemote(second), local: readLocal(first === "" ? 0 : Number(first)) };
}

function readRemote(port: number | string): number | string {
  if (typeof port === "number") return readPort(port);
  if (/^\d+$/.test(port)) return readPort(Number(port));
  if (port !== "") return port;
  throw new ConfigError('"" is not a port', { hint: "write a number, or the name of a port" });
}

function readLocal(port: number | "same"): number | "same" {
  if (port === "same" || port === 0) return port;
  return readPort(port);
}

/** The number of a port that a container of the pod has given a name. */
export function numberOfPort(pod: corev1.Pod, port: number | string): number {
  if (typeof port === "number") return port;
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const ports = containers.flatMap((container) => container.ports ?? []);
  const found = ports.find(({ name }) => name === port);
  if (found) return found.containerPort;
  const named = ports.flatMap(({ name }) => (name === undefined ? [] : [name]));
  throw new ConfigError(`pod ${pod.metadata?.name} has no port named ${JSON.stringify(port)}`, {
    hint: named.length === 0 ? "its containers name no ports: write a number" : `it has ${named.join(", ")}`,
  });
}
