import type { AnyObject, Client, KindClass, KubeBody, KubeObject, ObjectBody } from "@lotse/client";
import type { Duration, VirtualClock } from "@lotse/client/meta";
import type { Cluster, ClusterOptions, RequestEntry } from "@lotse/cluster";
import type { RunningOperator, StartOptions } from "lotse";
import type { CapturedLogs } from "./logs.ts";
import type { Snapshot, Wanted } from "./objects/index.ts";
import { OracleError, type OracleOptions } from "./oracles/index.ts";
import type { RbacOptions } from "./rights.ts";
import type { ExternalCall, Interference } from "./world/index.ts";

/** How to test an operator. */
export interface HarnessOptions {
  /** Time of the operator and of its cluster, which moves when the test says so: see `advance`. Default: real time. */
  readonly clock?: VirtualClock;
  /** Only these namespaces are the operator's; they are created. Default: all. */
  readonly namespaces?: readonly string[];
  /** Objects that are there before the operator starts, in this order: client objects or plain manifests. */
  readonly objects?: readonly (KubeObject<ObjectBody> | KubeBody)[];
  /**
   * Whether pods run, as `Cluster.start({ kubelet })` has it: `"simulate"` lets them pretend, as `harness.cluster.pods`
   * tells them to, `"process"` runs their commands. Default: they stay Pending. Simulated pods are ready, and those of
   * Jobs done, when `settle()` resolves, unless they were told to take their time; with a `clock`, what pods and their
   * controllers do later comes when the test advances it.
   *
   * @example
   * ```ts
   * await using harness = await startHarness(operator, { kubelet: "simulate" });
   * harness.cluster.pods.program({ labels: "job-name=backup" }, { exit: { code: 1 } });
   * ```
   */
  readonly kubelet?: ClusterOptions["kubelet"];
  /**
   * Roles decide what the operator may do: it runs as its service account, with exactly the role that
   * `lotse generate deploy` makes of it. The test's own client stays the administrator. `{ rules }` are rights that you
   * give it besides, as you would by hand where it is deployed.
   *
   * The start fails when it is not known what a handler asks for, unless `rules` are given, or the test is the one that
   * finds out: with `LOTSE_RECORD=operator.requests.jsonl` such an operator may do everything, and what it does is written
   * down.
   *
   * @example
   * ```ts
   * await using harness = await startHarness(operator, { rbac: true });
   * await harness.client.create(new Database({ metadata: { name: "shop" }, spec: {} }));
   * await harness.settle();
   * expect(harness.refusals()).toEqual([]);
   * ```
   */
  readonly rbac?: boolean | RbacOptions;
  /**
   * What every operator promises is looked at in every test, when the harness stops: a second pass writes nothing, no
   * handler writes to an object that only has the name of its own, nothing loops, no orphans are left, nothing is left
   * running, `observedGeneration` catches up, no permission is used that the role lacks (with `rbac`), handlers do not
   * change what they are given, and no value of a Secret is told. Each can be switched off by its name, with the reason.
   *
   * @example
   * ```ts
   * const oracles = { idempotence: "off: it writes the time on purpose" } as const;
   * await using harness = await startHarness(operator, { oracles });
   * ```
   */
  readonly oracles?: OracleOptions;
  /** More options of `operator.start()`. A `log` here gets the lines too. */
  readonly start?: Omit<StartOptions, "client" | "clock" | "namespaces">;
}

/** A write of the operator, as the server saw it. */
export type OperatorWrite = Pick<
  RequestEntry,
  "verb" | "resource" | "subresource" | "namespace" | "name" | "path" | "status" | "body"
>;

/** How long {@link Harness.until} waits. */
export interface UntilOptions {
  /** Of virtual time. Default `"1h"`. */
  readonly within?: Duration;
  /** Of real time, where there is no virtual clock. Default `"30s"`. */
  readonly timeout?: Duration;
}

