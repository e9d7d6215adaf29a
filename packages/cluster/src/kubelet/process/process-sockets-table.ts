/** Reads what Linux and `lsof` tell of the sockets that programs listen on. */
import os from "node:os";

const LISTENS = "0A";

/** Addresses as `/proc/net/tcp` writes them: the bytes of each word in the order of the machine. */
const [LOOPBACK, MAPPED] =
  os.endianness() === "LE"
    ? ["0100007F", "0000000000000000FFFF00000100007F"]
    : ["7F000001", "00000000000000000000FFFF7F000001"];
const ANY = "00000000";
const ANY_6 = "00000000000000000000000000000000";

/**
 * The sockets that answer at 127.0.0.1 on `port`, as links of `/proc/…/fd` name them. Where some listen on that address
 * and others on all, the former get the connection.
 */
export function listeningSockets(tcp: string, tcp6: string, port: number): ReadonlySet<string> {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const found = new Map<string, Set<string>>();
  for (const line of `${tcp}\n${tcp6}`.split("\n")) {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    const [address = "", at] = local.split(":");
    if (state !== LISTENS || at !== wanted || inode === undefined) continue;
    const sockets = found.get(address) ?? new Set();
    found.set(address, sockets.add(`socket:[${inode}]`));
  }
  const exact = [LOOPBACK, MAPPED].flatMap((address) => [...(found.get(address ?? "") ?? [])]);
  if (exact.length > 0) return new Set(exact);
  return found.get(ANY) ?? found.get(ANY_6) ?? new Set();
}

/** The processes in the answer of `lsof -Fpg`. */
export function readLsof(text: string): { readonly pid: number; readonly group: number }[] {
  const found: { pid: number; group: number }[] = [];
  for (const line of text.split("\n")) {
    const value = Number(line.slice(1));
    if (line.startsWith("p")) found.push({ pid: value, group: value });
    const last = found.at(-1);
    if (line.startsWith("g") && last) last.group = value;
  }
  return found;
}
