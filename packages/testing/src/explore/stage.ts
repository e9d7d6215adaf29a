/** One run of a scenario: an operator on a cluster of its own, disturbed as the plan says, up to the state that remains. */
import type { ObjectBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import type { LogRecord, Operator } from "lotse";
import type { Bench } from "../bench.ts";
import { openHarness } from "../harness.ts";
import type { Harness, HarnessOptions } from "../harness-contract.ts";
import { Director, type NotedCall, type Turnover } from "./director.ts";
import type { Mask } from "./mask.ts";
import type { Plan } from "./plans.ts";
import { type ActorObject, isNoise, type Trace } from "./trace.ts";

/** What the author of a test does to the cluster, step by step: each `settle()` or `advance()` ends one. */
export type Scenario = (harness: Harness) => unknown;

/** What a run goes by. */
export interface RunParts {
  readonly operator: Operator;
  readonly scenario: Scenario;
  readonly options: Omit<HarnessOptions, "clock">;
  readonly plan?: Plan | undefined;
  /** At rest of this step the object is deleted, and may be made again: what an interruption is compared with. */
  readonly intervention?:
    | { readonly step: number; readonly object: ActorObject; readonly recreate: boolean }
    | undefined;
  /** The scenario ends with this step. */
  readonly cutAt?: number | undefined;
  /** By step, of the undisturbed run: time that passes for retries must not reach what was due there. */
  readonly due?: readonly (number | undefined)[] | undefined;
  readonly seed: number;
}

/** Masked objects by `configmaps default/rate-*`; several where the server makes names. */
export type ObjectsByPlace = ReadonlyMap<string, readonly unknown[]>;

/** What came of a run. */
export interface Outcome {
  readonly trace: Trace;
  readonly fired: { readonly order: number; readonly step: number; readonly life: number } | undefined;
  /** What is in the cluster in the end. */
  readonly objects: ObjectsByPlace;
  /** The same at the end of each step. */
  readonly rests: readonly ObjectsByPlace[];
  readonly turnover: readonly Turnover[];
  readonly calls: readonly NotedCall[];
  readonly mask: Mask;
  /** Why the scenario could not go on. */
  readonly error: unknown;
  /** The operator was down when the scenario failed: a webhook that nobody answers refuses what it asks for. */
  readonly failedAlone: boolean;
  /** What the operator said last, of warnings and errors. */
  readonly complaints: readonly string[];
}

/** How long a step may take; a loop never comes to rest. */
const PATIENCE = "20s";
/** After the scenario time passes, so that what is retried comes to its end. */
const CALM_MS = 5 * 60_000;
const CALM_STOPS = 40;
/** Where the undisturbed run waited for nothing at all. */
const UNBOUNDED_MS = 2 * 60_000;
const WATCHDOG_MS = 50;
/** How long a start may stand still in real time before the virtual one is moved. */
const START_MS = 100;
/** How long an operator may take to stop at the end of a run, in real time. */
const STOP_MS = 2_000;
const COMPLAINTS = 5;

/** The scenario ends here: what it would go on with is not there any more. */
class Cut extends Error {}

/** Runs it. */
export async function perform(parts: RunParts): Promise<Outcome> {
  // Certificates of webhooks are looked at by the real clock, so virtual time begins there.
  const clock = new VirtualClock(Math.floor(Date.now() / 1_000) * 1_000);
  const director = new Director(parts.plan, clock);
  const run = new Run(parts, director, clock);
  return run.perform();
}

class Run {
  readonly #parts: RunParts;
  readonly #director: Director;
  readonly #clock: VirtualClock;
  #bench: Bench | undefined;
  readonly #complaints: string[] = [];
  readonly #rests: ObjectsByPlace[] = [];
  /** What was there at the beginning, with its version. */
  readonly #before = new Map<string, number>();
  /** The scenario has stopped the operator itself. */
  #stopped = false;
  #failedAlone = false;
  #resting = false;
  #starting: Promise<void> | undefined;
  #over = false;

  constructor(parts: RunParts, director: Director, clock: VirtualClock) {
    this.#parts = parts;
    this.#director = director;
    this.#clock = clock;
  }

  async perform(): Promise<Outcome> {
    const { operator, options, seed } = this.#parts;
    const director = this.#director;
    const random = randomFrom(seed);
    const bench = await openHarness(
      operator,
      {
        ...options,
        clock: this.#clock,
        start: { random: randomFrom(seed + 1), ...options.start, log: (record) => this.#heard(record) },
      },
      {
        interference: director,
        onExternal: (call) => director.external(call),
        cluster: { random, onTrouble: () => {} },
        starts: false,
        atRest: () => this.#atRest(),
      },
    );
    this.#bench = bench;
    for (const { resource, key, revision, object } of bench.cluster.snapshot().rows) {
      this.#before.set(`${resource} ${key}`, revision);
      director.mask.created(resource, object as ObjectBody);
    }
    director.direct(bench);
    const watchdog = this.#watch();
    let error: unknown;
    try {
      await this.#start(bench);
      error = await this.#play(bench);
      await this.#calmDown(bench).catch((late: unknown) => {
        error ??= late;
      });
      return {
        trace: director.trace,
        fired: director.firedAt,
        objects: this.#objects(),
        rests: this.#rests,
        turnover: director.turnover,
        calls: director.calls,
        mask: director.mask,
        error,
        failedAlone: this.#failedAlone,
        complaints: this.#complaints.slice(-COMPLAINTS),
      };
    } finally {
      this.#over = true;
      clearInterval(watchdog);
      director.letArrive();
      await this.#end(bench);
    }
  }

  /** One that waits for its time to stop, with nobody to move the clock, is killed. */
  async #end(bench: Bench): Promise<void> {
    const { incarnation } = bench;
    const stopped = bench.stopOperator().then(
      () => true,
      () => true,
    );
    if (!(await Promise.race([stopped, later(STOP_MS)]))) incarnation?.kill();
    await bench.stop();
  }

  /** Plays the scenario; why it could not go on, if so. */
  async #play(bench: Bench): Promise<unknown> {
    try {
      const face = this.#faceOf(bench);
      await face.settle();
      await this.#parts.scenario(face);
      await face.settle();
      return undefined;
    } catch (error) {
      if (error instanceof Cut) return undefined;
      this.#failedAlone = bench.incarnation === undefined;
      return error;
    }
  }

  /** The harness as the scenario sees it: where it waits, the plan goes on. */
  #faceOf(bench: Bench): Harness {
    const own: Partial<Record<keyof Harness, unknown>> = {
      settle: async (o: Parameters<Harness["settle"]>[0]) => {
        await bench.settle({ timeout: PATIENCE, ...o });
        await this.#stepEnded(bench);
      },
      advance: async (duration: Parameters<Harness["advance"]>[0]) => {
        await bench.advance(duration);
        await this.#stepEnded(bench);
      },
      restart: async () => {
        await bench.stopOperator();
        this.#stopped = false;
        await this.#start(bench);
        await bench.settle({ timeout: PATIENCE });
        await this.#stepEnded(bench);
      },
      stopOperator: async () => {
        this.#stopped = true;
        await bench.stopOperator();
      },
      crash: async () => {
        this.#stopped = true;
        await bench.crash();
      },
      startOperator: async () => {
        this.#stopped = false;
        await this.#start(bench);
      },
    };
    return new Proxy(bench, {
      get: (target, property) => {
        if (property in own) return own[property as keyof Harness];
        const value = Reflect.get(target, property, target) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async #stepEnded(bench: Bench): Promise<void> {
    const { plan } = this.#parts;
    const intervention = plan?.kind === "again" ? { ...plan, recreate: true } : this.#parts.intervention;
    const director = this.#director;
    const { step } = director;
    await this.#letRetry(bench, step);
    this.#rests[step] = this.#objects();
    director.atRest(this.#dueIn(bench));
    if (this.#parts.cutAt === step) throw new Cut();
    if (plan?.kind === "interrupt" && !plan.recreate && director.firedAt?.step === step) throw new Cut();
    if (intervention?.step === step) {
      if (plan) director.fire();
      await director.interrupt(intervention.object, intervention.recreate);
      await bench.settle({ timeout: PATIENCE });
      if (!intervention.recreate) throw new Cut();
    }
    if (plan?.kind === "down" && plan.from === step && !this.#stopped && !director.firedAt) {
      await bench.crash();
      director.fire();
      if (plan.to === step) {
        await bench.settle({ timeout: PATIENCE });
        await this.#letRetry(bench, step);
      }
    }
    director.nextStep();
  }

  #dueIn(bench: Bench): number | undefined {
    return bench.nextDue === undefined ? undefined : bench.nextDue - this.#clock.monotonic();
  }

  /** Once it was disturbed, an operator may need time for another attempt: as much as passes before anything else is due. */
  async #letRetry(bench: Bench, step: number): Promise<void> {
    const { due } = this.#parts;
    if (!due || !this.#director.firedAt || !bench.incarnation) return;
    const end = this.#clock.monotonic() + (due[step] ?? UNBOUNDED_MS);
    for (let i = 0; i < CALM_STOPS; i++) {
      const { nextDue } = bench;
      if (nextDue === undefined || nextDue >= end) return;
      await this.#clock.advance(Math.max(0, nextDue - this.#clock.monotonic()));
      await bench.settle({ timeout: PATIENCE });
    }
  }

  async #calmDown(bench: Bench): Promise<void> {
    this.#over = true;
    this.#director.letArrive();
    this.#stopped = false;
    await bench.settle({ timeout: PATIENCE });
    const end = this.#clock.monotonic() + CALM_MS;
    for (let i = 0; i < CALM_STOPS; i++) {
      const next = bench.nextDue;
      if (next === undefined || next > end) break;
      await this.#clock.advance(Math.max(0, next - this.#clock.monotonic()));
      await bench.settle({ timeout: PATIENCE });
    }
  }

  /** All is quiet: what was held back comes, and whoever is dead lives again, unless the plan says otherwise. */
  async #atRest(): Promise<boolean> {
    if (this.#resting) return false;
    this.#resting = true;
    try {
      if (await this.#director.stir()) return true;
      const bench = this.#bench;
      if (!bench || bench.incarnation || this.#starting || !this.#mayLive) return false;
      await this.#start(bench);
      return true;
    } finally {
      this.#resting = false;
    }
  }

  /** Begins the operator's next life, once, whoever asks for it. */
  async #start(bench: Bench): Promise<void> {
    if (bench.incarnation && !this.#starting) return;
    this.#starting ??= this.#begin(bench).finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  /** A start that waits for its time, such as one that was refused something, gets it when nothing else moves. */
  async #begin(bench: Bench): Promise<void> {
    const started = { is: false };
    const starting = bench.startOperator().finally(() => {
      started.is = true;
    });
    for (let last = ""; !started.is; ) {
      await Promise.race([starting, later(START_MS)]);
      const mark = this.#mark(bench);
      if (!started.is && mark === last && bench.nextDue !== undefined) {
        await this.#clock.advance(Math.max(0, bench.nextDue - this.#clock.monotonic()));
      }
      last = mark;
    }
    await starting;
  }

  #mark(bench: Bench): string {
    return `${bench.incarnation?.relay.moves} ${bench.cluster.requests.entries.length}`;
  }

  get #mayLive(): boolean {
    if (this.#over) return true;
    if (this.#stopped) return false;
    const { plan } = this.#parts;
    return plan?.kind !== "down" || !this.#director.firedAt || this.#director.step >= plan.to;
  }

  /** A scenario that waits for the operator by other means than `settle()` must not wait for ever. */
  #watch(): NodeJS.Timeout {
    let last = "";
    const look = async () => {
      const bench = this.#bench;
      if (!bench || this.#over) return;
      const mark = this.#mark(bench);
      if (mark === last) await this.#atRest();
      last = mark;
    };
    // What goes wrong here shows when the scenario waits for it in vain.
    return setInterval(() => void look().catch(() => {}), WATCHDOG_MS);
  }

  #heard(record: LogRecord): void {
    const { level, message, object, fields } = record;
    if (level === "warn" || level === "error") {
      const error = fields.error === undefined ? "" : `: ${String(fields.error)}`;
      this.#complaints.push(`${object ? `[${object.name}] ` : ""}${message}${error}`);
      if (fields.handler !== undefined) this.#director.failed();
    }
    this.#parts.options.start?.log?.(record);
  }

  #objects(): ObjectsByPlace {
    const { mask } = this.#director;
    const objects = new Map<string, unknown[]>();
    for (const { resource, key, revision, object } of this.#bench?.cluster.snapshot().rows ?? []) {
      if (isNoise(resource) || this.#before.get(`${resource} ${key}`) === revision) continue;
      const body = object as ObjectBody;
      const { name = "", namespace } = body.metadata ?? {};
      if (isFurniture(name, namespace)) continue;
      const place = `${resource} ${[namespace, mask.name(name)].filter(Boolean).join("/")}`;
      objects.set(place, [...(objects.get(place) ?? []), mask.object(body)]);
    }
    for (const [place, several] of objects) objects.set(place, several.sort(byText));
    return objects;
  }
}

/** What the cluster's own controllers keep in each namespace, when they come round to it. */
function isFurniture(name: string, namespace: string | undefined): boolean {
  return namespace?.startsWith("kube-") === true || name === "kube-root-ca.crt";
}

function later(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());
}

function byText(a: unknown, b: unknown): number {
  const [one, other] = [JSON.stringify(a) ?? "", JSON.stringify(b) ?? ""];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Numbers in [0, 1) that only depend on the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
