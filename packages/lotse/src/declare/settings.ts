/**
 * How an operator works: groups of settings, each with a default. They are given to `new Operator(...)`, and `on.startup`
 * handlers may still change them; from then on they stay as they are.
 */
import { type Duration, durationMs, type FieldSelectorInput, type LabelSelectorInput } from "@lotse/client/meta";
import type { LogLevel } from "../report/index.ts";
import { type Backoff, type BackoffPlan, planBackoff } from "./backoff.ts";
import { DeclarationError } from "./errors.ts";
import type { FieldPath } from "./field-path.ts";
import { HANDLER_ORDERS, type HandlerOrder } from "./handler-order.ts";
import { type KindSelectors, planFieldSelectors, planLabelSelectors, type SelectorPlan } from "./server-selectors.ts";
import type { RecordStorage } from "./storage.ts";

/** How the operator stops. */
export interface ProcessSettings {
  /** How long running handlers may take to end when the operator stops. Default 10 s. */
  graceful: Duration;
  /**
   * How long the whole stop may take: what handlers have done is written down, Events are posted and cleanup handlers run
   * in what is left of it. A server that does not answer is given up three seconds before, and what could not be written
   * is named in the log. When something else does not come to its end, `stopped` rejects. Default: `graceful` (or the
   * longest grace of a daemon) and 5 s, which is less than the 30 s that Kubernetes gives a pod.
   */
  killAfter: Duration | undefined;
}

/** Kubernetes Events about objects. */
export interface PostingSettings {
  /**
   * Which are posted: those that warn, all (also when a handler succeeds), or none. Default `"warnings"`; `lotse dev`
   * posts all.
   */
  events: "all" | "warnings" | "none";
  /** Log lines about an object that are posted as Events too, from this level up. Default `"none"`. */
  logs: LogLevel | "none";
  /** Who reports. Default: the operator's name. */
  component: string;
  /** Which of its processes reports. Default: `$POD_NAME`, else the component. */
  instance: string;
}

/** Streams of objects. */
export interface WatchingSettings {
  /** A stream that is silent for so long is taken for dead. Default 90 s: servers send a bookmark about every minute. */
  inactivity: Duration;
  /** For how long a server is asked to keep one stream open; half as long at the least. Default 10 min. */
  serverTimeout: Duration;
  /**
   * The wait before a stream that failed is opened again. Default: 0.8 s growing to 30 s, to 1 min while the list is
   * forbidden, to 10 s while there is no such kind; and while the API server is away, one stream looks every 2.5 s whether
   * it is back (every 15 s in the end). Whatever is set here, streams are opened as soon as the server is seen to answer again.
   */
  reconnect: Backoff | undefined;
  /** How many objects are listed in one request. Default 500. */
  pageSize: number;
  /**
   * Which objects of a kind the server is asked for, by their labels; all others are neither sent nor known. A kind is
   * named as everywhere; all entries that name it count together. Default: all objects.
   *
   * An object that leaves the selection is no longer looked after, as if it were not there: its daemons and timers end, no
   * handler is called, and **its finalizer stays**. If it is deleted then, it waits until somebody takes the finalizer off,
   * or it comes back into the selection. `on.event` sees it as `DELETED`. So select by labels that objects keep.
   *
   * @example
   * ```ts
   * settings.watching.labelSelectors = { pods: "app=web", "deployments.apps": { tier: ["web", "db"] } };
   * settings.watching.labelSelectors = [[Pod, "app=web"], [everything.in({ group: "example.com" }), "managed=yes"]];
   * ```
   */
  labelSelectors: KindSelectors<LabelSelectorInput>;
  /**
   * The same by their fields, as far as the server knows them: `metadata.name`, `metadata.namespace`, those of some
   * built-in kinds, and `selectableFields` of `resource()`. What a server does not know it refuses, and the stream waits.
   *
   * @example
   * ```ts
   * settings.watching.fieldSelectors = { pods: "spec.nodeName=node-1", secrets: { type: "kubernetes.io/tls" } };
   * ```
   */
  fieldSelectors: KindSelectors<FieldSelectorInput>;
  /**
   * `"auto"`: a stream begins with a watch that sends all objects (`sendInitialEvents`), which costs the server less than
   * a list. Where the server refuses or ignores that, objects are listed, and the log says why. Default `"never"`.
   */
  initialStreaming: "never" | "auto";
}

/** Whose turn it is. */
export interface QueueingSettings {
  /** How many objects of one kind are worked on at the same time. Default 10. */
  concurrency: number;
  /** The wait after an error of the framework itself (a filter that throws, a patch that is refused), for one object. */
  errorBackoff: Backoff;
  /** More own changes to one object than this in a minute, with no foreign one between them, are a loop. Default 20. */
  hotLoop: number;
}

