/** `lotse dev`: a cluster, the operator on it, the console if it is installed, and a new start at each save. */
import path from "node:path";
import type { Client } from "@lotse/client";
import { Logger, type LogRecord, type LogSink } from "../report/index.ts";
import { wantsColours } from "./colours.ts";
import { kindNames, kindsOf, kubectlName } from "./describe.ts";
import { type Fact, writeFacts } from "./facts.ts";
import type { Io } from "./io.ts";
import { loadOperators, resolveFiles, shownPath } from "./load.ts";
import { type KubeletChoice, type LocalCluster, shellWord, startLocalCluster } from "./local-cluster.ts";
import { listenLocally } from "./local-socket.ts";
import { ModuleLoader } from "./module-loader.ts";
import { type ConsoleServer, importConsole } from "./optional.ts";
import { type LogOptions, logSinkOf } from "./output.ts";
import { formatProblem } from "./problem.ts";
import { projectSettings } from "./project.ts";
import { type Stop, stopOnSignal } from "./signals.ts";
import { watchFolder } from "./watch-folder.ts";
import { Workbench } from "./workbench.ts";

/** The flags of `lotse dev`. */
export interface DevOptions extends LogOptions {
  readonly port?: number | undefined;
  readonly console?: boolean | undefined;
  readonly output?: "json" | undefined;
  readonly kubelet?: KubeletChoice | undefined;
}

const KEYS = "r reload, q quit, h help";
const CTRL_C = "\x03";

/** Runs until somebody asks it to stop. */
export async function dev(file: string | undefined, options: DevOptions, io: Io): Promise<number> {
  const [absolute = ""] = resolveFiles(file === undefined ? [] : [file], io.cwd, "dev");
  const stop = stopOnSignal(io);
  try {
    const kubelet = options.kubelet ?? projectSettings(absolute).kubelet;
    const local = await startLocalCluster({ port: options.port, kubelet }, io);
    try {
      const client = await local.cluster.connect();
      try {
        await develop(absolute, options, io, stop, local, client);
      } finally {
        await client.close();
      }
    } finally {
      await local.cluster.stop();
    }
  } finally {
    stop[Symbol.dispose]();
  }
  return 0;
}

async function develop(
  file: string,
  options: DevOptions,
  io: Io,
  stop: Stop,
  local: LocalCluster,
  client: Client,
): Promise<void> {
  const shown = shownPath(file, io.cwd);
  // A developer reads the log, wherever it goes to.
  const ownLog = logSinkOf(io, { ...options, logFormat: options.logFormat ?? "pretty" });
  const upAfter = Math.round(io.uptime());
  let server: ConsoleServer | undefined;
  const log: LogSink = (record: LogRecord) => {
    ownLog(record);
    server?.sink(record);
  };
  const logger = new Logger(log, () => Date.now());
  const loader = new ModuleLoader();
  const bench = new Workbench({
    client,
    log,
    load: () => loadOperators([file], io.cwd, loader),
    onWorking: (operators) => server?.show(kindsOf(operators)),
    onBroken: (error) => {
      io.stderr.write(formatProblem(error, { verbose: options.verbose, colours: wantsColours(io.stderr, io.env) }));
      logger.warn("no operator is running, waiting for the next save", { file: shown });
    },
  });
  const reload = (why: string) => {
    logger.info("loading the operator anew", { file: shown, why });
    void bench.reload();
  };
  const releases: (() => void)[] = [];
  try {
    // Before the first load: a save during it must not be missed.
    releases.push(watchFolder(path.dirname(file), (name) => reload(`${name} was saved`)));
    const socket = await listenLocally(io, () => (bench.state.phase === "working" ? bench.state.running : []));
    if (socket) releases.push(() => void socket.close());
    await bench.reload();
    if (options.console !== false) server = await startConsole(client, bench, logger);
    announce(shown, options, io, local, bench, server, upAfter);
    if (io.onKey) releases.push(io.onKey((key) => onKey(key, io, stop, () => reload("you asked for it"))));
    await stop.requested;
  } finally {
    for (const release of releases) release();
    await bench.close();
    await server?.stop();
  }
}

async function startConsole(client: Client, bench: Workbench, logger: Logger): Promise<ConsoleServer | undefined> {
  try {
    const found = await importConsole();
    const operators = bench.state.phase === "working" ? bench.state.operators : [];
    return await found?.startConsole({ client, kinds: kindsOf(operators) });
  } catch (error) {
    // The operator is what one develops; it goes on without its picture.
    logger.warn("the console does not start", { error, hint: "leave it out with --no-console" });
    return undefined;
  }
}

function onKey(key: string, io: Io, stop: Stop, reload: () => void): void {
  if (key === "r") reload();
  else if (key === "q" || key === CTRL_C) stop.request();
  else if (key === "h" || key === "?") io.stdout.write(`${KEYS}\n`);
}

function announce(
  file: string,
  options: DevOptions,
  io: Io,
  { cluster, kubeconfig }: LocalCluster,
  bench: Workbench,
  server: ConsoleServer | undefined,
  milliseconds: number,
): void {
  const { state } = bench;
  const operators = state.phase === "working" ? state.operators : [];
  if (options.output === "json") {
    const names = operators.map(({ operator }) => operator.name);
    const line = { url: cluster.url, kubeconfig, console: server?.url, file, operators: names, milliseconds };
    io.stdout.write(`${JSON.stringify(line)}\n`);
    return;
  }
  const [kind] = kindsOf(operators);
  const facts: Fact[] = [
    ["cluster", `${cluster.url}, up after ${milliseconds} ms`],
    ...(server ? [["console", server.url] as Fact] : []),
    ["operator", operators.map(({ operator }) => `${operator.name}: ${kindNames(operator)}`).join("; ") || "none yet"],
    ["use it", `export KUBECONFIG=${shellWord(kubeconfig)}`],
    ["try it", `kubectl get ${kind === undefined ? "pods" : kubectlName(kind)} --all-namespaces`],
    ["reload", `save ${file}${io.onKey ? `; keys: ${KEYS}` : ""}`],
  ];
  writeFacts(io.stdout, `Developing ${file}`, facts, wantsColours(io.stdout, io.env));
}
