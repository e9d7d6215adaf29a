/**
 * Whether objects of a kind are ready in the time that was promised: each change of their spec is judged once, `good` when
 * `Ready=True` of that generation comes in time, `late` as soon as it cannot any more. Only kinds that promise something
 * have one of these.
 *
 * A change that another one takes the place of before its time is over is not judged, nor is one whose object goes. What was
 * there at the start is judged only if nobody has looked at it yet: whoever has, has judged it.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import { type Clock, formatDuration, type IdentityKey, identityKey } from "@lotse/client/meta";
import { isResourceClass, type Objective } from "../declare/index.ts";
import type { KindCapabilities } from "../informers/index.ts";
import { type Delayed, DelayHeap } from "../queue/index.ts";
import type { Counter, ExplainedObjective, Histogram, KindReporting, Logger, Metrics } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { referenceOf } from "./last-writes.ts";

/** What a {@link KindObjective} is made of. */
export interface KindObjectiveParts {
  readonly kind: KindDescription;
  readonly objective: Objective;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Whether this process works on the object: whoever does counts, the others only know. */
  readonly owns: (key: IdentityKey) => boolean;
}

/** A change of one object. */
interface Change extends Delayed {
  readonly key: IdentityKey;
  readonly generation: number;
  /** When it was seen, in monotonic milliseconds. */
  readonly since: number;
  /** `unknown`: it was there at the start, and has been looked at before. */
  state: "pending" | "late" | "ready" | "unknown";
  /** How long it took, if it was seen from its beginning. */
  tookMs: number | undefined;
}

/** See the module comment. */
export class KindObjective {
  readonly #parts: KindObjectiveParts;
  /** The last change of each object. */
  readonly #changes = new Map<IdentityKey, Change>();
  readonly #pending = new DelayHeap<Change>();
  readonly #late = new Set<Change>();
  readonly #counts: Readonly<Record<"good" | "late", Counter>>;
  readonly #seconds: Histogram;
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(parts: KindObjectiveParts) {
    this.#parts = parts;
    const { metrics, objective, kind } = parts;
    const labels = { kind: kind.kind };
    const help = "Changes of objects that were judged by the kind's objective.";
    const counter = (result: string) => metrics.counter("lotse_objective_changes_total", help, { ...labels, result });
    this.#counts = { good: counter("good"), late: counter("late") };
    const readySeconds = objective.readyMs / 1_000;
    this.#seconds = metrics.histogram(
      "lotse_objective_ready_seconds",
      "How long objects take to be ready after a change.",
      labels,
      BOUNDS.map((part) => part * readySeconds),
    );
    const gauge = (name: string, text: string, value: () => number) =>
      metrics.gauge(name, text, () => [[labels, value()]]);
    gauge("lotse_objective_target", "The share of changes that have to be good.", () => objective.of);
    gauge("lotse_objective_ready_target_seconds", "How soon they have to be ready.", () => readySeconds);
    gauge("lotse_objective_late", "Objects that are late at this moment.", () => this.#lateOnes());
  }

  /** An object is there, or has changed. `initial`: it was there when the operator began to look. */
  see(body: KubeBody, initial = false): void {
    const { generation, deletionTimestamp } = body.metadata ?? {};
    if (generation === undefined) return;
    const key = identityKey(body);
    if (deletionTimestamp !== undefined) {
      this.forget(key);
      return;
    }
    const known = this.#changes.get(key);
    if (known && known.generation > generation) return;
    const change = known?.generation === generation ? known : this.#begin(body, key, generation, initial);
    if (isOpen(change) && readyGeneration(body) >= generation) this.#ready(change);
  }

  /** The object is gone, is going, or is not this operator's any more. */
  forget(key: IdentityKey): void {
    const change = this.#changes.get(key);
    if (!change) return;
    this.#drop(change);
    this.#changes.delete(key);
  }

  /** What there is to say about one object. */
  explain(key: IdentityKey): ExplainedObjective | undefined {
    const change = this.#changes.get(key);
    if (!change) return undefined;
    const { readyMs, of } = this.#parts.objective;
    const { generation, state, since, tookMs } = change;
    const forMs = isOpen(change) ? this.#parts.clock.monotonic() - since : undefined;
    return {
      readyMs,
      of,
      generation,
      state,
      ...(forMs !== undefined && { forMs }),
      ...(tookMs !== undefined && { tookMs }),
    };
  }

