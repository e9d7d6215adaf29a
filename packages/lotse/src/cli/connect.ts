/** Finds the cluster and makes sure that it answers, before anything is started that would only wait for it. */
import path from "node:path";
import { ApiError, Client, ConfigError, ConnectionError, TimeoutError, UnauthorizedError } from "@lotse/client";
import type { Io } from "./io.ts";
import { Problem, tell } from "./problem.ts";

/** Which cluster, and as whom. */
export interface ConnectOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** A cluster that has answered. */
export interface Connection {
  readonly client: Client;
  readonly server: string;
  readonly context: string | undefined;
  /** Who the server takes us for; undefined when it does not tell. */
  readonly user: string | undefined;
  /** The server's version; undefined when it does not tell. */
  readonly version: string | undefined;
}

const PATIENCE = "10s";

/** Connects; a {@link Problem} when there is no cluster, or it does not want us. */
export async function connect(options: ConnectOptions, io: Io, onWarning: (text: string) => void): Promise<Connection> {
  const client = await Client.connect({
    ...(options.kubeconfig !== undefined && { kubeconfig: path.resolve(io.cwd, options.kubeconfig) }),
    ...(options.context !== undefined && { context: options.context }),
    env: io.env,
    onWarning,
  }).catch((error: unknown) => {
    throw configProblem(error);
  });
  const { server, context } = client.config;
  try {
    const [version, me] = await Promise.all([
      unlessRefused(client.version({ timeout: PATIENCE })),
      unlessRefused(client.whoami({ timeout: PATIENCE })),
    ]);
    return { client, server, context, user: me?.username, version: version?.gitVersion };
  } catch (error) {
    await client.close();
    throw problemOf(error, server);
  }
}

/** A server that answers "no" to one question is there all the same; only "who are you?" means that nothing will work. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && !(error instanceof UnauthorizedError)) return undefined;
    throw error;
  }
}

/** The client's advice is for programs; somebody at a shell has flags. */
function configProblem(error: unknown): unknown {
  const { what } = tell(error);
  const [found, looked] = what.split(/: looked for /);
  if (!(error instanceof ConfigError) || looked === undefined) return error;
  return new Problem(
    {
      what: found ?? what,
      why: `looked for ${looked}`,
      todo: "start one with `npx lotse cluster`, or name a kubeconfig with --kubeconfig or $KUBECONFIG",
    },
    { cause: error },
  );
}

const START_OR_CHOOSE = "start one with `npx lotse cluster`, or choose another with --context or --kubeconfig";
/** Nobody is there at all, in contrast to a server that is there and not trusted. */
const NOBODY_THERE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);

function problemOf(error: unknown, server: string): unknown {
  const { what, todo } = tell(error);
  if (error instanceof UnauthorizedError) {
    return new Problem(
      { what: `the cluster at ${server} does not accept the credentials`, why: what, todo },
      { cause: error },
    );
  }
  if (!(error instanceof ConnectionError) && !(error instanceof TimeoutError)) return error;
  const { code } = (error.cause ?? {}) as { code?: string };
  const absent = code === undefined || NOBODY_THERE.has(code);
  return new Problem(
    {
      what: `cannot reach the cluster at ${server}`,
      why: what.replace(/^cannot reach \S+: /, ""),
      todo: absent ? START_OR_CHOOSE : todo,
    },
    { cause: error },
  );
}
