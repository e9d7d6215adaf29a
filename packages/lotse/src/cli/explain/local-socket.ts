/**
 * Operators that run on this machine can be asked without knowing a port: each process listens on a socket of its own in
 * a folder that only its user can open.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import os from "node:os";
import path from "node:path";
import { COMMAND_HEADER, type Endpoints, type Observed, openEndpoints } from "../../report/index.ts";
import type { Io } from "../terminal/index.ts";

/** Where the sockets of this user's operators are. Short, because a socket's path is limited to about a hundred bytes. */
export function socketFolder({ env }: Pick<Io, "env">): string {
  if (env.XDG_RUNTIME_DIR) return path.join(env.XDG_RUNTIME_DIR, "lotse");
  return path.join(env.TMPDIR || os.tmpdir(), `lotse-${os.userInfo().uid}`);
}

/** Listens on this process's socket; undefined where that is impossible, which must not keep an operator from working. */
export async function listenLocally(
  io: Pick<Io, "env">,
  operators: () => readonly Observed[],
): Promise<Endpoints | undefined> {
  try {
    const folder = socketFolder(io);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // In a folder that belongs to another user, that user could listen in our name.
    if (lstatSync(folder).uid !== os.userInfo().uid) return undefined;
    chmodSync(folder, 0o700);
    const socket = path.join(folder, `${process.pid}-${Math.floor(performance.timeOrigin) % 100_000}.sock`);
    rmSync(socket, { force: true });
    return await openEndpoints({ socket }, operators);
  } catch {
    return undefined;
  }
}

/** The sockets of operators that may be running. */
export function localSockets(io: Pick<Io, "env">): string[] {
  const folder = socketFolder(io);
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".sock"))
      .map((name) => path.join(folder, name));
  } catch {
    return [];
  }
}

/** Who to ask. */
export type Asked = { readonly socket: string } | { readonly url: string };

const PATIENCE_MS = 5_000;

/** Asks for `pathname`; rejects when no operator answers. */
export function ask(
  asked: Asked,
  pathname: string,
  method: "GET" | "POST" = "GET",
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const url = new URL(pathname, "url" in asked ? asked.url : "http://localhost");
    const options = {
      method,
      timeout: PATIENCE_MS,
      ...(method === "POST" && { headers: { [COMMAND_HEADER]: "lotse" } }),
      ...("socket" in asked && { socketPath: asked.socket }),
    };
    const sent = request(url, options, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${PATIENCE_MS / 1_000} s`)));
    sent.on("error", reject);
    sent.end();
  });
}
