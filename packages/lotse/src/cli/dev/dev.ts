/** `lotse dev`: a cluster, the operator on it, the console if it is installed, and a new start at each save. */
import path from "node:path";
import type { Client } from "@lotse/client";
import { harmless, systemClock } from "@lotse/client/meta";
import type { WebhookOptions } from "../../declare/index.ts";
import type { RunningOperator } from "../../operator/index.ts";
import { jsonSink, Logger, type LogRecord, type LogSink, minLevel } from "../../report/index.ts";
import { confirmContext, useAsDefault } from "../connect/index.ts";
import { listenLocally } from "../explain/index.ts";
import { type ConsoleServer, importConsole, shellWord } from "../local-cluster/index.ts";
import { Profiling } from "../profiling/index.ts";
import {
  kindNames,
  kindsOf,
  kubectlName,
  type LoadedOperator,
  loadOperators,
  ModuleLoader,
  resolveFiles,
  shownPath,
  warnOfNoHandlers,
  watchFolder,
} from "../project/index.ts";
import { type RecordRequest, recordBeside, recordedInContext } from "../recording/index.ts";
import { type WebhookFlags, webhooksOf } from "../run/index.ts";
import type { Io, LogOptions } from "../terminal/index.ts";
import {
  type AnnouncedLine,
  announce,
  formatProblem,
  type Stop,
  stopOnSignal,
  wantsColours,
} from "../terminal/index.ts";
import { checkDevOptions, type DevCluster, type DevClusterOptions, openDevCluster } from "./cluster.ts";
import { DevCrashes } from "./crashes.ts";
import { followEvents } from "./events.ts";
import { HandlerContext } from "./handler-context.ts";
import { actionOf, KEYS, keyHelp } from "./keys.ts";
import { devLines, devSink, type EventNote, eventRecord } from "./log.ts";
import { overview, overviewLines, retryAll } from "./overview.ts";
import { DevRights } from "./rights.ts";
import { TakeOver } from "./take-over.ts";
import { DevWebhooks } from "./webhooks.ts";
import { Workbench } from "./workbench.ts";

/** The flags of `lotse dev`. */
export interface DevOptions extends LogOptions, DevClusterOptions, WebhookFlags {
  readonly console?: boolean | undefined;
  readonly output?: "json" | undefined;
  readonly yes?: boolean | undefined;
}

/** What a shell reports for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Runs until the user asks it to stop. */
export async function dev(file: string | undefined, options: DevOptions, io: Io): Promise<number> {
  checkDevOptions(options);
  const webhooks = webhooksOf(options, io);
  const [absolute = ""] = resolveFiles(file === undefined ? [] : [file], io.cwd, "dev");
  const stop = stopOnSignal(io);
  try {
    const session = new DevSession(absolute, options, webhooks, io, stop);
    const cluster = await openDevCluster(absolute, options, io, (text) => session.warn(text));
    const release = session.survive();
    try {
      await session.run(cluster);
    } finally {
      await cluster.close();
      release();
    }
  } finally {
    stop[Symbol.dispose]();
  }
  return 0;
}

/** One call of `lotse dev`, from its first line to its last. */
class DevSession {
  readonly #file: string;
  readonly #shown: string;
  readonly #options: DevOptions;
  readonly #webhooks: WebhookOptions;
  readonly #io: Io;
  readonly #stop: Stop;
  readonly #write: { readonly log: LogSink; readonly event: (note: EventNote) => void };
  readonly #logger: Logger;
  #bench: Workbench | undefined;
  #console: ConsoleServer | undefined;
  readonly #handlers = new HandlerContext();
  readonly #crashes: DevCrashes;
  #showsEvents = true;
  /** Lines that wait for the announcement: what there is to know comes first. */
  #held: LogRecord[] | undefined = [];

