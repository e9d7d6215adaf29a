/**
 * Where an operator serves its health, from `--liveness http://0.0.0.0:8080/healthz`, and where it answers questions,
 * from `--explain http://127.0.0.1:8081`.
 */
import { type Endpoints, type EndpointsAddress, type Observed, openEndpoints } from "../../report/index.ts";
import { Problem } from "../terminal/index.ts";

/** An address to listen on, with a port. */
type PortAddress = Exclude<EndpointsAddress, { readonly socket: string }>;

/** The address that `url` means; a {@link Problem} when it means none. */
export function livenessAddress(url: string): PortAddress {
  return addressOf("--liveness", url, "http://0.0.0.0:8080/healthz");
}

/** The address that `url` means; a {@link Problem} when it means none, or one that others can reach. */
export function explainAddress(url: string): PortAddress {
  const { host, port } = addressOf("--explain", url, EXPLAIN_EXAMPLE);
  if (host === undefined || !/^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host)) {
    throw new Problem(
      {
        what: `--explain ${url} is an address that others can reach`,
        why: "clients are not asked there who they are, and the answers tell what is in objects",
        todo: `write ${EXPLAIN_EXAMPLE}: kubectl port-forward reaches that in a pod`,
      },
      { exitCode: 2 },
    );
  }
  return { host, port, questions: true };
}

const EXPLAIN_EXAMPLE = "http://127.0.0.1:8081";

function addressOf(flag: string, url: string, example: string): PortAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:") {
    throw new Problem(
      {
        what: `${flag} ${url} is no address to listen on`,
        why: parsed ? "only plain http is served; probes of the kubelet need no more" : "it is not a URL",
        todo: `write it like ${example}`,
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

/** Serves health and metrics at `url`; a {@link Problem} when the port is taken. */
export function serveLiveness(url: string, operators: () => readonly Observed[]): Promise<Endpoints> {
  return serve("--liveness", `health cannot be served at ${url}`, () => livenessAddress(url), operators);
}

/** Answers `lotse explain` and `lotse retry` at `url`; a {@link Problem} when the port is taken. */
export function serveExplain(url: string, operators: () => readonly Observed[]): Promise<Endpoints> {
  return serve("--explain", `questions cannot be answered at ${url}`, () => explainAddress(url), operators);
}

async function serve(
  flag: string,
  what: string,
  address: () => PortAddress,
  operators: () => readonly Observed[],
): Promise<Endpoints> {
  try {
    return await openEndpoints(address(), operators);
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    if (cause instanceof Problem || (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL"))
      throw cause;
    const why = {
      EADDRINUSE: "another program listens there",
      EACCES: "low ports are for the administrator",
      EADDRNOTAVAIL: "this machine does not have that address",
    }[code];
    throw new Problem({ what, why: why ?? message, todo: `choose another port with ${flag}` }, { cause });
  }
}
