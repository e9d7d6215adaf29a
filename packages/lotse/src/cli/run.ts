/** `lotse run`: operators against a cluster that is there. */
import type { Client } from "@lotse/client";
import type { Operator } from "../operator/index.ts";
import { Logger, type LogSink } from "../report/index.ts";
import { wantsColours } from "./colours.ts";
import { type Connection, type ConnectOptions, connect } from "./connect.ts";
import { kindNames } from "./describe.ts";
import { type Fact, writeFacts } from "./facts.ts";
import type { Io } from "./io.ts";
import { type LoadedOperator, loadOperators, resolveFiles } from "./load.ts";
import { type LogOptions, logFormatOf, logSinkOf } from "./output.ts";
import { Problem } from "./problem.ts";
import { type Stop, stopOnSignal } from "./signals.ts";

/** The flags of `lotse run`. */
export interface RunOptions extends ConnectOptions, LogOptions {
  readonly namespace?: readonly string[] | undefined;
  readonly allNamespaces?: boolean | undefined;
  readonly installCrds?: boolean | undefined;
}

/** Runs the operators of `files` until somebody asks them to stop. */
export async function run(files: readonly string[], options: RunOptions, io: Io): Promise<number> {
  const namespaces = namespacesOf(options);
  const operators = await loadOperators(resolveFiles(files, io.cwd, "run"), io.cwd);
  const log = logSinkOf(io, options);
  const logger = new Logger(log, () => Date.now());
  const stop = stopOnSignal(io);
  try {
    const own = operators.filter(({ operator }) => bringsLogin(operator));
    if (own.length === operators.length) {
      logger.info("the operator brings its own credentials", {
        operator: own.map(({ operator }) => operator.name).join(", "),
      });
      await work(operators, undefined, namespaces, options, log, stop);
      return 0;
    }
    const connection = await connect(options, io, (text) => logger.warn("the cluster warns", { warning: text }));
    try {
      if (!options.quiet) announce(operators, connection, namespaces, logger, options, io);
      await work(operators, connection.client, namespaces, options, log, stop);
    } finally {
      await connection.client.close();
    }
  } finally {
    stop[Symbol.dispose]();
  }
  return 0;
}

function bringsLogin(operator: Operator): boolean {
  // Perhaps of another copy of the package, which does not know of logins.
  return (operator as Partial<Operator>).lifecycle?.some(({ type }) => type === "login") ?? false;
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
): Promise<void> {
  const running = operators.map(({ operator }) =>
    operator.start({
      // Login handlers are asked by an operator that connects by itself.
      ...(client && !bringsLogin(operator) && { client }),
      log,
      signal: stop.signal,
      ...(namespaces && { namespaces }),
      ...(options.installCrds && { crds: "install" as const }),
    }),
  );
  try {
    await Promise.all(running.map(({ stopped }) => stopped));
  } finally {
    await Promise.allSettled(running.map((one) => one.stop()));
  }
}

function announce(
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
  const facts: Fact[] = [
    ["cluster", [server, context && `context ${context}`, version].filter(Boolean).join(", ")],
    ["identity", user ?? "not told by the cluster"],
    ["namespaces", namespaces?.join(", ") ?? "all"],
    ...operators.map(({ operator }): Fact => [operators.length > 1 ? operator.name : "kinds", kindNames(operator)]),
  ];
  const names = operators.map(({ operator, file }) => `${operator.name} (${file})`).join(", ");
  writeFacts(io.stdout, names, facts, wantsColours(io.stdout, io.env));
}
