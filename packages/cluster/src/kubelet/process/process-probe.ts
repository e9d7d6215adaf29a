import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isRecord, listAt } from "../../registry/index.ts";
import { dial } from "./process-dial.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Runs a command in the container; resolves to its exit code and to what it wrote. */
export type RunCommand = (
  command: readonly string[],
) => Promise<{ readonly exitCode: number; readonly output: string }>;

/** Does what a probe of a container says; resolves to what went wrong, and to undefined when nothing did. */
export async function perform(action: Fields, container: Fields, run: RunCommand): Promise<string | undefined> {
  if (isRecord(action.exec)) {
    const { command } = action.exec;
    const { exitCode, output } = await run(Array.isArray(command) ? command.map(String) : []);
    return exitCode === 0 ? undefined : output;
  }
  if (isRecord(action.httpGet)) return httpGet(action.httpGet, portOf(action.httpGet.port, container));
  if (isRecord(action.tcpSocket)) return connects(portOf(action.tcpSocket.port, container));
  if (isRecord(action.grpc)) return connects(portOf(action.grpc.port, container));
  return undefined;
}

/**
 * Does what a hook of a container says; resolves to what went wrong, and to undefined when nothing did. Unlike a probe's,
 * the answer to its request may be any.
 */
export async function performHook(action: Fields, container: Fields, run: RunCommand): Promise<string | undefined> {
  try {
    if (isRecord(action.httpGet)) {
      const problem = await httpGet(action.httpGet, portOf(action.httpGet.port, container));
      return problem?.startsWith(BAD_STATUS) ? undefined : problem;
    }
    if (isRecord(action.exec)) {
      const { command } = action.exec;
      const { exitCode, output } = await run(Array.isArray(command) ? command.map(String) : []);
      return exitCode === 0 ? undefined : `the command ended with ${exitCode}: ${output}`;
    }
    return "a hook can run a command, send a request or sleep";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const BAD_STATUS = "HTTP probe failed with statuscode: ";

/** A port by number, or by the name that the container gives it. */
function portOf(port: unknown, container: Fields): number {
  if (typeof port === "number") return port;
  const named = listAt(container, "ports").find((one) => one.name === port);
  return Number(named?.containerPort ?? port);
}

async function connects(port: number): Promise<string | undefined> {
  try {
    (await dial(port)).close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function httpGet(action: Fields, port: number): Promise<string | undefined> {
  const secure = action.scheme === "HTTPS";
  const send = secure ? httpsRequest : httpRequest;
  const headers: Record<string, string> = { "user-agent": "kube-probe/1.36" };
  for (const { name, value } of listAt(action, "httpHeaders")) headers[String(name).toLowerCase()] = String(value);
  const host = typeof action.host === "string" && action.host !== "" ? action.host : "127.0.0.1";
  const path = String(action.path ?? "/");
  return new Promise((resolve) => {
    const options = { host, port, path, headers, agent: false, rejectUnauthorized: false };
    const request = send(options, (response) => {
      response.resume();
      const code = response.statusCode ?? 0;
      resolve(code >= 200 && code < 400 ? undefined : `${BAD_STATUS}${code}`);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      const url = JSON.stringify(`${secure ? "https" : "http"}://${host}:${port}${path}`);
      const refused = error.code === "ECONNREFUSED";
      resolve(`Get ${url}: ${refused ? `dial tcp ${host}:${port}: connect: connection refused` : error.message}`);
    });
    request.end();
  });
}
