/**
 * Tries the conversions of a kind with objects that are made from the schemas of its versions: each has to come back as
 * it was, and to be valid in between. An object that shows a mistake is made small. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { deepEqual, diff, isObject } from "@lotse/client/meta";
import {
  RECORD_FIELD,
  type SchemaGap,
  type SchemaNode,
  SchemaSampler,
  shrinkValue,
  type ValueProblem,
  validateValue,
  withDefaults,
} from "../../schema/index.ts";
import { unload } from "./carry.ts";
import { convertBody } from "./convert.ts";
import { differences, keptPaths } from "./kept.ts";
import { type AnyConversion, type ConvertedKind, convertedKind, type VersionedClass } from "./kind.ts";

/** How {@link checkConversions} tries. */
export interface ConversionTrial {
  /** The same seed tries the same objects. Default 1. */
  readonly seed?: number | undefined;
  /** Objects of each version that is converted, and as many of the stored one. Default 1000. */
  readonly runs?: number | undefined;
  /** Conversions that are declared elsewhere, by version. */
  readonly conversions?: ReadonlyMap<string, AnyConversion> | undefined;
  /** What else is wrong with an object of a version: rules in CEL, where an engine is at hand. */
  readonly judge?: ((version: string, body: KubeBody) => readonly ValueProblem[]) | undefined;
}

/**
 * What is wrong: a function throws, on the way there or back; makes what is not valid; gives another answer each time; or
 * the object is not the same when it comes back.
 */
export type ConversionMistake = "throws" | "throws on the way back" | "invalid" | "impure" | "differs";

/** A mistake in a conversion, with the smallest object that was found to show it. */
export interface ConversionFault {
  readonly mistake: ConversionMistake;
  /** The versions, in the order of the trip: `["v1", "v1beta1", "v1"]`. */
  readonly trip: readonly string[];
  /** `is not the same when it comes back` */
  readonly what: string;
  /** Its spec and status. */
  readonly object: unknown;
  /** What differs, what is not valid, or what was thrown. */
  readonly details: readonly string[];
}

/** What a version cannot hold of another one, and is kept for it. */
export interface KeptNote {
  readonly version: string;
  /** The version that has these fields. */
  readonly holder: string;
  readonly paths: readonly string[];
}

/** What came out. */
export interface ConversionProof {
  readonly kind: string;
  /** Where the kind was declared: `shop.ts:12`. */
  readonly place: string | undefined;
  /** How many objects were tried. */
  readonly objects: number;
  readonly faults: readonly ConversionFault[];
  readonly kept: readonly KeptNote[];
  /** What no objects could be made for. */
  readonly gaps: readonly (SchemaGap & { readonly version: string })[];
}

/** A kind whose conversions can be tried. */
export type ProvableKind = VersionedClass & { readonly sourceLocation?: string | undefined };

/**
 * Tries all conversions of `Kind`. Never throws: what goes wrong in a function is a fault.
 *
 * @example
 * ```ts
 * const { faults } = checkConversions(Shop, { seed: 7, runs: 5_000 });
 * ```
 */
export function checkConversions(Kind: ProvableKind, trial: ConversionTrial = {}): ConversionProof {
  const kind = convertedKind(Kind, trial.conversions);
  const faults: ConversionFault[] = [];
  const kept: KeptNote[] = [];
  const gaps: (SchemaGap & { version: string })[] = [];
  let objects = 0;
  for (const version of kind.conversions.keys()) {
    for (const trip of [
      [kind.storageVersion, version],
      [version, kind.storageVersion],
    ] as const) {
      const tried = new Trip(kind, trip, trial).run();
      objects += tried.objects;
      faults.push(...tried.faults);
      if (tried.kept.length > 0) kept.push({ version: trip[1], holder: trip[0], paths: tried.kept });
      for (const gap of tried.gaps) {
        const known = gaps.some((one) => one.version === trip[0] && one.path === gap.path);
        if (!known) gaps.push({ ...gap, version: trip[0] });
      }
    }
  }
  return { kind: kind.kind, place: Kind.sourceLocation, objects, faults, kept, gaps };
}

/**
 * A fault as a few lines: what, where, the object, and the difference.
 *
 * @example
 * ```ts
 * const { kind, place, faults } = checkConversions(Shop);
 * console.log(faults.map((fault) => faultText(fault, kind, place)).join("\n"));
 * ```
 */
export function faultText({ trip, what, object, details }: ConversionFault, kind: string, place?: string): string {
  const head = `${kind} ${trip.join(" → ")} ${what}${place === undefined ? "" : ` (${place})`}`;
  return [head, `  ${JSON.stringify(object)}`, ...details.map((line) => `  ${line}`)].join("\n");
}

/** Metadata as an API server gives it: none of it may change. */
const METADATA = {
  name: "sample",
  namespace: "default",
  uid: "00000000-0000-4000-8000-000000000000",
  resourceVersion: "1",
  generation: 1,
  labels: { "example.com/label": "a" },
  annotations: { "example.com/annotation": "b" },
};

/** What happened to one object. */
interface Outcome {
  readonly mistake: ConversionMistake;
  readonly details: readonly string[];
}

const WORDS: Readonly<Record<ConversionMistake, string>> = {
  throws: "fails",
  invalid: "makes what the other version does not take",
  impure: "gives something else when it is called twice: it has to be pure",
  "throws on the way back": "fails on the way back",
  differs: "is not the same when it comes back",
};

