/**
 * Operators that run on this machine can be asked without knowing a port: each process listens on a socket of its own in
 * a folder that only its user can open.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import os from "node:os";
import path from "node:path";
import { type Besides, COMMAND_HEADER, type Endpoints, type Observed, openEndpoints } from "../../report/index.ts";
import type { Io } from "../terminal/index.ts";

/** Of a machine without a temporary folder that can be written to: a pod whose root is read-only has this one. */
const SHARED_MEMORY = "/dev/shm";

/**
 * Where the sockets of this user's operators are, the usual place first. Short, because a socket's path is limited to
 * about a hundred bytes. `IN_POD` of the room `profile` looks in the same places.
 */
export function socketFolders({ env }: Pick<Io, "env">): string[] {
  if (env.XDG_RUNTIME_DIR) return [path.join(env.XDG_RUNTIME_DIR, "lotse")];
  return [env.TMPDIR || os.tmpdir(), SHARED_MEMORY].map((folder) => path.join(folder, `lotse-${userId()}`));
}

/** In a pod the user may have a number and no name, and `os.userInfo` fails. */
function userId(): number {
  return process.getuid?.() ?? os.userInfo().uid;
}

/**
 * Listens on this process's socket; undefined where that is impossible, which must not keep an operator from working.
 * `besides`: what is answered there and nowhere else.
 */
export async function listenLocally(
  io: Pick<Io, "env">,
  operators: () => readonly Observed[],
  besides?: Besides,
): Promise<Endpoints | undefined> {
  for (const folder of socketFolders(io)) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // In a folder that belongs to another user, that user could listen in our name.
      if (lstatSync(folder).uid !== userId()) continue;
      chmodSync(folder, 0o700);
      const socket = path.join(folder, `${process.pid}-${Math.floor(performance.timeOrigin) % 100_000}.sock`);
      rmSync(socket, { force: true });
      return await openEndpoints({ socket }, operators, besides);
    } catch {
      // The next one, if there is one.
    }
  }
  return undefined;
}

/** The sockets of operators that may be running. */
export function localSockets(io: Pick<Io, "env">): string[] {
  return socketFolders(io).flatMap((folder) => {
    try {
      const sockets = readdirSync(folder).filter((name) => name.endsWith(".sock"));
      return sockets.map((name) => path.join(folder, name));
    } catch {
      return [];
    }
  });
}

/** The process that listens, or has listened, on a socket. */
export function pidOf(socket: string): number {
  return Number.parseInt(path.basename(socket), 10);
}

/** Who to ask. */
export type Asked = { readonly socket: string } | { readonly url: string };

const PATIENCE_MS = 5_000;

/** Asks for `pathname`; rejects when no operator answers. */
export async function ask(
  asked: Asked,
  pathname: string,
  method: "GET" | "POST" = "GET",
): Promise<{ readonly status: number; readonly body: string }> {
  const response = await open(asked, pathname, { method, timeoutMs: PATIENCE_MS });
  return { status: response.statusCode ?? 0, body: await textOf(response) };
}

/** How to ask. */
export interface Asking {
  readonly method: "GET" | "POST";
  /** The longest silence. Default: any. */
  readonly timeoutMs?: number | undefined;
  /** Ends it, which the operator notices. */
  readonly signal?: AbortSignal | undefined;
}

/** The same for an answer that is long, or long in coming: resolves when it begins. */
export function open(asked: Asked, pathname: string, { method, timeoutMs, signal }: Asking): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const url = new URL(pathname, "url" in asked ? asked.url : "http://localhost");
    const options = {
      method,
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
      ...(signal && { signal }),
      ...(method === "POST" && { headers: { [COMMAND_HEADER]: "lotse" } }),
      ...("socket" in asked && { socketPath: asked.socket }),
    };
    const sent = request(url, options, resolve);
    if (timeoutMs !== undefined) {
      sent.on("timeout", () => sent.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
    }
    sent.on("error", reject);
    sent.end();
  });
}

/** All of an answer that is short. */
export async function textOf(response: IncomingMessage): Promise<string> {
  let body = "";
  for await (const text of response.setEncoding("utf8")) body += text as string;
  return body;
}
