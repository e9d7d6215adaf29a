/** `lotse run`: operators against a cluster that is there. */
import type { Client } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import type { Operator, RunningOperator } from "../../operator/index.ts";
import { type Endpoints, Logger, type LogSink } from "../../report/index.ts";
import {
  type Connection,
  type ConnectOptions,
  confirmContext,
  connectPatiently,
  useAsDefault,
} from "../connect/index.ts";
import { listenLocally } from "../explain/index.ts";
import {
  kindNames,
  type LoadedOperator,
  loadOperators,
  resolveFiles,
  resolveModules,
  warnOfNoHandlers,
} from "../project/index.ts";
import { recordTo } from "../recording/index.ts";
import type { Io } from "../terminal/index.ts";
import {
  type AnnouncedLine,
  announce,
  type LogOptions,
  logFormatOf,
  logSinkOf,
  Problem,
  type Stop,
  stopOnSignal,
  wantsColours,
} from "../terminal/index.ts";
import { serveExplain, serveLiveness } from "./liveness.ts";
import { stopOnUncaught } from "./stop-on-uncaught.ts";
import { type WebhookFlags, webhooksOf } from "./webhook-flags.ts";

/** The flags of `lotse run`. */
export interface RunOptions extends ConnectOptions, LogOptions, WebhookFlags {
  readonly namespace?: readonly string[] | undefined;
  readonly allNamespaces?: boolean | undefined;
  readonly installCrds?: boolean | undefined;
  /** Packages that export operators. */
  readonly module?: readonly string[] | undefined;
  /** The URL where health and metrics are served. */
  readonly liveness?: string | undefined;
  /** The URL where questions about objects are answered, besides the socket of this process. */
  readonly explain?: string | undefined;
  readonly yes?: boolean | undefined;
  /** Does not start while permissions are missing. */
  readonly requirePermissions?: boolean | undefined;
}

/** Runs the operators of `files` until a signal asks them to stop. */
export async function run(files: readonly string[], options: RunOptions, io: Io): Promise<number> {
  namespacesOf(options);
  webhooksOf(options, io);
  const modules = await resolveModules(options.module ?? [], io.cwd);
  const named = files.length === 0 && modules.length > 0 ? [] : resolveFiles(files, io.cwd, "run");
  return runOperators(await loadOperators([...named, ...modules], io.cwd), options, io);
}

/** Runs operators that are loaded already. */
export async function runOperators(operators: readonly LoadedOperator[], options: RunOptions, io: Io): Promise<number> {
  const namespaces = namespacesOf(options);
  const log = logSinkOf(io, options);
  const logger = new Logger(log, () => Date.now());
  const stop = stopOnSignal(io);
  const escaped = stopOnUncaught(io, stop, logger);
  try {
    const own = operators.filter(({ operator }) => bringsLogin(operator));
    if (own.length === operators.length) {
      logger.info("the operator brings its own credentials", {
        operator: own.map(({ operator }) => operator.name).join(", "),
      });
      await work(operators, undefined, namespaces, options, log, stop, io);
      return 0;
    }
    const onWarning = (text: string) => logger.warn("the cluster warns", { warning: text });
    const patience = { clock: systemClock, logger, signal: stop.signal };
    const connection = await connectPatiently(options, io, onWarning, patience);
    if (!connection) return 0;
    const chosen = options.kubeconfig !== undefined || options.context !== undefined;
    const release = chosen ? useAsDefault(connection.client) : undefined;
    try {
      if (!options.quiet) announceRun(operators, connection, namespaces, logger, options, io);
      warnOfNoHandlers(operators, logger);
      await confirmContext(connection.context, options.yes, io, stop.signal);
      const permissions = tellPermissions(operators, connection, namespaces, logger, options, stop, io);
      // Heard below, unless something worse has happened by then.
      permissions.catch(() => {});
      // Advice must not hold the operator back.
      if (options.requirePermissions) await permissions;
      await work(operators, connection.client, namespaces, options, log, stop, io);
      await permissions;
    } finally {
      release?.();
      await connection.client.close();
    }
  } finally {
    stop[Symbol.dispose]();
    escaped.end();
  }
  return 0;
}

function bringsLogin(operator: Operator): boolean {
  // Perhaps of another copy of the package, which does not know of logins.
  return (operator as Partial<Operator>).activities?.some(({ type }) => type === "login") ?? false;
}