/** Every so many objects are converted twice. */
const TWICE = 10;
const MOST_DETAILS = 5;

class Trip {
  readonly #kind: ConvertedKind;
  readonly #from: string;
  readonly #to: string;
  readonly #trial: ConversionTrial;
  readonly #schemas: readonly [from: SchemaNode, to: SchemaNode];
  readonly #kept = new Set<string>();

  constructor(kind: ConvertedKind, [from, to]: readonly [string, string], trial: ConversionTrial) {
    this.#kind = kind;
    this.#from = from;
    this.#to = to;
    this.#trial = trial;
    const schemaOf = (version: string) => kind.versions.find(({ name }) => name === version)?.schema() ?? {};
    this.#schemas = [schemaOf(from), schemaOf(to)];
  }

  run() {
    const [schema] = this.#schemas;
    const sampler = new SchemaSampler(schema);
    const faults = new Map<ConversionMistake, ConversionFault>();
    let objects = 0;
    const { seed = 1, runs = 1_000 } = this.#trial;
    for (const value of sampler.samples({ seed, runs })) {
      if (!this.#counts(value)) continue;
      const outcome = this.#try(value, objects++ % TWICE === 0);
      if (outcome && !faults.has(outcome.mistake)) faults.set(outcome.mistake, this.#fault(value, outcome.mistake));
    }
    return { objects, faults: [...faults.values()], kept: [...this.#kept].sort(), gaps: this.#gaps(sampler, objects) };
  }

  #gaps(sampler: SchemaSampler, objects: number): readonly SchemaGap[] {
    if (objects > 0) return sampler.gaps;
    const what = "no object could be made that fits the schema: its conversion was not tried";
    return [{ path: "", what, todo: "test it with objects of your own" }, ...sampler.gaps];
  }

  /** Whether the API server would have such an object; of rules in CEL the sampler knows nothing. */
  #counts(value: unknown): boolean {
    return (this.#trial.judge?.(this.#from, this.#body(value)) ?? []).length === 0;
  }

  #body(value: unknown): KubeBody {
    const { group, kind } = this.#kind;
    const body = { apiVersion: `${group}/${this.#from}`, kind, metadata: METADATA, ...(value as object) };
    return withoutEmptyRecord(withDefaults(body, this.#schemas[0]));
  }

  #fault(value: unknown, mistake: ConversionMistake): ConversionFault {
    const shows = (one: unknown) => this.#counts(one) && this.#try(one, mistake === "impure")?.mistake === mistake;
    const object = shrinkValue(value, this.#schemas[0], shows);
    const details = this.#try(object, mistake === "impure")?.details ?? [];
    return { mistake, trip: this.#tripOf(mistake), what: WORDS[mistake], object, details };
  }

  #tripOf(mistake: ConversionMistake): readonly string[] {
    const there = [this.#from, this.#to];
    return mistake === "differs" || mistake === "throws on the way back" ? [...there, this.#from] : there;
  }

  #try(value: unknown, twice: boolean): Outcome | undefined {
    const body = this.#body(value);
    let there: KubeBody;
    try {
      there = convertBody(this.#kind, body, this.#to);
      if (twice && !deepEqual(there, convertBody(this.#kind, body, this.#to)))
        return { mistake: "impure", details: [] };
    } catch (error) {
      return { mistake: "throws", details: [(error as Error).message] };
    }
    const { body: bare, carried } = unload(there);
    const kept = carried.kept.get(this.#from);
    if (kept) for (const path of keptPaths(kept)) this.#kept.add(path);
    const seen = withDefaults(bare, this.#schemas[1]);
    const problems = [...validateValue(seen, this.#schemas[1]), ...(this.#trial.judge?.(this.#to, seen) ?? [])];
    if (problems.length > 0) return { mistake: "invalid", details: told(problems) };
    let back: KubeBody;
    try {
      back = convertBody(this.#kind, there, this.#from);
    } catch (error) {
      return { mistake: "throws on the way back", details: [(error as Error).message] };
    }
    const shown = withoutEmptyRecord(withDefaults(back, this.#schemas[0]));
    return deepEqual(body, shown) ? undefined : { mistake: "differs", details: differing(body, shown) };
  }
}

/** Lotse's own record of nothing, and a status of nothing, are none. */
function withoutEmptyRecord(body: KubeBody): KubeBody {
  if (!isObject(body.status)) return body;
  const { [RECORD_FIELD]: record, ...rest } = body.status;
  const status = isObject(record) && Object.keys(record).length > 0 ? body.status : rest;
  if (Object.keys(status).length > 0) return { ...body, status };
  const { status: _empty, ...bare } = body;
  return bare;
}

function told(problems: readonly ValueProblem[]): string[] {
  return problems.slice(0, MOST_DETAILS).map(({ path, what }) => (path === "" ? what : `${path}: ${what}`));
}

function differing(before: KubeBody, after: KubeBody): string[] {
  const shown = (value: unknown) => (value === undefined ? "nothing" : JSON.stringify(value));
  const found = diff(before, after).map(
    ({ path, old, new: now }) => `${path.join(".")}: ${shown(old)} became ${shown(now)}`,
  );
  // What differs in a null alone is no difference there.
  const nulls = keptPaths(differences(after, before, undefined) ?? {}).map((path) => `${path}: not the same null`);
  return (found.length > 0 ? found : nulls).slice(0, MOST_DETAILS);
}
