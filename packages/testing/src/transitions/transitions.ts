/** Walks an object of a kind through the specs that its schema allows, and looks at what the operator makes of each. */
import { type Duration, durationMs, isObject, VirtualClock } from "@lotse/client/meta";
import { objectJudge } from "@lotse/cluster";
import type { Operator } from "lotse";
import type { SchemaNode } from "lotse/samples";
import type { HarnessOptions } from "../harness-contract.ts";
import { storyOf, type TransitionFailure } from "./findings.ts";
import { shrinkWalk } from "./shrink.ts";
import { drawOrder, firstSpecs, forbiddenSpecs, neighbours, type Spec } from "./specs.ts";
import type { StageOptions, WalkedKind } from "./stage.ts";
import { isWell, Walker } from "./walks.ts";

/** How {@link transitions} walks. */
export interface TransitionsOptions {
  /** The same seed walks the same way. Default 1. */
  readonly seed?: number;
  /** No walk begins after so much real time. Default `"60s"`. */
  readonly budget?: Duration;
  /** How many specs are tried. Default 60. */
  readonly specs?: number;
  /** A spec that the operator can do, to begin with; one is looked for unless told. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** What is not compared: `"status.history"`, or `"ConfigMap default/sample: data.stamp"`. */
  readonly ignore?: readonly string[];
  /** How much virtual time the operator has for what it does later. Default `"5m"`. */
  readonly patience?: Duration;
  /** How the operator is set up; pods are simulated unless told otherwise. */
  readonly harness?: Omit<HarnessOptions, "clock" | "oracles">;
  /** Failures are returned instead of thrown. Default `false`. */
  readonly report?: boolean;
}

/** What was tried, and what was found. */
export interface TransitionsReport {
  readonly kind: string;
  readonly seed: number;
  /** Specs that were tried, and steps from one to another. */
  readonly specs: number;
  readonly steps: number;
  /** Steps that the server did not allow, and forbidden specs that it refused, as it must. */
  readonly refused: number;
  /** Specs that the operator could not do, and said so. */
  readonly misoperations: number;
  /** Places that turned out to tell how an object came about, which are not compared. */
  readonly ignored: readonly string[];
  /** Whether all walks were made before the budget was used up. */
  readonly complete: boolean;
  readonly failures: readonly TransitionFailure[];
  /** Of the first failure: what was done, what came of it, and a test to paste. */
  readonly story: string | undefined;
}

/**
 * An operator makes other things of a spec than it should. Its message tells the story.
 *
 * @example
 * ```ts
 * const story = await transitions(operator, Shop).then(() => "", (error: TransitionsError) => error.message);
 * ```
 */
export class TransitionsError extends Error {
  override readonly name = "TransitionsError";
  readonly report: TransitionsReport;

  constructor(report: TransitionsReport) {
    super(report.story);
    this.report = report;
  }
}

/**
 * Walks an object of a kind through specs that are made from its schema and its rules: ordinary ones, those at the bounds,
 * and forbidden ones, which the server has to refuse. What an object becomes must not depend on the way: the same spec
 * gives the same objects whether the object was created with it or changed to it; back at the former spec there are the
 * former objects; what the operator cannot do it says, by a condition, an Event or a warning, and can undo. No handler may
 * stumble, loop or hang, and nothing may be left of what was. Throws a {@link TransitionsError} with the shortest walk
 * that shows a mistake.
 *
 * Status, too, is compared, but for times, messages and reasons of conditions, and for what only counts changes.
 *
 * @example
 * ```ts
 * const { steps, misoperations } = await transitions(operator, Shop, { seed: 7 });
 * ```
 */
export async function transitions(
  operator: Operator,
  Kind: WalkedKind,
  options: TransitionsOptions = {},
): Promise<TransitionsReport> {
  const { seed = 1, budget = "60s", patience = "5m", harness = {}, report: reports = false } = options;
  const stage = (): StageOptions => ({ operator, kind: Kind, clock: new VirtualClock(), harness, patience });
  await using walker = new Walker(stage, options.ignore ?? []);
  const end = performance.now() + durationMs(budget);
  const run = new Run(walker, Kind, options, () => performance.now() >= end);
  const failures = await run.all();
  const [first] = failures;
  const kind = Kind.description.kind;
  const report: TransitionsReport = {
    kind,
    seed,
    specs: run.specs,
    ...walker.tally,
    ignored: walker.ignored,
    complete: run.complete,
    failures,
    story: first && storyOf(first, kind, seed),
  };
  if (first && !reports) throw new TransitionsError(report);
  return report;
}

