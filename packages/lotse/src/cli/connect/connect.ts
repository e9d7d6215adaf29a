/** Finds the cluster and makes sure that it answers, before anything is started that would only wait for it. */
import path from "node:path";
import { ApiError, Client, ConfigError, ConnectionError, TimeoutError, UnauthorizedError } from "@lotse/client";
import { type Clock, formatDuration, sleep } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem, tell } from "../terminal/index.ts";

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
  const client = await open(options, io, onWarning);
  try {
    return await greet(client);
  } catch (error) {
    await client.close();
    throw problemOf(error, client.config.server);
  }
}

/** Who waits for a cluster. */
export interface Patience {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** So soon after a cluster answers, the command has noticed. */
const LONGEST_PAUSE_MS = 2_000;

/**
 * Connects as {@link connect} does, and waits for a cluster that is there and does not talk to us yet, such as one that is
 * just starting behind its load balancer. Undefined when the waiting was ended.
 */
export async function connectPatiently(
  options: ConnectOptions,
  io: Io,
  onWarning: (text: string) => void,
  { clock, logger, signal }: Patience,
): Promise<Connection | undefined> {
  const client = await open(options, io, onWarning);
  const { server, source } = client.config;
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  let told: string | undefined;
  for (let pauseMs = 250; !signal.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      const connection = await Promise.race([greet(client), stopped]);
      if (connection && told !== undefined) logger.info("the cluster answers", { server });
      if (connection) return connection;
    } catch (error) {
      const problem = problemOf(error, server);
      if (!comesBySelf(error, source)) {
        await client.close();
        throw problem;
      }
      const { why, todo } = tell(problem);
      const fields = { server, error: why, hint: todo, retryIn: formatDuration(pauseMs) };
      if (told === why) logger.debug("the cluster does not answer, the operator waits for it", fields);
      else logger.warn("the cluster does not answer, the operator waits for it", fields);
      told = why;
      await sleep(clock, pauseMs, signal).catch(() => undefined);
    }
  }
  await client.close();
  return undefined;
}

/**
 * Whether it is only a matter of time. Where no server listens at all, a user at a terminal has more likely named the wrong
 * cluster, or forgotten to start it; in a pod there is only one.
 */
export function comesBySelf(error: unknown, source: Client["config"]["source"]): boolean {
  if (error instanceof TimeoutError) return true;
  if (!(error instanceof ConnectionError) || error.lasting) return false;
  return source === "in-cluster" || !isNobodyThere(error);
}

/** Reads the configuration; sends nothing. */
function open(options: ConnectOptions, io: Io, onWarning: (text: string) => void): Promise<Client> {
  return Client.connect({
    ...(options.kubeconfig !== undefined && { kubeconfig: path.resolve(io.cwd, options.kubeconfig) }),
    ...(options.context !== undefined && { context: options.context }),
    env: io.env,
    onWarning,
  }).catch((error: unknown) => {
    throw configProblem(error);
  });
}

/** Asks who is there, and who the server takes us for. */
async function greet(client: Client): Promise<Connection> {
  const { server, context } = client.config;
  const [version, me] = await Promise.all([
    unlessRefused(client.version({ timeout: PATIENCE })),
    unlessRefused(client.whoami({ timeout: PATIENCE })),
  ]);
  return { client, server, context, user: me?.username, version: version?.gitVersion };
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

/** The client's advice is for programs; a user at a shell has flags. */
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
/** No server is there at all, in contrast to one that is there and not trusted. */
const NO_SERVER_THERE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);

function problemOf(error: unknown, server: string): unknown {
  const { what, todo } = tell(error);
  if (error instanceof UnauthorizedError) {
    return new Problem(
      { what: `the cluster at ${server} does not accept the credentials`, why: what, todo },
      { cause: error },
    );
  }
  if (!(error instanceof ConnectionError) && !(error instanceof TimeoutError)) return error;
  return new Problem(
    {
      what: `cannot reach the cluster at ${server}`,
      why: what.replace(/^cannot reach \S+: /, ""),
      todo: isNobodyThere(error) ? START_OR_CHOOSE : todo,
    },
    { cause: error },
  );
}

function isNobodyThere(error: ConnectionError | TimeoutError): boolean {
  const { code } = (error.cause ?? {}) as { code?: string };
  return code === undefined || NO_SERVER_THERE.has(code);
}
