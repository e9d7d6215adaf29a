/** What `planReach` needs to know, asked of this machine and of the API server. */
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { connect } from "node:tls";
import { type Client, Node } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { LocalAddress } from "./subnets.ts";

const PATIENCE_MS = 5_000;

/**
 * The names in the certificate of an API server. Whether it is to be believed does not matter: nothing is sent, and the
 * names only help to guess what sort of cluster it is.
 */
export function readServerNames(serverUrl: string, clock: Clock): Promise<string[]> {
  const url = new URL(serverUrl);
  if (url.protocol !== "https:") return Promise.resolve([]);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const done = (error: Error | undefined, names: string[] = []) => {
      cancel();
      socket.destroy();
      if (error) reject(error);
      else resolve(names);
    };
    const socket = connect({
      host,
      port: url.port === "" ? 443 : Number(url.port),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    });
    const cancel = clock.after(PATIENCE_MS, () => done(new Error(`${url.host} did not show its certificate in time`)));
    socket.once("secureConnect", () => {
      const { subject, subjectaltname = "" } = socket.getPeerCertificate();
      const names = subjectaltname.split(", ").map((entry) => entry.replace(/^(?:DNS|IP Address):/, ""));
      const own = [(subject as { CN?: string | string[] } | undefined)?.CN ?? []].flat();
      done(
        undefined,
        [...own, ...names].filter((name) => name !== ""),
      );
    });
    socket.once("error", done);
  });
}

/** So many nodes are enough to know their network. */
const NODES = 10;

/** The addresses of some nodes inside of the cluster. */
export async function readNodeAddresses(client: Client, signal: AbortSignal): Promise<string[]> {
  const addresses: string[] = [];
  let seen = 0;
  for await (const node of client.list(Node, { pageSize: NODES, signal })) {
    for (const { type, address } of node.body.status?.addresses ?? [])
      if (type === "InternalIP") addresses.push(address);
    if (++seen >= NODES) break;
  }
  return addresses;
}

/** The addresses of this machine that others can reach. */
export function readLocalAddresses(): LocalAddress[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.filter(({ internal }) => !internal).map(({ address, cidr }) => ({ address, cidr }));
}
