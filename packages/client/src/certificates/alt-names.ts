import { type Der, implicit, sequence } from "./der.ts";

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/** IP addresses and DNS names, as a certificate lists those that it is good for. */
export function altNames(hosts: readonly string[]): Der {
  return sequence(...hosts.map(altName));
}

function altName(host: string): Der {
  // By their looks: the exact test of node:net takes longer than all the rest of the certificate.
  if (host.includes(":")) return implicit(7, ipv6Bytes(host));
  return IPV4.test(host) ? implicit(7, ipv4Bytes(host)) : implicit(2, Buffer.from(host));
}

function ipv4Bytes(host: string): Buffer {
  return Buffer.from(host.split(".").map(Number));
}

function ipv6Bytes(host: string): Buffer {
  // The last four bytes may be written as an address of the older family.
  const mapped = host.slice(host.lastIndexOf(":") + 1);
  if (IPV4.test(mapped)) {
    const [a = 0, b = 0, c = 0, d = 0] = ipv4Bytes(mapped);
    const pair = (high: number, low: number) => ((high << 8) | low).toString(16);
    return ipv6Bytes(`${host.slice(0, -mapped.length)}${pair(a, b)}:${pair(c, d)}`);
  }
  const [head = "", tail] = host.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((g) => Number.parseInt(g, 16)));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