/** Kinds and namespaces that come and go. */
export interface ScanningSettings {
  /** Take the kinds and namespaces that there are at the start, and look for no others. Default `false`. */
  disabled: boolean;
  /** How often to look for new kinds where their CRDs cannot be watched. Default 30 s. */
  interval: Duration;
}

/** Handlers. */
export interface ExecutionSettings {
  /** The wait between attempts of handlers that do not say. Default: exponential, 1 s to 5 min. */
  backoff: Backoff;
  /** The order of the handlers of an object. Default `"inOrder"`. */
  lifecycle: HandlerOrder;
  /** Say so when a handler keeps everybody else from running for so long. Default 500 ms. */
  blockedAfter: Duration;
  /** Say so when an attempt has not ended after so long, and again after twice the time. Daemons may. Default 2 min. */
  slowAfter: Duration;
}

/** Daemons and timers. */
export interface BackgroundSettings {
  /** How long a daemon may take to end after its signal, before it is abandoned. Default: as `process.graceful`. */
  grace: Duration | undefined;
}

/** Requests of the operator and of its handlers' `client`. */
export interface NetworkingSettings {
  /** For each call, retries included. Default: the client's, 30 s. */
  requestTimeout: Duration | undefined;
}

/** What the operator remembers on objects. */
export interface PersistenceSettings {
  /** Default: the status of kinds made by `resource()`, an annotation elsewhere. */
  storage: RecordStorage | undefined;
  /** The finalizer's name. Default `<operator>.lotse.dev/finalizer`, or the storage's. */
  finalizer: string | undefined;
  /** Fields whose changes do not matter, for every kind: `["metadata.annotations", "spec.replicas"]`. Default none. */
  ignore: readonly FieldPath[];
}

/**
 * See the module comment.
 *
 * @example
 * ```ts
 * operator.on.startup(async function configure({ settings }) {
 *   settings.posting.events = "all";
 *   settings.execution.backoff = "30s";
 *   settings.watching.inactivity = "2m";
 * });
 * ```
 */
export interface Settings {
  readonly process: ProcessSettings;
  readonly posting: PostingSettings;
  readonly watching: WatchingSettings;
  readonly queueing: QueueingSettings;
  readonly scanning: ScanningSettings;
  readonly execution: ExecutionSettings;
  readonly background: BackgroundSettings;
  readonly networking: NetworkingSettings;
  readonly persistence: PersistenceSettings;
}

/** Some of the settings. */
export type SettingsInput = { readonly [Group in keyof Settings]?: Partial<Settings[Group]> };

/** Settings, after the startup handlers. */
export type FixedSettings = { readonly [Group in keyof Settings]: Readonly<Settings[Group]> };

/** All settings of the operator `name`: what `input` says, else the defaults. */
export function settingsOf(
  name: string,
  input: SettingsInput = {},
  env: Readonly<Record<string, string | undefined>> = {},
): Settings {
  for (const group of Object.keys(input)) {
    if (!(group in GROUPS))
      throw new DeclarationError(`there are no settings "${group}"`, {
        hint: `the groups are ${Object.keys(GROUPS).join(", ")}`,
      });
  }
  const component = input.posting?.component ?? name;
  return {
    process: { graceful: "10s", killAfter: undefined, ...input.process },
    posting: { events: "warnings", logs: "none", component, instance: env.POD_NAME || component, ...input.posting },
    watching: {
      inactivity: "90s",
      serverTimeout: "10m",
      reconnect: undefined,
      pageSize: 500,
      labelSelectors: {},
      fieldSelectors: {},
      initialStreaming: "never",
      ...input.watching,
    },
    queueing: {
      concurrency: 10,
      errorBackoff: { initial: "1s", factor: 2, max: "10m", jitter: 0 },
      hotLoop: 20,
      ...input.queueing,
    },
    scanning: { disabled: false, interval: "30s", ...input.scanning },
    execution: { backoff: {}, lifecycle: "inOrder", blockedAfter: "500ms", slowAfter: "2m", ...input.execution },
    background: { grace: undefined, ...input.background },
    networking: { requestTimeout: undefined, ...input.networking },
    persistence: { storage: undefined, finalizer: undefined, ignore: [], ...input.persistence },
  };
}

/** {@link Settings} with durations read and defaults that depend on others filled in. */
export interface SettingsPlan {
  readonly gracefulMs: number;
  /** Undefined: as long as the longest grace, and five seconds. */
  readonly killAfterMs: number | undefined;
  readonly inactivityMs: number;
  readonly serverTimeoutMs: number;
  readonly reconnect: BackoffPlan | undefined;
  readonly selectors: SelectorPlan;
  readonly errorBackoff: BackoffPlan;
  readonly scanIntervalMs: number;
  readonly backoff: BackoffPlan;
  readonly blockedMs: number;
  readonly slowMs: number;
  readonly daemonGraceMs: number;
}

