/** Where an operator serves its health, from `--liveness http://0.0.0.0:8080/healthz`. */
import { type Endpoints, type EndpointsAddress, type Observed, openEndpoints } from "../report/index.ts";
import { Problem } from "./problem.ts";

/** The address that `url` means; a {@link Problem} when it means none. */
export function livenessAddress(url: string): EndpointsAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:") {
    throw new Problem(
      {
        what: `--liveness ${url} is no address to listen on`,
        why: parsed ? "only plain http is served; probes of the kubelet need no more" : "it is not a URL",
        todo: "write it like http://0.0.0.0:8080/healthz",
      },
      { exitCode: 2 },
    );
  }
  const { hostname, port, pathname } = parsed;
  return {
    ...(hostname !== "" && { host: hostname.replace(/^\[(.*)\]$/, "$1") }),
    port: port === "" ? 80 : Number(port),
    ...(pathname !== "/" && { path: pathname }),
  };
}

/** Opens the endpoints at `url`; a {@link Problem} when the port is taken. */
export async function serveLiveness(url: string, operators: () => readonly Observed[]): Promise<Endpoints> {
  try {
    return await openEndpoints(livenessAddress(url), operators);
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    if (cause instanceof Problem || (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL"))
      throw cause;
    const why = {
      EADDRINUSE: "another program listens there",
      EACCES: "low ports are for the administrator",
      EADDRNOTAVAIL: "this machine does not have that address",
    }[code];
    throw new Problem(
      { what: `health cannot be served at ${url}`, why: why ?? message, todo: "choose another port with --liveness" },
      { cause },
    );
  }
}