/** One call of {@link transitions}. */
class Run {
  specs = 0;
  complete = true;
  readonly #walker: Walker;
  readonly #kind: WalkedKind;
  readonly #options: TransitionsOptions;
  readonly #isOver: () => boolean;

  constructor(walker: Walker, kind: WalkedKind, options: TransitionsOptions, isOver: () => boolean) {
    this.#walker = walker;
    this.#kind = kind;
    this.#options = options;
    this.#isOver = isOver;
  }

  /** The first failure, made small, or none. */
  async all(): Promise<TransitionFailure[]> {
    const { seed = 1, specs = 60 } = this.#options;
    const schema = specSchema(this.#kind);
    const judge = await objectJudge(this.#kind.crd());
    const { version } = this.#kind.description;
    const isValid = (spec: Spec) => judge(version, { metadata: { name: "sample" }, spec }).length === 0;
    const base = await this.#base(firstSpecs(schema, seed).filter(isValid));
    if ("failure" in base) return [base.failure];
    const others = drawOrder(neighbours(base.spec, schema, seed).filter(isValid), seed).slice(0, specs);
    this.specs = others.length + 1;
    const forbidden = await this.#forbidden(base.spec, schema);
    if (forbidden) return [forbidden];
    for (const walk of walksOf(base.spec, others, seed)) {
      if (this.#isOver()) {
        this.complete = false;
        return [];
      }
      const failure = await this.#walker.walk(walk);
      if (!failure) continue;
      const rest = others.filter((spec) => spec !== failure.walk.at(-1));
      if (await this.#walker.isHistory(failure.differences, base.spec, rest)) continue;
      const confirmed = await shrinkWalk(failure, schema, isValid, (specsToWalk) => this.#again(specsToWalk));
      if (confirmed) return [confirmed];
    }
    return [];
  }

  /** The same walk in clusters where nothing was before. */
  async #again(specs: readonly Spec[]): Promise<TransitionFailure | undefined> {
    await using other = this.#walker.another();
    return other.walk(specs);
  }

  /** The first spec with which the operator has no trouble; the least troublesome where there is none. */
  async #base(candidates: readonly Spec[]): Promise<{ readonly spec: Spec } | { readonly failure: TransitionFailure }> {
    const given = this.#options.base;
    const all = given ? [given as Spec, ...candidates] : candidates;
    let disaster: TransitionFailure | undefined;
    for (const spec of all) {
      const { visit, failure } = await this.#walker.fresh(spec);
      if (failure) disaster ??= failure;
      else if (isWell(visit)) return { spec };
      if (given && spec === given && visit.refused !== undefined) {
        throw new Error(`the server does not take the base that was given: ${visit.refused}`);
      }
    }
    if (disaster) return { failure: disaster };
    const taken = all.find((spec) => !this.#walker.isRefused(spec));
    if (taken) return { spec: taken };
    throw new Error(
      `no ${this.#kind.description.kind} could be made that the server takes; give one: transitions(operator, Kind, { base: { … } })`,
    );
  }

  async #forbidden(base: Spec, schema: SchemaNode): Promise<TransitionFailure | undefined> {
    const stage = await this.#walker.stage();
    for (const { spec, what } of forbiddenSpecs(base, schema)) {
      if ((await stage.refuses(spec)) === undefined)
        return { mistake: "not refused", walk: [spec], differences: [], what };
      this.#walker.tally.refused++;
    }
    return undefined;
  }
}

/** From the first spec to each other and back; then from one to the next. */
function* walksOf(base: Spec, others: readonly Spec[], seed: number): Generator<readonly Spec[]> {
  for (const other of others) yield [base, other, base];
  const order = drawOrder(others, seed + 1).toReversed();
  for (let i = 0; i + 3 <= order.length; i += 3) yield order.slice(i, i + 4);
}

/** The schema of the spec, in the version that handlers see. */
function specSchema(Kind: WalkedKind): SchemaNode {
  const { version, kind } = Kind.description;
  const { spec } = Kind.crd() as {
    readonly spec: { readonly versions: readonly { name: string; schema?: unknown }[] };
  };
  const found = spec.versions.find(({ name }) => name === version)?.schema as
    | { openAPIV3Schema?: SchemaNode }
    | undefined;
  const properties = found?.openAPIV3Schema?.properties;
  const schema = isObject(properties) ? properties.spec : undefined;
  if (!isObject(schema))
    throw new Error(`${kind} ${version} has no schema of its spec: there is nothing to walk through`);
  return schema;
}
