import { isIPv4 } from "node:net";

/** An address of this machine, with the network that it is in: `172.18.0.1/16`. */
export interface LocalAddress {
  readonly address: string;
  /** Null where the machine does not tell. */
  readonly cidr: string | null;
}

/** An address of this machine in the network of a node: what a node can reach without any name. */
export function addressInSubnet(nodes: readonly string[], local: readonly LocalAddress[]): string | undefined {
  const wanted = nodes.filter(isIPv4).map(numberOf);
  const found = local.find(({ address, cidr }) => {
    const bits = Number(cidr?.split("/")[1] ?? Number.NaN);
    if (!isIPv4(address) || !(bits > 0 && bits <= 32)) return false;
    const mask = bits === 32 ? 0xffffffff : ~(0xffffffff >>> bits) >>> 0;
    const network = (numberOf(address) & mask) >>> 0;
    return wanted.some((node) => (node & mask) >>> 0 === network);
  });
  return found?.address;
}

function numberOf(address: string): number {
  return address.split(".").reduce((number, part) => number * 256 + Number(part), 0);
}
