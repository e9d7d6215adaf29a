/** Tries an operator with everything that can happen to it: see {@link explore}. */
import { ConfigError, KubeError } from "@lotse/client";
import { type Duration, durationMs } from "@lotse/client/meta";
import { isOperator, type Operator } from "lotse";
import type { HarnessOptions } from "../harness.ts";
import { compare, compareObjects } from "./compare.ts";
import { commonTrace, type Plan, planId, planRuns } from "./plans.ts";
import { type Difference, type Reference, referenceOf } from "./reference.ts";
import { type Outcome, perform, type RunParts, randomFrom, type Scenario } from "./stage.ts";
import { disturbanceOf, type ExploreFailure, storyOf } from "./story.ts";
import type { Trace } from "./trace.ts";

/** How far an exploration has got. */
export interface ExploreProgress {
  /** How many disturbed runs are over. */
  readonly done: number;
  /** How many there are to try. */
  readonly plans: number;
  readonly failures: number;
}

/** How to explore; everything has a default. */
export interface ExploreOptions {
  /** Another order of the same plans, and other chances: the same seed does the same. Default 1. */
  readonly seed?: number;
  /** How long it may take. Default 60 s. What is not tried by then is in the report. */
  readonly budget?: Duration;
  /** `true`: failures are reported, not thrown, and all plans are tried. Default: the first failure is thrown. */
  readonly report?: boolean;
  /** Tries one plan alone: the name that a failure told. */
  readonly only?: string;
  /** Options of the harness in which each run takes place. */
  readonly harness?: Omit<HarnessOptions, "clock">;
  /** Fields that may differ: `"things.example.com .status.ticks"`. */
  readonly ignore?: readonly string[];
  /** Hears how far it has got. Without, a terminal is shown a line. */
  readonly onProgress?: (progress: ExploreProgress) => void;
}

/** What was tried, and what came of it. */
export interface ExploreReport {
  /** How many disturbed runs were made. */
  readonly plans: number;
  /** How many were not, because they could not differ from others. */
  readonly pruned: number;
  /** How many were not, because the time was over. */
  readonly untried: number;
  /** How many came to nothing: what they were to disturb did not happen again. */
  readonly missed: number;
  readonly failures: readonly ExploreFailure[];
  /** What the author of the test should know. */
  readonly notes: readonly string[];
  readonly seed: number;
  /** Milliseconds. */
  readonly took: number;
}

/** An operator that did not survive what can happen to it; `report` has all of it. */
export class ExploreError extends KubeError {
  override readonly code: string = "LOTSE_EXPLORE";
  readonly report: ExploreReport;

  constructor(report: ExploreReport) {
    super(report.failures[0]?.story ?? "nothing failed");
    this.report = report;
  }
}

/** An operator, or a function that makes a new one for each run. */
export type OperatorSource = Operator | (() => Operator | Promise<Operator>);

const DEFAULT_BUDGET = "60s";

/**
 * Runs a scenario once undisturbed and then again and again, each time with one disturbance: the operator is killed at each
 * of its writes, answers are lost, events come late, merged or twice, lists are stale, objects are deleted and made again
 * under a handler's hands, steps happen while the operator is down. When all is quiet, the cluster and the calls to the
 * world outside have to be as they were without. Runs on clusters of their own, in virtual time.
 *
 * The scenario is what a test would do: it applies, changes and deletes objects, and calls `settle()` or `advance()` after
 * each step. `operator` may be a function that makes a new one for each run, where it has a memory of its own.
 *
 * @example
 * ```ts
 * await explore(operator, async ({ client, settle }) => {
 *   const rate = await client.create(new ExchangeRate({ metadata: { name: "money" }, spec: { currency: "GBP" } }));
 *   await settle();
 *   await rate.patch({ spec: { currency: "CHF" } });
 *   await settle();
 *   await rate.delete();
 *   await settle();
 * });
 * ```
 */
export async function explore(
  operator: OperatorSource,
  scenario: Scenario,
  options: ExploreOptions = {},
): Promise<ExploreReport> {
  const report = await new Exploration(operator, scenario, options).run();
  if (report.failures.length > 0 && !options.report) throw new ExploreError(report);
  return report;
}

/** An undisturbed run, and where it can be disturbed. */
interface Known extends Reference {
  readonly trace: Trace;
}

/** The same in peace: the object is deleted when all is at rest. */
function interventionOf(plan: Plan & { kind: "interrupt" }, { writes }: Trace): RunParts["intervention"] {
  const { label, nth } = plan.at;
  const write = writes.find((one) => one.label === label && one.nth === nth);
  return write?.actor && { step: plan.step, object: write.actor, recreate: plan.recreate };
}

/** The first step at whose end something differs; none while the operator is down. */
function firstDifference(reference: Reference, found: Outcome, plan: Plan): number | undefined {
  if (plan.kind === "again") return undefined;
  const firedIn = found.fired?.step ?? 0;
  // In peace, an object is deleted at the end of the step.
  const from = plan.kind === "down" ? plan.to : plan.kind === "interrupt" ? firedIn + 1 : firedIn;
  const step = found.rests.findIndex((objects, i) => {
    const state = reference.rests[i];
    return i >= from && state !== undefined && compareObjects(state, objects).length > 0;
  });
  return step < 0 ? undefined : step;
}

