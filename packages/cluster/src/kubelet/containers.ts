import type { ApiObject } from "../registry/index.ts";
import { listAt } from "../registry/index.ts";
import type { ContainerLog } from "./log.ts";
import type { ContainerExit, RunningContainer } from "./runtime.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An init container runs to its end before the next one starts; a sidecar is started in the same order and stays. */
export type Role = "init" | "sidecar" | "main";

export type ContainerState =
  | { readonly at: "waiting"; readonly reason: string; readonly message?: string | undefined; readonly due: number }
  | { readonly at: "starting"; readonly reason: string }
  | { readonly at: "running"; readonly container: RunningContainer; readonly since: number }
  | (Ended & { readonly at: "ended" });

/** A run that is over. */
export interface Ended {
  readonly id: string;
  readonly since: number;
  readonly until: number;
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
  /** How often it crashed in a row, for the back-off. */
  crashes: number;
  log: ContainerLog | undefined;
  previousLog: ContainerLog | undefined;
}

export function recordsOf(pod: ApiObject): ContainerRecord[] {
  const record = (spec: Fields, role: Role): ContainerRecord => ({
    name: String(spec.name),
    role,
    spec,
    state: { at: "waiting", reason: "ContainerCreating", due: 0 },
    last: undefined,
    restarts: 0,
    runs: 0,
    started: false,
    ready: false,
    crashes: 0,
    log: undefined,
    previousLog: undefined,
  });
  return [
    ...listAt(pod, "spec", "initContainers").map((spec) =>
      record(spec, spec.restartPolicy === "Always" ? "sidecar" : "init"),
    ),
    ...listAt(pod, "spec", "containers").map((spec) => record(spec, "main")),
  ];
}

export type RestartPolicy = "Always" | "OnFailure" | "Never";

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 300_000;
/** A container that ran this long has proved itself: its next crash counts as the first one. */
const FORGIVEN_AFTER = 600_000;

/** Whether a container that ended is started again. */
export function restarts(record: ContainerRecord, policy: RestartPolicy, exitCode: number): boolean {
  if (record.role === "sidecar") return true;
  if (record.role === "init" && exitCode === 0) return false;
  // An init container that must not be restarted fails its pod; one that succeeded is done.
  if (record.role === "init") return policy !== "Never";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** How long the next start waits after `crashes` ends in a row: the first one not at all. */
export function restartDelay(crashes: number): number {
  return crashes <= 1 ? 0 : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (crashes - 2));
}

export function crashesAfter(record: ContainerRecord, ranFor: number): number {
  return ranFor >= FORGIVEN_AFTER ? 1 : record.crashes + 1;
}

/** What a pod as a whole does next. */
export type PodStage =
  | { readonly at: "initializing"; readonly next: ContainerRecord }
  | { readonly at: "working" }
  | { readonly at: "done"; readonly failed: boolean };

/** Where a pod stands, given its containers. Pure. */
export function stageOf(records: readonly ContainerRecord[], policy: RestartPolicy): PodStage {
  for (const record of records) {
    if (record.role === "main") continue;
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
