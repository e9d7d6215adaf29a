/** `lotse run`: operators against a cluster that is there. */
import path from "node:path";
import type { Client } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import { type Coordination, planCoordination } from "../../declare/index.ts";
import { type Operator, type RunningOperator, Together, type TogetherOptions } from "../../operator/index.ts";
import { type Endpoints, Logger, type LogSink } from "../../report/index.ts";
import type { TapeRecorder } from "../../tape/index.ts";
import {
  type Connection,
  type ConnectOptions,
  confirmContext,
  connectPatiently,
  useAsDefault,
} from "../connect/index.ts";
import { listenLocally } from "../explain/index.ts";
import { Profiling } from "../profiling/index.ts";
import {
  type LoadedOperator,
  loadOperators,
  resolveFiles,
  resolveModules,
  warnOfNoHandlers,
} from "../project/index.ts";
import { recordTo } from "../recording/index.ts";
import { openTape, type TapeFlags, type TapePlan, tapePlanOf } from "../tape/index.ts";
import type { Io } from "../terminal/index.ts";
import { type LogOptions, logSinkOf, Problem, type Stop, stopOnSignal } from "../terminal/index.ts";
import { announceRun } from "./announce-run.ts";
import { serveExplain, serveLiveness } from "./liveness.ts";
import { metricsAddress, serveMetrics } from "./metrics.ts";
import { precedenceOf } from "./precedence.ts";
import { checkPrecedence, coordinationFor, type PrecedenceFlags } from "./precedence-flags.ts";
import {
  checkCanShadow,
  printReports,
  readOnly,
  type ShadowFlags,
  type ShadowRun,
  shadowOf,
  untilQuiet,
  withoutDefaultWrites,
} from "./shadow.ts";
import { stopOnUncaught } from "./stop-on-uncaught.ts";
import { type WebhookFlags, webhooksOf } from "./webhook-flags.ts";

/** The flags of `lotse run`. */
export interface RunOptions extends ConnectOptions, LogOptions, WebhookFlags, PrecedenceFlags, ShadowFlags, TapeFlags {
  readonly namespace?: readonly string[] | undefined;
  readonly allNamespaces?: boolean | undefined;
  readonly installCrds?: boolean | undefined;
  /** Packages that export operators. */
  readonly module?: readonly string[] | undefined;
  /** The URL where health and metrics are served. */
  readonly liveness?: string | undefined;
  /** The URL where metrics are served to those who may read them, and nowhere else. */
  readonly metricsAuth?: string | undefined;
  /** The URL where questions about objects are answered, besides the socket of this process. */
  readonly explain?: string | undefined;
  /** Where SIGUSR2 has a profile written to. Default: the temporary folder. */
  readonly profileFolder?: string | undefined;
  readonly yes?: boolean | undefined;
  /** Does not start while permissions are missing. */
  readonly requirePermissions?: boolean | undefined;
}

/** Runs the operators of `files` until a signal asks them to stop. */
export async function run(files: readonly string[], options: RunOptions, io: Io): Promise<number> {
  namespacesOf(options);
  webhooksOf(options, io);
  shadowOf(options, io);
  checkPrecedence(options);
  tapePlanOf(options, io);
  if (options.metricsAuth !== undefined) metricsAddress(options.metricsAuth);
  const modules = await resolveModules(options.module ?? [], io.cwd);
  const named = files.length === 0 && modules.length > 0 ? [] : resolveFiles(files, io.cwd, "run");
  return runOperators(await loadOperators([...named, ...modules], io.cwd), options, io);
}