  /** Judges nothing any more. */
  close(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  #begin(body: KubeBody, key: IdentityKey, generation: number, initial: boolean): Change {
    const before = this.#changes.get(key);
    if (before) this.#drop(before);
    const { clock, objective } = this.#parts;
    const since = clock.monotonic() - (initial ? ageMs(body, clock.now()) : 0);
    const state =
      initial && lookedAt(body) >= generation ? (readyGeneration(body) >= generation ? "ready" : "unknown") : "pending";
    const change: Change = { key, generation, since, state, tookMs: undefined, dueAt: 0, heapIndex: -1 };
    this.#changes.set(key, change);
    if (state === "pending") {
      this.#pending.set(change, since + objective.readyMs);
      this.#watch();
    }
    return change;
  }

  #drop(change: Change): void {
    this.#pending.delete(change);
    this.#late.delete(change);
  }

  #ready(change: Change): void {
    const inTime = change.state === "pending";
    this.#drop(change);
    change.state = "ready";
    change.tookMs = this.#parts.clock.monotonic() - change.since;
    if (!this.#parts.owns(change.key)) return;
    this.#seconds.observe(change.tookMs / 1_000);
    if (inTime) this.#counts.good.add();
  }

  /** One alarm for the first that is due. */
  #watch(): void {
    const { first } = this.#pending;
    if (!first || (this.#alarm && this.#alarm.at <= first.dueAt)) return;
    this.#alarm?.cancel();
    const { clock } = this.#parts;
    const at = first.dueAt;
    this.#alarm = { at, cancel: clock.after(Math.max(0, at - clock.monotonic()), () => this.#ring()) };
  }

  #ring(): void {
    this.#alarm = undefined;
    const { clock, owns, logger, kind, objective } = this.#parts;
    const now = clock.monotonic();
    for (let { first } = this.#pending; first && first.dueAt <= now; { first } = this.#pending) {
      this.#pending.delete(first);
      first.state = "late";
      this.#late.add(first);
      if (!owns(first.key)) continue;
      this.#counts.late.add();
      logger.about(referenceOf(kind, first.key)).info("not ready in the time that was promised", {
        generation: first.generation,
        objective: formatDuration(objective.readyMs),
      });
    }
    this.#watch();
  }

  #lateOnes(): number {
    let count = 0;
    for (const { key } of this.#late) if (this.#parts.owns(key)) count++;
    return count;
  }
}

/** What a kind promises, as this process measures it; undefined where it promises nothing. */
export function objectiveOf(
  { kindClass, kind }: Pick<KindCapabilities, "kind" | "kindClass">,
  { clock, ownership }: Pick<Runtime, "clock" | "ownership">,
  { metrics, logger }: Pick<KindReporting, "metrics" | "logger">,
  newest: (key: IdentityKey) => KubeBody | undefined,
): KindObjective | undefined {
  const objective = isResourceClass(kindClass) ? kindClass.objective : undefined;
  if (!objective) return undefined;
  const owns = (key: IdentityKey) => {
    if (ownership.alone) return true;
    const body = newest(key);
    return body !== undefined && ownership.owns(body, kind);
  };
  return new KindObjective({ kind, objective, clock, metrics, logger, owns });
}

/** Where the histogram is fine: around what was promised. */
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 8, 16];

function isOpen({ state }: Change): boolean {
  return state === "pending" || state === "late";
}

interface SpokenStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly {
    readonly type?: string;
    readonly status?: string;
    readonly observedGeneration?: number;
  }[];
}

function readyOf({ status }: KubeBody): { readonly isTrue: boolean; readonly generation: number } | undefined {
  const { conditions, observedGeneration } = (status ?? {}) as SpokenStatus;
  if (!Array.isArray(conditions)) return undefined;
  const ready = (conditions as NonNullable<SpokenStatus["conditions"]>).find(({ type }) => type === "Ready");
  return ready && { isTrue: ready.status === "True", generation: ready.observedGeneration ?? observedGeneration ?? -1 };
}

/** Of which generation the object says that it is ready; -1: of none. */
function readyGeneration(body: KubeBody): number {
  const ready = readyOf(body);
  return ready?.isTrue ? ready.generation : -1;
}

/** Of which generation it says whether it is ready; -1: of none. */
function lookedAt(body: KubeBody): number {
  return readyOf(body)?.generation ?? -1;
}

/** How old the first generation of an object is; of later ones nobody has written down when they came. */
function ageMs({ metadata }: KubeBody, now: number): number {
  const created = metadata?.generation === 1 ? Date.parse(metadata.creationTimestamp ?? "") : Number.NaN;
  return Number.isNaN(created) ? 0 : Math.max(0, now - created);
}
