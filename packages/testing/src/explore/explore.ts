/** Tries an operator with everything that can happen to it: see {@link explore}. */
import { availableParallelism } from "node:os";
import { KubeError } from "@lotse/client";
import { ConfigError, type Duration, durationMs, errorMessage } from "@lotse/client/meta";
import type { HarnessOptions } from "../harness-contract.ts";
import { Attempts, type OperatorSource, type Verdict } from "./attempts.ts";
import { type Plan, planId, planRuns } from "./plans.ts";
import { randomFrom, type Scenario } from "./stage.ts";
import type { ExploreFailure } from "./story.ts";
import { loadSubject, type Subject, subjectOf } from "./subject.ts";
import { Thread } from "./threads.ts";

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
  /**
   * How many threads try plans besides this one, where the operator is named by the URL of its module. Default: one for each
   * processor but one.
   */
  readonly workers?: number;
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

const DEFAULT_BUDGET = "60s";
const DEFAULT_SEED = 1;

/**
 * Runs a scenario once undisturbed and then again and again, each time with one disturbance: the operator is killed at each
 * of its writes, answers are lost, events come late, merged or twice, lists are stale, objects are deleted and made again
 * under a handler's hands, steps happen while the operator is down. When all is quiet, the cluster and the calls to the
 * world outside have to be as they were without. Runs on clusters of their own, in virtual time.
 *
 * The scenario is what a test would do: it applies, changes and deletes objects, and calls `settle()` or `advance()` after
 * each step. `operator` may be a function that makes a new one for each run, where it has a memory of its own. With the
 * URL of a module, whose default export is the operator (or such a function) and whose export `scenario` is the scenario,
 * or the export that is named, plans are tried on several threads.
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
  operator: OperatorSource | URL,
  scenario: Scenario | string = "scenario",
  options: ExploreOptions = {},
): Promise<ExploreReport> {
  const subject = operator instanceof URL ? await loadSubject(operator, scenario) : subjectOf(operator, scenario);
  const report = await new Exploration(subject, options).run();
  if (report.failures.length > 0 && !options.report) throw new ExploreError(report);
  return report;
}

/** Whoever tries plans. */
interface Trier {
  attempt(plan: Plan): Promise<Verdict>;
}

class Exploration {
  readonly #subject: Subject;
  readonly #options: ExploreOptions;
  readonly #seed: number;
  readonly #failures = new Map<Plan, ExploreFailure>();
  readonly #notes = new Set<string>();
  #done = 0;
  #missed = 0;
  #pruned = 0;

  constructor(subject: Subject, options: ExploreOptions) {
    this.#subject = subject;
    this.#options = options;
    this.#seed = options.seed ?? DEFAULT_SEED;
  }

  async run(): Promise<ExploreReport> {
    const begun = performance.now();
    const end = begun + durationMs(this.#options.budget ?? DEFAULT_BUDGET);
    const { operator, scenario } = this.#subject;
    const { harness = {}, ignore = [] } = this.#options;
    const attempts = new Attempts({ operator, scenario, seed: this.#seed, harness, ignore });
    const plans = this.#chosen(planRuns(await attempts.trace(), randomFrom(this.#seed)));
    const threads = this.#threads(plans.length);
    try {
      await this.#tryAll(plans, [attempts, ...threads], end);
    } finally {
      await Promise.all(threads.map((thread) => thread.close()));
    }
    return {
      plans: this.#done,
      pruned: this.#pruned,
      untried: plans.length - this.#done,
      missed: this.#missed,
      failures: plans.flatMap((plan) => this.#failures.get(plan) ?? []),
      notes: [...(await attempts.notes()), ...this.#notes],
      seed: this.#seed,
      took: Math.round(performance.now() - begun),
    };
  }

  #chosen({ plans, pruned }: { readonly plans: readonly Plan[]; readonly pruned: number }): readonly Plan[] {
    this.#pruned = pruned;
    const { only } = this.#options;
    if (only === undefined) return plans;
    const chosen = plans.filter((plan) => planId(plan) === only);
    if (chosen.length > 0) return chosen;
    throw new ConfigError(`there is no plan ${JSON.stringify(only)} for this operator and scenario`, {
      hint: `one of: ${plans.slice(0, 5).map(planId).join("; ")}, …`,
    });
  }

  #threads(plans: number): Thread[] {
    const { module } = this.#subject;
    if (!module) return [];
    const { workers = availableParallelism() - 1, harness = {}, ignore = [] } = this.#options;
    const count = Math.min(workers, plans - 1);
    const settings = { ...module, seed: this.#seed, harness, ignore };
    return Array.from({ length: Math.max(0, count) }, () => new Thread(settings));
  }

  /** Whoever is free takes the next plan. */
  async #tryAll(plans: readonly Plan[], triers: readonly Trier[], end: number): Promise<void> {
    const left = [...plans];
    this.#progress(plans.length);
    const work = async (trier: Trier) => {
      while (performance.now() < end) {
        if (this.#failures.size > 0 && !this.#options.report) return;
        const plan = left.shift();
        if (!plan) return;
        try {
          this.#note(plan, await trier.attempt(plan));
        } catch (error) {
          if (!(trier instanceof Thread)) throw error;
          // This thread can do without.
          left.unshift(plan);
          this.#notes.add(`a thread did not do its part: ${errorMessage(error)}`);
          return;
        }
        this.#progress(plans.length);
      }
    };
    const [own, ...threads] = triers;
    await Promise.all(threads.map(work).concat(own ? [work(own)] : []));
    // What a thread has given back when this one was through.
    if (own && left.length > 0) await work(own);
    if (!this.#options.onProgress && process.stderr.isTTY) process.stderr.write("\n");
  }

  #note(plan: Plan, verdict: Verdict): void {
    this.#done++;
    if (verdict.is === "missed") this.#missed++;
    if (verdict.is === "pruned") this.#pruned++;
    if (verdict.is === "failed") this.#failures.set(plan, verdict.failure);
  }

  #progress(plans: number): void {
    const progress = { done: this.#done, plans, failures: this.#failures.size };
    if (this.#options.onProgress) this.#options.onProgress(progress);
    else if (process.stderr.isTTY) {
      process.stderr.write(`\rexplore: ${progress.done} of ${plans} runs, ${progress.failures} failures `);
    }
  }
}