/** An operator at work on a cluster of its own. */
export interface Harness extends AsyncDisposable {
  /** The test's own client: what it writes is not counted as the operator's. */
  readonly client: Client;
  readonly cluster: Cluster;
  /** The operator at work, the first one where there are several; another one after a restart. */
  readonly operator: RunningOperator;
  /** All operators that are at work, in the order in which they were given. */
  readonly operators: readonly RunningOperator[];
  /** What the operator has logged, over restarts. */
  readonly logs: CapturedLogs;
  /**
   * Resolves when everything is quiet: the cluster's controllers are done, the operator has been shown every change, and
   * nothing runs or is due. Timers and retries that wait for their time are not waited for. Rejects after `timeout` of
   * real time, 30 s by default: a busy machine may be slow, only what never ends shall be told.
   */
  settle(options?: { readonly timeout?: Duration }): Promise<void>;
  /**
   * Moves the virtual clock, stopping wherever the operator has something to do until that is done: what takes an hour
   * happens in milliseconds, and exactly as often as it would.
   */
  advance(duration: Duration): Promise<void>;
  /**
   * Applies YAML of any number of documents, or objects, as `kubectl apply` does: creates what is not there, changes what
   * is, takes away what the same author no longer says. An error names the document and each field that is wrong.
   *
   * @example
   * ```ts
   * await harness.apply(`
   * apiVersion: rates.example.com/v1
   * kind: ExchangeRate
   * metadata: { name: euro }
   * spec: { currency: EUR }
   * `);
   * ```
   */
  apply(text: string): Promise<KubeObject[]>;
  apply<T extends AnyObject>(object: T): Promise<T>;
  apply(body: KubeBody): Promise<KubeObject>;
  apply(objects: readonly (KubeBody | AnyObject)[]): Promise<KubeObject[]>;
  /**
   * Waits until an object is as wanted: a predicate says so, or a part of the object that it has to have. With a virtual
   * clock time moves on as far as it is needed. The error of one that waits in vain shows what differs.
   *
   * @example
   * ```ts
   * const rate = await harness.until(ExchangeRate, "euro", { status: { rate: 1.1 } });
   * await harness.until(ExchangeRate, "team-a/dollar", ({ status }) => status?.rate !== undefined);
   * ```
   */
  until<T extends AnyObject>(kind: KindClass<T>, name: string, wanted: Wanted<T>, options?: UntilOptions): Promise<T>;
  /**
   * All objects that the operator or the test has made, by `Kind namespace/name`, without what differs from run to run:
   * versions, times, names that the server made up, and what Lotse keeps for itself. Uids are numbers: one that stands in
   * two places is the same in both. Of Secrets the sizes are shown. No Events, and nothing that controllers made.
   *
   * @example
   * ```ts
   * expect(harness.snapshot()).toMatchSnapshot();
   * ```
   */
  snapshot(): Snapshot;
  /** Stops the operator and starts it again on the same cluster, as a deployment does; resolves when all is quiet. */
  restart(): Promise<void>;
  /** Stops the operator; what happens now it finds when it starts again. */
  stopOperator(): Promise<void>;
  /**
   * Ends the operator in this instant, as a process does that is killed: nothing is written down, no handler hears of it,
   * and whatever it waits for neither returns nor throws. `startOperator()` or `restart()` begins its next life.
   *
   * @example
   * ```ts
   * await harness.client.create(new Database({ metadata: { name: "shop" }, spec: {} }));
   * await harness.crash();
   * await harness.restart();
   * ```
   */
  crash(): Promise<void>;
  /** Starts the operator again. */
  startOperator(): Promise<void>;
  /** The operator's successful writes since the cluster started, or since `harness.cluster.requests.clear()`. */
  writes(): OperatorWrite[];
  /**
   * What the operator asked for and its role does not allow, each thing once, over restarts:
   * `["list secrets in default (handler open)"]`. Empty without `rbac`. The log has a warning for each, with the rule that
   * is missing.
   */
  refusals(): string[];
  /**
   * Stops everything; `await using` calls it. Rejects with an {@link OracleError} when the operator has broken a promise
   * that every test checks: see {@link HarnessOptions.oracles}.
   */
  stop(): Promise<void>;
}

/** What the kit itself says besides. */
export interface HarnessInternals {
  /** Decides about everything that passes between the operator and its cluster. */
  readonly interference?: Interference;
  /** Hears of each call to the world outside; see `external`. */
  readonly onExternal?: (call: ExternalCall) => void;
  /** How its cluster starts, besides. */
  readonly cluster?: Pick<ClusterOptions, "random" | "history" | "onTrouble">;
  /** `false`: the operator is started later. */
  readonly starts?: boolean;
  /** Asked each time that all is quiet: whether it has set something going, which is to be waited for as well. */
  readonly atRest?: () => Promise<boolean>;
}
