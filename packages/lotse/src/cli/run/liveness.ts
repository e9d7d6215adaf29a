/**
 * Where an operator serves its health, from `--liveness http://0.0.0.0:8080/healthz`, and where it answers questions,
 * from `--explain http://127.0.0.1:8081`.
 */
import { type Endpoints, type EndpointsAddress, type Observed, openEndpoints } from "../../report/index.ts";
import { Problem } from "../terminal/index.ts";

/** An address to listen on, with a port. */
export type PortAddress = Exclude<EndpointsAddress, { readonly socket: string }>;

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

/** The address in `url`, which has to be of one of `protocols`. */
export function addressOf(
  flag: string,
  url: string,
  example: string,
  { protocols = ["http:"], why = "only plain http is served; probes of the kubelet need no more" } = {},
): PortAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !protocols.includes(parsed.protocol)) {
    throw new Problem(
      {
        what: `${flag} ${url} is no address to listen on`,
        why: parsed ? why : "it is not a URL",
        todo: `write it like ${example}`,
      },
      { exitCode: 2 },
    );
  }
  const { hostname, port, pathname } = parsed;
  return {
    ...(hostname !== "" && { host: hostname.replace(/^\[(.*)\]$/, "$1") }),
    port: port === "" ? (parsed.protocol === "https:" ? 443 : 80) : Number(port),
    ...(pathname !== "/" && { path: pathname }),
  };
}

/** Serves health at `url`, and metrics unless they are `guarded`; a {@link Problem} when the port is taken. */
export function serveLiveness(
  url: string,
  operators: () => readonly Observed[],
  { guarded = false }: { readonly guarded?: boolean } = {},
): Promise<Endpoints> {
  const open = () => openEndpoints({ ...livenessAddress(url), metrics: !guarded }, operators);
  return serve("--liveness", `health cannot be served at ${url}`, open);
}

/** Answers `lotse explain` and `lotse retry` at `url`; a {@link Problem} when the port is taken. */
export function serveExplain(url: string, operators: () => readonly Observed[]): Promise<Endpoints> {
  return serve("--explain", `questions cannot be answered at ${url}`, () =>
    openEndpoints(explainAddress(url), operators),
  );
}

/** Opens endpoints; what keeps them from being opened is told as a {@link Problem}. */
export async function serve<E extends Endpoints>(flag: string, what: string, open: () => Promise<E>): Promise<E> {
  try {
    return await open();
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