  constructor(file: string, options: DevOptions, webhooks: WebhookOptions, io: Io, stop: Stop) {
    this.#file = file;
    this.#shown = shownPath(file, io.cwd);
    this.#options = options;
    this.#webhooks = webhooks;
    this.#io = io;
    this.#stop = stop;
    this.#write = writerOf(options, io, () => this.#kinds);
    this.#logger = new Logger(
      (record) => this.#log(record),
      () => Date.now(),
    );
    this.#crashes = new DevCrashes({
      handlers: this.#handlers,
      logger: this.#logger,
      tell: (problem) => this.#tell(problem),
      restart: (why) => this.#reload(why),
      clock: systemClock,
    });
  }

  /** Until the returned function is called, an error that no code caught restarts the operator, and ends nothing. */
  survive(): () => void {
    const release = this.#io.onUncaught((error, origin) => this.#crashes.happened(error, origin));
    return () => {
      this.#crashes.close();
      release();
    };
  }

  /** The cluster has something to say about a request. */
  warn(text: string): void {
    this.#logger.warn("the cluster warns", { warning: text });
  }

  async run(cluster: DevCluster): Promise<void> {
    const { client } = cluster;
    const { namespace: namespaces, output, yes } = this.#options;
    // A real cluster is named before anything happens to it.
    if (cluster.real && output !== "json") this.#announce(cluster);
    await confirmContext(cluster.context, yes, this.#io, this.#stop.signal);
    if (this.#stop.signal.aborted) return;
    const loader = new ModuleLoader();
    const record = recordBeside(this.#file, this.#logger, this.#io);
    const rights = this.#rights(cluster, record);
    const webhooks = new DevWebhooks(this.#webhooks, cluster.real);
    const takeOver = await this.#takeOver(cluster);
    // Before the first load: a file that chooses a default client of its own shall have it.
    const release = useAsDefault(recordedInContext(client, this.#handlers, record));
    const bench = new Workbench({
      start: async (operators, again) => {
        await takeOver?.begin(operators);
        const rightsOf = await rights?.grant(operators);
        const webhooksOf = await webhooks.prepare(operators.map(({ operator }) => operator.name));
        const [first] = operators;
        const account = first && rightsOf?.(first).client;
        if (account) useAsDefault(recordedInContext(account, this.#handlers, record));
        return (one) => ({
          client,
          log: (record) => this.#log(record),
          events: "all",
          // A user who has just mended a handler wants to see it work, and not the rest of a delay.
          retryAtStart: again || !cluster.real,
          ...(record && { record }),
          ...(cluster.crds && { crds: cluster.crds }),
          ...(namespaces && namespaces.length > 0 && { namespaces }),
          webhooks: webhooksOf(one.operator.name),
          ...takeOver?.startOf(one),
          ...rightsOf?.(one),
        });
      },
      load: async () => {
        const operators = await loadOperators([this.#file], this.#io.cwd, loader);
        this.#handlers.follow(operators);
        return operators;
      },
      onWorking: (operators) => {
        warnOfNoHandlers(operators, this.#logger);
        this.#console?.show(kindsOf(operators));
      },
      onBroken: (error, stillRunning) => this.#broken(error, stillRunning),
    });
    this.#bench = bench;
    // Before the first load: a save during it must not be missed.
    const unwatch = watchFolder(path.dirname(this.#file), (name) => {
      this.#crashes.forget();
      this.#reload(`${name} was saved`);
    });
    const keys = this.#io.onKey?.((key) => this.#pressed(key, client));
    const profiling = new Profiling({ logger: this.#logger, clock: systemClock });
    const socket = await listenLocally(this.#io, () => this.#running, profiling.besides);
    const ended = new AbortController();
    const events = this.#followEvents(client, ended.signal);
    try {
      await bench.reload();
      if (this.#options.console !== false) this.#console = await this.#startConsole(client);
      if (!cluster.real || output === "json") this.#announce(cluster);
      else if (this.#console) this.#logger.info("the console is open", { url: this.#console.url });
      await this.#stop.requested;
      this.#crashes.close();
      if (this.#io.onKey) this.#logger.info("stopping, a second Ctrl-C ends it at once");
    } finally {
      unwatch();
      await socket?.close();
      await bench.close();
      await takeOver?.end();
      release();
      await rights?.close();
      ended.abort();
      await events;
      await this.#console?.stop();
      this.#handlers.end();
      // Last, because until the end the user may lose patience.
      keys?.();
    }
  }

  /** Whoever is deployed on a real cluster pauses while the developer works there. */
  async #takeOver({ real, client }: DevCluster): Promise<TakeOver | undefined> {
    const [io, logger, { signal }] = [this.#io, this.#logger, this.#stop];
    return real ? TakeOver.on({ client, logger, io, signal }) : undefined;
  }

  #rights({ client: admin, connectAs }: DevCluster, record: RecordRequest | undefined): DevRights | undefined {
    if (!connectAs) return undefined;
    const { namespace: namespaces } = this.#options;
    const { signal } = this.#stop;
    return new DevRights({
      admin,
      connectAs,
      namespaces,
      handlers: this.#handlers,
      logger: this.#logger,
      signal,
      record,
      io: this.#io,
    });
  }

  get #operators(): readonly LoadedOperator[] {
    const state = this.#bench?.state;
    return state?.phase === "working" ? state.operators : [];
  }

  get #running(): readonly RunningOperator[] {
    const state = this.#bench?.state;
    return state?.phase === "working" ? state.running : [];
  }

  get #kinds(): number {
    return this.#operators.reduce((sum, { operator }) => sum + operator.resources.length, 0);
  }

  #log(record: LogRecord): void {
    if (this.#held) this.#held.push(record);
    else this.#write.log(record);
    this.#console?.sink(record);
  }

  #reload(why: string): void {
    this.#logger.info("loading the operator anew", { file: this.#shown, why });
    void this.#bench?.reload();
  }

  #broken(error: unknown, stillRunning: boolean): void {
    this.#tell(error);
    this.#logger.warn(
      stillRunning
        ? "the operator runs on as it was before, until the file is mended"
        : "no operator is running, waiting for the next save",
      { file: this.#shown },
    );
  }

  #tell(error: unknown): void {
    const { stderr, env } = this.#io;
    stderr.write(formatProblem(error, { verbose: this.#options.verbose, colours: wantsColours(stderr, env) }));
  }

  #followEvents(client: Client, signal: AbortSignal): Promise<void> {
    return followEvents(client, signal, {
      watched: () => ({
        operators: this.#operators.map(({ operator }) => operator.name),
        // Perhaps of another copy of the package, which cannot be asked.
        // Streams that only help to know something sooner are not of handled objects.
        streams: this.#running
          .flatMap((one) => (one as Partial<RunningOperator>).health?.().streams ?? [])
          .filter(({ optional }) => !optional),
      }),
      onEvent: (note) => {
        if (this.#showsEvents && !this.#options.quiet) this.#write.event(note);
      },
      onTrouble: (error) => this.#logger.debug("Kubernetes Events cannot be shown at present", { error }),
      now: () => Date.now(),
    });
  }

  async #startConsole(client: Client): Promise<ConsoleServer | undefined> {
    try {
      const found = await importConsole();
      return await found?.startConsole({ client, kinds: kindsOf(this.#operators) });
    } catch (error) {
      // The operator is what one develops; it goes on without its picture.
      this.#logger.warn("the console does not start", { error, hint: "leave it out with --no-console" });
      return undefined;
    }
  }

  #pressed(key: string, client: Client): void {
    const { stdout } = this.#io;
    switch (actionOf(key)) {
      case "help":
        stdout.write(keyHelp(this.#showsEvents));
        break;
      case "restart":
        this.#crashes.forget();
        this.#reload("you asked for it");
        break;
      case "objects":
        void this.#show("the objects cannot be listed", async () =>
          overviewLines(await overview(client, this.#operators, this.#running), Date.now()),
        );
        break;
      case "retry":
        void this.#show("the objects cannot be listed", () => retryAll(client, this.#operators, this.#running));
        break;
      case "events":
        this.#showsEvents = !this.#showsEvents;
        stdout.write(`Kubernetes Events are ${this.#showsEvents ? "shown" : "hidden"}\n`);
        break;
      case "interrupt":
        // The first one asks, the second one does not.
        if (this.#stop.signal.aborted) this.#io.exit(INTERRUPTED);
        this.#stop.request();
        break;
      case "quit":
        this.#stop.request();
        break;
    }
  }

  /** Never rejects. */
  async #show(problem: string, find: () => Promise<readonly string[]>): Promise<void> {
    try {
      this.#io.stdout.write(`${(await find()).map(harmless).join("\n")}\n`);
    } catch (error) {
      this.#logger.warn(problem, { error });
    }
  }

  #announce(cluster: DevCluster): void {
    this.#tellCluster(cluster);
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const record of held) this.#write.log(record);
  }

  #tellCluster({ real, url, context, kubeconfig, announced: ofCluster }: DevCluster): void {
    const { stdout, env, onKey } = this.#io;
    const operators = this.#operators;
    const file = this.#shown;
    if (this.#options.output === "json") {
      const names = operators.map(({ operator }) => operator.name);
      const milliseconds = Math.round(this.#io.uptime());
      const line = { url, context, kubeconfig, console: this.#console?.url, file, operators: names, milliseconds };
      stdout.write(`${JSON.stringify(line)}\n`);
      return;
    }
    const names = operators.map(({ operator }) => `${operator.name}: ${kindNames(operator)}`).join("; ");
    const lines: AnnouncedLine[] = [
      ...ofCluster,
      ...(this.#console ? [["console", this.#console.url] as AnnouncedLine] : []),
      ...(this.#options.namespace ? [["namespaces", this.#options.namespace.join(", ")] as AnnouncedLine] : []),
      ...(real
        ? []
        : ([
            ["operator", names || "none yet"],
            ["use it", `export KUBECONFIG=${shellWord(kubeconfig ?? "")}`],
            ["try it", `kubectl get ${kubectlName(operators) ?? "pods"} --all-namespaces`],
          ] as AnnouncedLine[])),
      ["reload", `save ${file}`],
      ...(onKey ? [["keys", KEYS] as AnnouncedLine] : []),
    ];
    announce(stdout, `Developing ${file}${real ? " on a real cluster" : ""}`, lines, wantsColours(stdout, env));
  }
}

/** Where lines go to. A developer reads the log, wherever it goes to; hence JSON only for those who ask for it. */
function writerOf(
  options: DevOptions,
  io: Io,
  kinds: () => number,
): { readonly log: LogSink; readonly event: (note: EventNote) => void } {
  const least = options.quiet ? "warn" : options.verbose ? "debug" : "info";
  if (options.logFormat === "json") {
    const log = minLevel(least, jsonSink(io.stderr));
    return { log, event: (note) => log(eventRecord(note)) };
  }
  const lines = devLines({ colours: wantsColours(io.stderr, io.env), cwd: io.cwd, kinds });
  return { log: devSink(lines, io.stderr, least), event: (note) => void io.stderr.write(lines.event(note)) };
}
