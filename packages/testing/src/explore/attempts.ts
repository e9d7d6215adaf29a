/** Makes disturbed runs of one operator and one scenario, and says of each what came of it. */
import { isOperator, type Operator } from "lotse";
import type { HarnessOptions } from "../harness-contract.ts";
import { compare, compareObjects } from "./compare.ts";
import { commonTrace, type Plan, planId } from "./plans.ts";
import { type Difference, type Reference, referenceOf } from "./reference.ts";
import { type Outcome, perform, type RunParts, type Scenario } from "./stage.ts";
import { disturbanceOf, type ExploreFailure, storyOf } from "./story.ts";
import type { Trace } from "./trace.ts";

/** An operator, or a function that makes a new one for each run. */
export type OperatorSource = Operator | (() => Operator | Promise<Operator>);

/** What {@link Attempts} go by. */
export interface AttemptsParts {
  readonly operator: OperatorSource;
  readonly scenario: Scenario;
  readonly seed: number;
  readonly harness: Omit<HarnessOptions, "clock">;
  readonly ignore: readonly string[];
}

/** What came of a disturbed run. `missed`: what was to be disturbed did not happen again. `pruned`: nothing to compare with. */
export type Verdict =
  | { readonly is: "passed" | "missed" | "pruned" }
  | { readonly is: "failed"; readonly failure: ExploreFailure };

/** An undisturbed run, and where it can be disturbed. */
interface Known extends Reference {
  readonly trace: Trace;
}

/** See the module comment. */
export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #references = new Map<string, Promise<Known>>();

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
  }

  /** What an undisturbed run does. Rejects when the scenario fails even so. */
  async trace(): Promise<Trace> {
    return (await this.#reference({})).trace;
  }

  /** What the author of the test should know. */
  async notes(): Promise<string[]> {
    const { unstableCalls } = await this.#reference({});
    if (unstableCalls.size === 0) return [];
    return [
      `${[...unstableCalls].join(", ")}: called otherwise in two equal runs, so these calls are not compared. Does something outside of the cluster live on between runs? explore(() => makeOperator(), …) makes all of it anew`,
    ];
  }

  /** Tries one plan. */
  async attempt(plan: Plan): Promise<Verdict> {
    const whole = await this.#reference({});
    const { trace } = whole;
    const intervention = plan.kind === "interrupt" ? interventionOf(plan, trace) : undefined;
    const reference = intervention ? await this.#otherReference({ intervention }) : whole;
    if (!reference) return { is: "pruned" };
    const found = await this.#perform({ plan, due: trace.due });
    const skips = plan.kind === "down" && plan.to > plan.from + 1;
    // Or the scenario itself needs the operator there.
    if (!found.fired || (found.error !== undefined && (skips || found.failedAlone))) return { is: "missed" };
    const differences = compare(reference, found, plan);
    if (differences.length > 0) {
      const isUnseen = plan.kind === "interrupt" && asIfUnseen(plan, whole, found);
      return isUnseen ? { is: "passed" } : this.#failed(plan, differences, found);
    }
    // In the end all is well, perhaps only because everything is gone. What differed on the way counts, too, unless time
    // would have healed it: so the scenario is played up to there.
    const cutAt = firstDifference(reference, found, plan);
    if (cutAt === undefined) return { is: "passed" };
    const cut = await this.#otherReference({ cutAt, ...(intervention && { intervention }) });
    if (!cut) return { is: "passed" };
    const again = await this.#perform({ plan, due: trace.due, cutAt });
    const stay = again.fired ? compare(cut, again, plan) : [];
    return stay.length > 0 ? this.#failed(plan, stay, again) : { is: "passed" };
  }

  #failed(plan: Plan, differences: readonly Difference[], found: Outcome): Verdict {
    const story = storyOf(plan, differences, found, this.#parts.seed);
    return { is: "failed", failure: { plan: planId(plan), disturbance: disturbanceOf(plan), differences, story } };
  }

  /** Of another scenario: one that ends earlier, or in which an object is deleted at rest. */
  async #otherReference(extra: Pick<RunParts, "cutAt" | "intervention">): Promise<Known | undefined> {
    // A scenario that cannot go on without its object says nothing about the operator.
    return this.#reference(extra).catch(() => undefined);
  }

  #reference(extra: Pick<RunParts, "cutAt" | "intervention">): Promise<Known> {
    const key = JSON.stringify(extra);
    const known = this.#references.get(key) ?? this.#learn(extra);
    this.#references.set(key, known);
    return known;
  }

  /** Two undisturbed runs with other chances: what differs between them is not looked at. */
  async #learn(extra: Partial<RunParts>): Promise<Known> {
    const { seed, ignore } = this.#parts;
    const one = await this.#perform(extra);
    if (one.error !== undefined) throw one.error;
    const other = await this.#perform({ ...extra, seed: seed + OTHER_CHANCES });
    if (other.error !== undefined) throw other.error;
    return { ...referenceOf(one, other, ignore), trace: commonTrace(one.trace, other.trace) };
  }

  async #perform(extra: Partial<RunParts>): Promise<Outcome> {
    const { operator, scenario, seed, harness } = this.#parts;
    const made = isOperator(operator) ? operator : await operator();
    return perform({ operator: made, scenario, options: harness, seed, ...extra });
  }
}

const OTHER_CHANCES = 1_000;

/** The same in peace: the object is deleted when all is at rest. */
function interventionOf(plan: Plan & { kind: "interrupt" }, { writes }: Trace): RunParts["intervention"] {
  const { label, nth } = plan.at;
  const write = writes.find((one) => one.label === label && one.nth === nth);
  return write?.actor && { step: plan.step, object: write.actor, recreate: plan.recreate };
}

/**
 * Whoever is interrupted before anything was done may end as if the object that was deleted had never been there: nothing
 * was made for it that a successor could find, or that would have to be kept.
 */
function asIfUnseen(plan: Plan & { kind: "interrupt" }, whole: Reference, found: Outcome): boolean {
  if (plan.recreate) return compare(whole, found, plan).length === 0;
  const before = whole.rests[plan.step - 1];
  const isSilent = found.calls.every(({ step }) => step < plan.step);
  return before !== undefined && isSilent && compareObjects(before, found.objects).length === 0;
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