/** Runs operators that are loaded already. */
export async function runOperators(operators: readonly LoadedOperator[], options: RunOptions, io: Io): Promise<number> {
  const namespaces = namespacesOf(options);
  const shadow = shadowOf(options, io);
  if (shadow) checkCanShadow(operators);
  const tape = tapePlanOf(options, io);
  const log = logSinkOf(io, options);
  const logger = new Logger(log, () => Date.now());
  const stop = stopOnSignal(io);
  const escaped = stopOnUncaught(io, stop, logger);
  const profiling = new Profiling({ logger, clock: systemClock });
  const { profileFolder } = options;
  const ignoreProfiles = profiling.onSignal(io, profileFolder && path.resolve(io.cwd, profileFolder));
  try {
    const own = operators.filter(({ operator }) => bringsLogin(operator));
    if (own.length === operators.length) {
      logger.info("the operator brings its own credentials", {
        operator: own.map(({ operator }) => operator.name).join(", "),
      });
      if (options.dev) {
        logger.warn("the deployed operator cannot be paused with the operator's own credentials", {
          hint: "pause it with lotse freeze, or scale it down",
        });
      }
      await using _guard = shadow && (await withoutDefaultWrites());
      return await work({ operators, client: undefined, namespaces, options, shadow, tape, log, stop, profiling, io });
    }
    const onWarning = (text: string) => logger.warn("the cluster warns", { warning: text });
    const patience = { clock: systemClock, logger, signal: stop.signal };
    const connection = await connectPatiently(options, io, onWarning, patience);
    if (!connection) return 0;
    const chosen = options.kubeconfig !== undefined || options.context !== undefined;
    const release =
      chosen || shadow ? useAsDefault(shadow ? readOnly(connection.client) : connection.client) : undefined;
    try {
      if (!options.quiet) announceRun({ operators, connection, namespaces, options, shadow }, logger, io);
      warnOfNoHandlers(operators, logger);
      await confirmContext(connection.context, options.yes, io, stop.signal);
      const permissions = tellPermissions(operators, connection, namespaces, logger, options, stop, io);
      // Heard below, unless something worse has happened by then.
      permissions.catch(() => {});
      // Advice must not hold the operator back.
      if (options.requirePermissions) await permissions;
      const precedence = options.dev
        ? await takePrecedence(operators, connection, logger, options, stop, io)
        : undefined;
      let exitCode: number;
      try {
        const { client } = connection;
        exitCode = await work({ operators, client, namespaces, options, shadow, tape, log, stop, profiling, io });
      } finally {
        await precedence?.end();
      }
      await permissions;
      return exitCode;
    } finally {
      release?.();
      await connection.client.close();
    }
  } finally {
    stop[Symbol.dispose]();
    escaped.end();
    ignoreProfiles();
  }
}

/** The deployed operators pause from now on. */
async function takePrecedence(
  operators: readonly LoadedOperator[],
  { client }: Connection,
  logger: Logger,
  flags: RunOptions,
  { signal }: Stop,
  io: Io,
): Promise<{ end(): Promise<void> }> {
  const command = "lotse run --dev";
  const precedence = await precedenceOf({ client, logger, io, signal, flags, command, required: true });
  try {
    await precedence.take(operators.map(({ operator }) => operator));
  } catch (error) {
    await precedence.end();
    throw error;
  }
  return precedence;
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
  const { shadow } = options;
  const crds = shadow
    ? "wait"
    : options.installCrds === undefined
      ? undefined
      : options.installCrds
        ? "install"
        : "wait";
  const required = options.requirePermissions;
  const { signal } = stop;
  const asked = webhookQuestion(client, options, io);
  const metricsAuth = options.metricsAuth !== undefined;
  const question = {
    operators: ours,
    client,
    user,
    namespaces,
    crds,
    ...asked,
    metricsAuth,
    coordination: (own: Coordination | undefined) =>
      planCoordination(shadow ? "alone" : (coordinationFor(own, options) ?? own)),
    logger,
    required,
    signal,
  } as const;
  await tellMissingPermissions(question, options, io);
}

