import type { ApiObject } from "../registry/index.ts";
import { listAt } from "../registry/index.ts";
import type { ContainerLog } from "./log.ts";
import type { ContainerExit, RunningContainer } from "./runtime.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * An init container runs to its end before the next one starts; a sidecar is started in the same order and stays. An
 * ephemeral one comes later, for a user who looks around, and runs once; what becomes of the pod does not depend on it.
 */
export type Role = "init" | "sidecar" | "main" | "ephemeral";

/** Where a container is in its life; `due` is when it may be started. */
export type ContainerState =
  | { readonly at: "waiting"; readonly reason: string; readonly message?: string | undefined; readonly due: number }
  /** Has a container and its time while its hook for the start is under way. */
  | { readonly at: "starting"; readonly reason: string; readonly container?: RunningContainer; readonly since?: number }
  | { readonly at: "running"; readonly container: RunningContainer; readonly since: number }
  | (Ended & { readonly at: "ended" });

/** A run that is over. One that the kubelet did not see has neither id nor times. */
export interface Ended {
  readonly id: string;
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly exit: ContainerExit;
}

/** All that is known about one container of a pod. */
export interface ContainerRecord {
  readonly name: string;
  readonly role: Role;
  readonly spec: Fields;
  state: ContainerState;
  last: Ended | undefined;
  restarts: number;
  /** Runs that have begun. */
  runs: number;
  started: boolean;
  ready: boolean;
  /** Whether the present run was asked to end. */
  stopping: boolean;
  /** Whether it ends to be started anew with other resources. */
  resizing: boolean;
  /** How often it crashed in a row, for the back-off. */
  crashes: number;
  log: ContainerLog | undefined;
  previousLog: ContainerLog | undefined;
}

/** What there is to stop of a container: also one that has not finished its hook for the start. */
export function livingContainer({ state }: ContainerRecord): RunningContainer | undefined {
  return state.at === "running" || state.at === "starting" ? state.container : undefined;
}

/** A record for each container of a new pod, in the order in which they are started. */
export function recordsOf(pod: ApiObject): ContainerRecord[] {
  const init = listAt(pod, "spec", "initContainers");
  // What a container waits for that has never run, also the first one, and those that come to no turn.
  const reason = init.length > 0 ? "PodInitializing" : "ContainerCreating";
  return [
    ...init.map((spec) => newRecord(spec, spec.restartPolicy === "Always" ? "sidecar" : "init", reason)),
    ...listAt(pod, "spec", "containers").map((spec) => newRecord(spec, "main", reason)),
    ...listAt(pod, "spec", "ephemeralContainers").map((spec) => newRecord(spec, "ephemeral")),
  ];
}

/** Containers that came to a pod while it ran. */
export function addedRecords(pod: ApiObject, known: readonly ContainerRecord[]): ContainerRecord[] {
  return listAt(pod, "spec", "ephemeralContainers")
    .filter((spec) => !known.some((record) => record.name === spec.name))
    .map((spec) => newRecord(spec, "ephemeral"));
}

function newRecord(spec: Fields, role: Role, reason = "ContainerCreating"): ContainerRecord {
  return {
    name: String(spec.name),
    role,
    spec,
    state: { at: "waiting", reason, due: 0 },
    last: undefined,
    restarts: 0,
    runs: 0,
    started: false,
    ready: false,
    stopping: false,
    resizing: false,
    crashes: 0,
    log: undefined,
    previousLog: undefined,
  };
}

/** When a container of the pod is started again. */
export type RestartPolicy = "Always" | "OnFailure" | "Never";

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 300_000;
/** A container that ran this long has proved itself: its next crash counts as the first one. */
const FORGIVEN_AFTER = 600_000;

/** Whether a container that ended is started again. */
export function restarts(record: ContainerRecord, policy: RestartPolicy, exitCode: number): boolean {
  if (record.role === "sidecar") return true;
  if (record.role === "ephemeral") return false;
  if (record.role === "init" && exitCode === 0) return false;
  // An init container that must not be restarted fails its pod; one that succeeded is done.
  if (record.role === "init") return policy !== "Never";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** How long the next start waits after `crashes` ends in a row: the first one not at all. */
export function restartDelay(crashes: number): number {
  return crashes <= 1 ? 0 : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (crashes - 2));
}

/** How many crashes in a row count after this run: a long run forgives those before it. */
export function crashesAfter(record: ContainerRecord, ranFor: number): number {
  return ranFor >= FORGIVEN_AFTER ? 1 : record.crashes + 1;
}

const UNKNOWN: Ended = {
  id: "",
  since: undefined,
  until: undefined,
  exit: {
    exitCode: 137,
    reason: "ContainerStatusUnknown",
    message: "The container could not be located when the pod was terminated",
  },
};

/**
 * What containers become that were never started when their pod was given up: once a pod is initialized, all of them have
 * failed; before, its init containers have, up to the last one that began, and at least the first.
 */
export function giveUp(records: readonly ContainerRecord[]): void {
  const before = records.filter(({ role }) => role === "init" || role === "sidecar");
  const mains = records.filter(({ role }) => role === "main");
  const wasStarted = ({ state, last }: ContainerRecord) => state.at !== "waiting" || last !== undefined;
  const latest = before.at(-1);
  const isDone =
    latest === undefined ||
    mains.some(wasStarted) ||
    (latest.role === "sidecar" ? latest.started : latest.state.at === "ended" && latest.state.exit.exitCode === 0);
  const begun = before.slice(0, Math.max(1, before.findLastIndex(wasStarted) + 1));
  for (const record of [...begun, ...(isDone ? mains : [])]) {
    if (record.state.at === "waiting") record.state = { at: "ended", ...(record.last ?? UNKNOWN) };
  }
}

/** What a pod as a whole does next. */
export type PodStage =
  | { readonly at: "initializing"; readonly next: ContainerRecord }
  | { readonly at: "working" }
  | { readonly at: "done"; readonly failed: boolean };

/** How a pod ends that was told to: well, when all of its containers did. */
export function endOf(records: readonly ContainerRecord[]): PodStage {
  const mains = records.filter((record) => record.role === "main");
  return { at: "done", failed: !mains.every(({ state }) => state.at === "ended" && state.exit.exitCode === 0) };
}

/** Where a pod stands, given its containers. Pure. */
export function stageOf(records: readonly ContainerRecord[], policy: RestartPolicy): PodStage {
  for (const record of records) {
    if (record.role === "main" || record.role === "ephemeral") continue;
    if (record.role === "sidecar") {
      if (record.started) continue;
      return { at: "initializing", next: record };
    }
    if (record.state.at === "ended" && record.state.exit.exitCode === 0) continue;
    if (record.state.at === "ended" && !restarts(record, policy, record.state.exit.exitCode)) {
      return { at: "done", failed: true };
    }
    return { at: "initializing", next: record };
  }
  const mains = records.filter((record) => record.role === "main");
  const codes = mains.map((record) => (record.state.at === "ended" ? record.state.exit.exitCode : undefined));
  if (codes.every((code) => code !== undefined)) return { at: "done", failed: codes.some((code) => code !== 0) };
  return { at: "working" };
}