/** Without those that bring their own credentials: it is not known yet who they are. */
async function tellPermissions(
  operators: readonly LoadedOperator[],
  { client, user }: Connection,
  namespaces: readonly string[] | undefined,
  logger: Logger,
  options: RunOptions,
  stop: Stop,
  io: Io,
): Promise<void> {
  const { tellMissingPermissions } = await import("../review/index.ts");
  const ours = operators.filter(({ operator }) => !bringsLogin(operator));
  const crds = options.installCrds === undefined ? undefined : options.installCrds ? "install" : "wait";
  const required = options.requirePermissions;
  const { signal } = stop;
  const asked = webhookQuestion(client, options, io);
  const question = { operators: ours, client, user, namespaces, crds, ...asked, logger, required, signal } as const;
  await tellMissingPermissions(question, options, io);
}

/** Replicas behind a Service share their certificate in a Secret; a process at a URL keeps its own to itself. */
function webhookQuestion(client: Client, options: RunOptions, io: Io) {
  const { register = true, certificates = "own", service, url } = webhooksOf(options, io);
  const registers = register ? ("operator" as const) : ("nobody" as const);
  const behindService = service !== undefined || (client.config.source === "in-cluster" && url === undefined);
  const keepsSecret = certificates === "own" && behindService;
  return {
    webhooks: { registers, keepsSecret },
    ownNamespace: typeof service === "object" ? service.namespace : undefined,
  };
}

/** Undefined: all namespaces. */
function namespacesOf({ namespace, allNamespaces }: RunOptions): readonly string[] | undefined {
  if (namespace === undefined || namespace.length === 0) return undefined;
  if (!allNamespaces) return [...new Set(namespace)];
  throw new Problem(
    { what: "--namespace and --all-namespaces exclude each other", todo: "leave one of them out" },
    { exitCode: 2 },
  );
}

/** All operators until `stop`, or until one of them fails; then the others are stopped too. */
async function work(
  operators: readonly LoadedOperator[],
  client: Client | undefined,
  namespaces: readonly string[] | undefined,
  options: RunOptions,
  log: LogSink,
  stop: Stop,
  io: Io,
): Promise<void> {
  let running: readonly RunningOperator[] = [];
  // Before anything is done: a port that is taken shall be told at once.
  const endpoints: (Endpoints | undefined)[] = [];
  try {
    if (options.liveness !== undefined) endpoints.push(await serveLiveness(options.liveness, () => running));
    if (options.explain !== undefined) endpoints.push(await serveExplain(options.explain, () => running));
    endpoints.push(await listenLocally(io, () => running));
    running = begin(operators, client, namespaces, options, log, stop, io);
    await Promise.all(running.map(({ stopped }) => stopped));
  } finally {
    await Promise.allSettled(running.map((one) => one.stop()));
    await Promise.all(endpoints.map((one) => one?.close()));
  }
}

function begin(
  operators: readonly LoadedOperator[],
  client: Client | undefined,
  namespaces: readonly string[] | undefined,
  options: RunOptions,
  log: LogSink,
  stop: Stop,
  io: Io,
): RunningOperator[] {
  const record = recordTo(io);
  const webhooks = webhooksOf(options, io);
  return operators.map(({ operator }) =>
    operator.start({
      // Login handlers are asked by an operator that connects by itself.
      ...(client && !bringsLogin(operator) && { client }),
      log,
      signal: stop.signal,
      ...(namespaces && { namespaces }),
      // Where definitions come with the deployment, the environment says no: the operator has no right to write them.
      ...(options.installCrds !== undefined && {
        crds: options.installCrds ? ("install" as const) : ("wait" as const),
      }),
      ...(record && { record }),
      webhooks,
    }),
  );
}

function announceRun(
  operators: readonly LoadedOperator[],
  { server, context, user, version }: Connection,
  namespaces: readonly string[] | undefined,
  logger: Logger,
  options: RunOptions,
  io: Io,
): void {
  if (logFormatOf(io, options) === "json") {
    logger.info("connected to the cluster", { server, context, user, version });
    for (const { file, operator } of operators) {
      logger.info("starting the operator", {
        operator: operator.name,
        file,
        kinds: kindNames(operator),
        namespaces: namespaces ?? "all",
      });
    }
    return;
  }
  const lines: AnnouncedLine[] = [
    ["cluster", [server, context && `context ${context}`, version].filter(Boolean).join(", ")],
    ["identity", user ?? "not told by the cluster"],
    ["namespaces", namespaces?.join(", ") ?? "all"],
    ...operators.map(
      ({ operator }): AnnouncedLine => [operators.length > 1 ? operator.name : "kinds", kindNames(operator)],
    ),
  ];
  const names = operators.map(({ operator, file }) => `${operator.name} (${file})`).join(", ");
  announce(io.stdout, names, lines, wantsColours(io.stdout, io.env));
}
