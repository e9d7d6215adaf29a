import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isRecord, listAt } from "../registry/index.ts";
import { dial } from "./process-dial.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Runs a command in the container; resolves to its exit code. */
export type RunCommand = (command: readonly string[]) => Promise<number>;

/** Does what a probe or a hook of a container says; resolves to whether it went well. */
export async function perform(action: Fields, container: Fields, run: RunCommand): Promise<boolean> {
  if (isRecord(action.exec)) {
    const { command } = action.exec;
    return (await run(Array.isArray(command) ? command.map(String) : [])) === 0;
  }
  if (isRecord(action.httpGet)) return httpGet(action.httpGet, portOf(action.httpGet.port, container));
  if (isRecord(action.tcpSocket)) return connects(portOf(action.tcpSocket.port, container));
  if (isRecord(action.grpc)) return connects(portOf(action.grpc.port, container));
  return true;
}

/** A port by number, or by the name that the container gives it. */
function portOf(port: unknown, container: Fields): number {
  if (typeof port === "number") return port;
  const named = listAt(container, "ports").find((one) => one.name === port);
  return Number(named?.containerPort ?? port);
}

async function connects(port: number): Promise<boolean> {
  try {
    (await dial(port)).close();
    return true;
  } catch {
    return false;
  }
}

function httpGet(action: Fields, port: number): Promise<boolean> {
  const send = action.scheme === "HTTPS" ? httpsRequest : httpRequest;
  const headers: Record<string, string> = { "user-agent": "kube-probe/1.36" };
  for (const { name, value } of listAt(action, "httpHeaders")) headers[String(name).toLowerCase()] = String(value);
  return new Promise((resolve) => {
    const host = typeof action.host === "string" && action.host !== "" ? action.host : "127.0.0.1";
    const options = { host, port, path: String(action.path ?? "/"), headers, agent: false, rejectUnauthorized: false };
    const request = send(options, (response) => {
      response.resume();
      const code = response.statusCode ?? 0;
      resolve(code >= 200 && code < 400);
    });
    request.on("error", () => resolve(false));
    request.end();
  });
}