/** Reads what can be wrong in `settings`; what is wrong is an error that names the setting. */
export function planSettings(settings: FixedSettings): SettingsPlan {
  for (const [group, keys] of Object.entries(GROUPS)) {
    for (const key of Object.keys(settings[group as keyof Settings])) {
      if (!keys.includes(key)) throw wrong(`${group}.${key}`, "is no setting", `the settings are ${keys.join(", ")}`);
    }
  }
  const { process, posting, watching, queueing, scanning, execution, background, networking, persistence } = settings;
  oneOf("posting.events", posting.events, ["all", "warnings", "none"]);
  oneOf("posting.logs", posting.logs, ["debug", "info", "warn", "error", "none"]);
  if (typeof execution.lifecycle !== "function") oneOf("execution.lifecycle", execution.lifecycle, HANDLER_ORDERS);
  atLeastOne("queueing.concurrency", queueing.concurrency);
  atLeastOne("queueing.hotLoop", queueing.hotLoop);
  atLeastOne("watching.pageSize", watching.pageSize);
  oneOf("watching.initialStreaming", watching.initialStreaming, ["never", "auto"]);
  if (networking.requestTimeout !== undefined) read("networking.requestTimeout", networking.requestTimeout);
  const { finalizer } = persistence;
  if (
    finalizer !== undefined &&
    !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(finalizer)
  ) {
    throw wrong(
      "persistence.finalizer",
      `${JSON.stringify(finalizer)} is no finalizer's name`,
      "write example.com/name",
    );
  }
  const gracefulMs = read("process.graceful", process.graceful);
  const daemonGraceMs = background.grace === undefined ? gracefulMs : read("background.grace", background.grace);
  return {
    gracefulMs,
    killAfterMs: process.killAfter === undefined ? undefined : read("process.killAfter", process.killAfter),
    inactivityMs: read("watching.inactivity", watching.inactivity),
    serverTimeoutMs: read("watching.serverTimeout", watching.serverTimeout),
    reconnect: watching.reconnect === undefined ? undefined : readBackoff("watching.reconnect", watching.reconnect),
    selectors: {
      labels: readSelectors("watching.labelSelectors", () => planLabelSelectors(watching.labelSelectors)),
      fields: readSelectors("watching.fieldSelectors", () => planFieldSelectors(watching.fieldSelectors)),
    },
    errorBackoff: readBackoff("queueing.errorBackoff", queueing.errorBackoff),
    scanIntervalMs: read("scanning.interval", scanning.interval),
    backoff: readBackoff("execution.backoff", execution.backoff),
    blockedMs: read("execution.blockedAfter", execution.blockedAfter),
    slowMs: read("execution.slowAfter", execution.slowAfter),
    daemonGraceMs,
  };
}

/** What there is, to find misspelled names where no compiler looks. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  process: ["graceful", "killAfter"],
  posting: ["events", "logs", "component", "instance"],
  watching: [
    "inactivity",
    "serverTimeout",
    "reconnect",
    "pageSize",
    "labelSelectors",
    "fieldSelectors",
    "initialStreaming",
  ],
  queueing: ["concurrency", "errorBackoff", "hotLoop"],
  scanning: ["disabled", "interval"],
  execution: ["backoff", "lifecycle", "blockedAfter", "slowAfter"],
  background: ["grace"],
  networking: ["requestTimeout"],
  persistence: ["storage", "finalizer", "ignore"],
};

function read(name: string, value: Duration): number {
  try {
    return durationMs(value);
  } catch (error) {
    throw wrong(name, (error as Error).message, 'durations are "5s", "1h30m" or milliseconds');
  }
}

function readBackoff(name: string, value: Backoff): BackoffPlan {
  try {
    return planBackoff(value);
  } catch (error) {
    throw wrong(name, (error as Error).message, 'write "30s" or { initial: "1s", factor: 2, max: "5m", jitter: 0.1 }');
  }
}

function readSelectors<T>(name: string, plan: () => T): T {
  try {
    return plan();
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string };
    throw wrong(name, message, hint ?? 'write { pods: "app=web" }, or [[Pod, "app=web"]]');
  }
}

function oneOf(name: string, value: string, known: readonly string[]): void {
  if (!known.includes(value)) throw wrong(name, `${JSON.stringify(value)} is not known`, `use ${known.join(", ")}`);
}

function atLeastOne(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) throw wrong(name, `${value} is not a whole number from 1 up`, "raise it");
}

function wrong(name: string, message: string, hint: string): DeclarationError {
  return new DeclarationError(`settings.${name}: ${message}`, { hint });
}