/** Replicas behind a Service share their certificate in a Secret; a process at a URL keeps its own to itself. */
function webhookQuestion(client: Client, options: RunOptions, io: Io) {
  const { register = true, certificates = "own", service, url } = webhooksOf(options, io);
  const registers = register && !options.shadow ? ("operator" as const) : ("nobody" as const);
  const behindService = service !== undefined || (client.config.source === "in-cluster" && url === undefined);
  const keepsSecret = certificates === "own" && behindService && !options.shadow;
  return {
    webhooks: { registers, keepsSecret },
    ownNamespace: (typeof service === "object" ? service.namespace : undefined) ?? (io.env.POD_NAMESPACE || undefined),
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

/** What is to be run, and how. */
interface Run {
  readonly operators: readonly LoadedOperator[];
  /** Undefined where operators bring their own credentials. */
  readonly client: Client | undefined;
  readonly namespaces: readonly string[] | undefined;
  readonly options: RunOptions;
  readonly shadow: ShadowRun | undefined;
  readonly tape: TapePlan | undefined;
  readonly log: LogSink;
  readonly stop: Stop;
  readonly profiling: Profiling;
  readonly io: Io;
}

/** All operators until `stop`, or until one of them fails; then the others are stopped too. Returns the exit code. */
async function work(run: Run): Promise<number> {
  const tape = run.tape && (await openTape(run.tape, tapeSubjects(run)));
  // Objects of handlers that name no client use the recorded one, too.
  const release = tape && useAsDefault(tape.client);
  try {
    return await workOn(run, tape);
  } finally {
    release?.();
    await tape?.close();
  }
}

function tapeSubjects({ operators, client, namespaces, options, log, stop }: Run) {
  const { installCrds } = options;
  return {
    operators: operators.map(({ operator }) => operator),
    client,
    start: {
      ...(namespaces && { namespaces }),
      ...(installCrds !== undefined && { crds: installCrds ? ("install" as const) : ("wait" as const) }),
    },
    signal: stop.signal,
    logger: new Logger(log, () => Date.now()),
  };
}

async function workOn(run: Run, tape: TapeRecorder | undefined): Promise<number> {
  const { client, options, shadow, log, stop, profiling, io } = run;
  let running: readonly RunningOperator[] = [];
  // Before anything is done: a port that is taken shall be told at once.
  const endpoints: (Endpoints | undefined)[] = [];
  try {
    const { liveness, metricsAuth } = options;
    const guarded = metricsAuth !== undefined;
    if (liveness !== undefined) endpoints.push(await serveLiveness(liveness, () => running, { guarded }));
    if (guarded) {
      const logger = new Logger(log, () => Date.now());
      endpoints.push(await serveMetrics(metricsAuth, client, logger, () => running));
    }
    if (options.explain !== undefined) endpoints.push(await serveExplain(options.explain, () => running));
    endpoints.push(await listenLocally(io, () => running, profiling.besides));
    running = begin(run, tape);
    const stopped = Promise.all(running.map((one) => one.stopped));
    if (shadow?.quietMs !== undefined) {
      // Cannot reject.
      void untilQuiet(running, shadow.quietMs, stop.signal).then(() => stop.request());
    }
    await stopped;
    return shadow ? printReports(running, options, io) : 0;
  } finally {
    await Promise.allSettled(running.map((one) => one.stop()));
    await Promise.all(endpoints.map((one) => one?.close()));
  }
}

function begin(
  { operators, client, namespaces, options, shadow, log, stop, io }: Run,
  tape: TapeRecorder | undefined,
): RunningOperator[] {
  const record = recordTo(io);
  const webhooks = webhooksOf(options, io);
  const together = operators.length > 1 ? new Together(operators.map(({ operator }) => operator)) : undefined;
  return operators.map(({ operator }) => {
    const coordination = coordinationFor(operator.options?.coordination, options);
    const start: TogetherOptions = {
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
      ...(shadow && { shadow: shadow.options }),
      ...(coordination && { coordination }),
      webhooks,
      together,
      ...(tape && { client: tape.client, clock: tape.clock, random: tape.random, signal: tape.signal }),
    };
    return operator.start(start);
  });
}