class Exploration {
  readonly #operator: OperatorSource;
  readonly #scenario: Scenario;
  readonly #options: ExploreOptions;
  readonly #seed: number;
  readonly #failures: ExploreFailure[] = [];
  readonly #notes: string[] = [];
  readonly #others = new Map<string, Promise<Known | undefined>>();
  #done = 0;
  #missed = 0;
  #pruned = 0;

  constructor(operator: OperatorSource, scenario: Scenario, options: ExploreOptions) {
    if (!isOperator(operator) && typeof operator !== "function") {
      throw new ConfigError("explore needs an operator", {
        hint: "explore(operator, scenario), or a function that makes one",
      });
    }
    this.#operator = operator;
    this.#scenario = scenario;
    this.#options = options;
    this.#seed = options.seed ?? 1;
  }

  async run(): Promise<ExploreReport> {
    const begun = performance.now();
    const end = begun + durationMs(this.#options.budget ?? DEFAULT_BUDGET);
    const reference = await this.#reference({});
    const { plans: all, pruned } = planRuns(reference.trace, randomFrom(this.#seed));
    this.#pruned = pruned;
    const { only } = this.#options;
    const plans = only === undefined ? all : all.filter((plan) => planId(plan) === only);
    if (only !== undefined && plans.length === 0) {
      throw new ConfigError(`there is no plan ${JSON.stringify(only)} for this operator and scenario`, {
        hint: `one of: ${all.slice(0, 5).map(planId).join("; ")}, …`,
      });
    }
    this.#progress(plans.length);
    for (const plan of plans) {
      if (performance.now() > end) break;
      await this.#try(plan, reference);
      this.#done++;
      this.#progress(plans.length);
      if (this.#failures.length > 0 && !this.#options.report) break;
    }
    this.#endLine();
    return {
      plans: this.#done,
      pruned: this.#pruned,
      untried: plans.length - this.#done,
      missed: this.#missed,
      failures: this.#failures,
      notes: this.#notes,
      seed: this.#seed,
      took: Math.round(performance.now() - begun),
    };
  }

  async #try(plan: Plan, whole: Known): Promise<void> {
    const { trace } = whole;
    const intervention = plan.kind === "interrupt" ? interventionOf(plan, trace) : undefined;
    const reference = intervention ? await this.#otherReference({ intervention }) : whole;
    if (!reference) {
      this.#pruned++;
      return;
    }
    const found = await this.#perform({ plan, due: trace.due });
    const skips = plan.kind === "down" && plan.to > plan.from + 1;
    // What was to be disturbed did not happen again; or the scenario itself needs the operator there.
    if (!found.fired || (found.error !== undefined && skips)) {
      this.#missed++;
      return;
    }
    const differences = compare(reference, found, plan);
    if (differences.length > 0) return this.#failed(plan, differences, found);
    // In the end all is well, perhaps only because everything is gone. What differed on the way counts, too, unless time
    // would have healed it: so the scenario is played up to there.
    const cutAt = firstDifference(reference, found, plan);
    if (cutAt === undefined) return;
    const cut = await this.#otherReference({ cutAt, ...(intervention && { intervention }) });
    if (!cut) return;
    const again = await this.#perform({ plan, due: trace.due, cutAt });
    const stay = again.fired ? compare(cut, again, plan) : [];
    if (stay.length > 0) this.#failed(plan, stay, again);
  }

  #failed(plan: Plan, differences: readonly Difference[], found: Outcome): void {
    const story = storyOf(plan, differences, found, this.#seed);
    this.#failures.push({ plan: planId(plan), disturbance: disturbanceOf(plan), differences, story });
  }

  /** Two undisturbed runs with other chances: what differs between them is not looked at. */
  async #reference(extra: Partial<RunParts>): Promise<Known> {
    const one = await this.#perform(extra);
    if (one.error !== undefined) throw one.error;
    const other = await this.#perform({ ...extra, seed: this.#seed + 1_000 });
    if (other.error !== undefined) throw other.error;
    const reference = referenceOf(one, other, this.#options.ignore ?? []);
    if (reference.unstableCalls.size > 0 && this.#notes.length === 0) {
      this.#notes.push(
        `${[...reference.unstableCalls].join(", ")}: called otherwise in two equal runs, so these calls are not compared. Does something outside of the cluster live on between runs? explore(() => makeOperator(), …) makes all of it anew`,
      );
    }
    return { ...reference, trace: commonTrace(one.trace, other.trace) };
  }

  /** Of another scenario: one that ends earlier, or in which an object is deleted at rest. */
  #otherReference(extra: Pick<RunParts, "cutAt" | "intervention">): Promise<Known | undefined> {
    const key = JSON.stringify(extra);
    const known = this.#others.get(key);
    if (known) return known;
    // A scenario that cannot go on without its object says nothing about the operator.
    const made = this.#reference(extra).catch(() => undefined);
    this.#others.set(key, made);
    return made;
  }

  async #perform(extra: Partial<RunParts>) {
    const operator = isOperator(this.#operator) ? this.#operator : await this.#operator();
    return perform({
      operator,
      scenario: this.#scenario,
      options: this.#options.harness ?? {},
      seed: this.#seed,
      ...extra,
    });
  }

  #progress(plans: number): void {
    const progress = { done: this.#done, plans, failures: this.#failures.length };
    if (this.#options.onProgress) this.#options.onProgress(progress);
    else if (process.stderr.isTTY) {
      process.stderr.write(`\rexplore: ${progress.done} of ${plans} runs, ${progress.failures} failures `);
    }
  }

  #endLine(): void {
    if (!this.#options.onProgress && process.stderr.isTTY) process.stderr.write("\n");
  }
}
