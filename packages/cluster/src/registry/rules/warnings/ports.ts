import { everyContainer, type Fields, number, structs, text } from "../pod/index.ts";

interface Seen {
  readonly path: string;
  readonly port: Fields;
}

/** Ports of a pod's containers that are in each other's way, or look as if they were. */
export function portWarnings(spec: Fields, path: string): string[] {
  const all = [...everyContainer(spec, path)].flatMap(([container, here]) =>
    structs(container.ports).map((port, i) => ({ path: `${here}.ports[${i}]`, port })),
  );
  return [...overlaps(all), ...repeatedNames(all)];
}

function overlaps(all: readonly Seen[]): string[] {
  const warnings: string[] = [];
  const byPort = new Map<string, Seen[]>();
  for (const seen of all) {
    const { path, port } = seen;
    const [ip, hostPort] = [text(port.hostIP), number(port.hostPort)];
    if (ip !== "" && hostPort === 0) warnings.push(`${path}: hostIP set without hostPort: ${shown(port)}`);
    const key = `${number(port.containerPort)}/${text(port.protocol)}`;
    const others = byPort.get(key) ?? [];
    for (const other of others) {
      const [otherIp, otherPort] = [text(other.port.hostIP), number(other.port.hostPort)];
      if (ip === otherIp && hostPort === otherPort) {
        warnings.push(`${path}: duplicate port definition with ${other.path}`);
      } else if (hostPort === 0 || otherPort === 0) {
        warnings.push(`${path}: overlapping port definition with ${other.path}`);
      } else if (hostPort === otherPort && (ip === "") !== (otherIp === "")) {
        warnings.push(`${path}: dangerously ambiguous port definition with ${other.path}`);
      }
    }
    byPort.set(key, [...others, seen]);
  }
  return warnings;
}

/** As a real server prints its own value. */
function shown(port: Fields): string {
  const { name, containerPort, protocol, hostIP } = port;
  return `{Name:${text(name)} HostPort:0 ContainerPort:${number(containerPort)} Protocol:${text(protocol)} HostIP:${text(hostIP)}}`;
}

function repeatedNames(all: readonly Seen[]): string[] {
  const first = new Map<string, string>();
  return all.flatMap(({ path, port }) => {
    const name = text(port.name);
    if (name === "") return [];
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, path);
      return [];
    }
    return [
      `${path}: duplicate port name ${JSON.stringify(name)} with ${other}, services and probes that select ports by name will use ${other}`,
    ];
  });
}
