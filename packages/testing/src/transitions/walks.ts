/** Walks on a stage, and what is thought of each of their steps. */
import { deepEqual } from "@lotse/client/meta";
import type { Mistake, TransitionFailure } from "./findings.ts";
import type { Spec } from "./specs.ts";
import { Stage, type StageOptions, type Visit } from "./stage.ts";
import {
  groupOf,
  isIgnored,
  objectAt,
  type State,
  type StateDifference,
  stateDifferences,
  withoutCounters,
} from "./states.ts";

/** An object that was created with a spec, and nothing else has happened to it. */
export interface Fresh {
  readonly visit: Visit;
  /** After some time has passed; undefined while nobody has asked. */
  later?: Visit | undefined;
  /** Places that are not the same in a second object that is created like that. */
  random?: ReadonlySet<string> | undefined;
  readonly failure?: TransitionFailure | undefined;
}

/** What was done so far. */
export interface Tally {
  steps: number;
  refused: number;
  misoperations: number;
}

/** Makes walks, and remembers what objects look like that were created with a spec. */
export class Walker implements AsyncDisposable {
  readonly tally: Tally = { steps: 0, refused: 0, misoperations: 0 };
  /** Places that tell how something came about: found out on the way. */
  readonly #ignored: Set<string>;
  readonly #options: () => StageOptions;
  readonly #fresh = new Map<string, Fresh>();
  #stage: Stage | undefined;

  constructor(options: () => StageOptions, ignored: readonly string[]) {
    this.#options = options;
    this.#ignored = new Set(ignored);
  }

  /** The places that turned out to tell of the past. */
  get ignored(): readonly string[] {
    return [...this.#ignored];
  }

  async stage(): Promise<Stage> {
    this.#stage ??= await Stage.open(this.#options());
    return this.#stage;
  }

  /** The next walk begins in an empty cluster. */
  async leave(): Promise<void> {
    const stage = this.#stage;
    this.#stage = undefined;
    await stage?.[Symbol.asyncDispose]();
  }

  /** One that knows what this one has found out, and walks elsewhere. */
  another(): Walker {
    return new Walker(this.#options, this.ignored);
  }

  /** Whether the server did not take an object with this spec. */
  isRefused(spec: Spec): boolean {
    return this.#fresh.get(JSON.stringify(spec))?.visit.refused !== undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave();
  }

  /** What an object looks like that is created with this spec. */
  async fresh(spec: Spec): Promise<Fresh> {
    const key = JSON.stringify(spec);
    const known = this.#fresh.get(key);
    if (known) return known;
    const made = await this.#create(spec, false);
    this.#fresh.set(key, made);
    return made;
  }

  async #create(spec: Spec, waits: boolean): Promise<Fresh> {
    const stage = await this.stage();
    this.tally.steps++;
    const visit = await stage.create(spec);
    if (visit.refused !== undefined) return { visit };
    if (visit.disaster) {
      await this.leave();
      return { visit, failure: disaster(visit, [spec]) };
    }
    const later = waits ? await stage.wait(() => false) : undefined;
    const left = await stage.remove();
    const failure = left === undefined ? undefined : leftOver(left, [spec]);
    // One that does not go, or leaves something, would be in the way of the next.
    if (left === undefined || Object.keys(left).length > 0) await this.leave();
    if (left === undefined && isWell(visit))
      return { visit, later, failure: { mistake: "stays", walk: [spec], differences: [] } };
    return { visit, later, failure };
  }

  /** Walks; the first step that is wrong ends it. Undefined: all is well, or the server did not let it go there. */
  async walk(specs: readonly Spec[]): Promise<TransitionFailure | undefined> {
    for (let tries = 0; ; tries++) {
      const found = await this.#walkOnce(specs);
      if (!found || !("doubtful" in found)) return found;
      // Operators may share something in this process: there is never more than one of them at work.
      await this.leave();
      if (tries >= specs.length) return undefined;
      await this.#learn(found.doubtful);
    }
  }

  async #walkOnce(specs: readonly Spec[]): Promise<TransitionFailure | { readonly doubtful: Spec } | undefined> {
    const [first, ...rest] = specs;
    if (first === undefined) return undefined;
    // What is compared with is made before: there is one object at a time.
    for (const spec of specs) {
      const { failure } = await this.fresh(spec);
      if (failure) return failure;
    }
    const stage = await this.stage();
    let before = await stage.create(first);
    if (before.refused !== undefined) return undefined;
    const passed: Spec[] = [first];
    let failed = !isWell(before);
    for (const spec of rest) {
      this.tally.steps++;
      const visit = await stage.change(spec);
      if (visit.refused !== undefined) {
        this.tally.refused++;
        break;
      }
      passed.push(spec);
      if (visit.disaster) {
        await this.leave();
        return disaster(visit, passed);
      }
      const returns = passed.length > 2 && deepEqual(spec, passed.at(-3));
      const fresh = await this.fresh(spec);
      // An operator may say that it cannot do something. It may not say so of what it has to undo.
      const mayComplain = !(failed && returns && isWell(fresh.visit));
      const excused = mayComplain && (isTold(before, visit) || !isWell(fresh.visit));
      const verdict = await this.#compare(stage, fresh, visit, passed, excused);
      if (verdict === "doubtful") return { doubtful: spec };
      failed = verdict.length > 0 || !isWell(visit);
      if (verdict.length > 0 && !excused) {
        await this.leave();
        return { mistake: this.#mistake(before, visit, fresh, returns), walk: passed, differences: verdict };
      }
      if (verdict.length > 0) this.tally.misoperations++;
      before = visit;
    }
    const left = await stage.remove();
    const failure = left === undefined ? undefined : leftOver(left, passed);
    if (left === undefined || Object.keys(left).length > 0) await this.leave();
    return failure;
  }

  #mistake(before: Visit, visit: Visit, fresh: Fresh, returns: boolean): Mistake {
    if (returns) return "does not come back";
    const { kind } = this.#options().kind.description;
    const [was, is, wanted] = [before, visit, fresh.visit].map(({ state }) => children(state, kind));
    const isKept = stateDifferences(was ?? {}, is ?? {}).length === 0;
    return isKept && Object.keys(wanted ?? {}).length === 0 ? "silent" : "differs";
  }

  /**
   * What differs from an object that was created like that, once both have had their time. `doubtful`: something does, and
   * not enough is known of such an object to say whether that means anything. What is `excused` need not be looked into.
   */
  async #compare(
    stage: Stage,
    fresh: Fresh,
    visit: Visit,
    walk: readonly Spec[],
    excused: boolean,
  ): Promise<StateDifference[] | "doubtful"> {
    // Webhooks may say at its creation what an object is, and at no change: then it is not the same spec.
    if (!deepEqual(fresh.visit.stored, visit.stored)) return [];
    const differences = (found: State) =>
      [fresh.visit, ...(fresh.later ? [fresh.later] : [])]
        .map(({ state }) => this.#differences(fresh, state, found, walk))
        .reduce((best, one) => (one.length < best.length ? one : best));
    const now = differences(visit.state);
    if (now.length === 0 || excused) return now;
    const later = await stage.wait((state) => differences(state).length === 0);
    const left = differences(later.state);
    return left.length > 0 && !fresh.random ? "doubtful" : left;
  }

  #differences(fresh: Fresh, wanted: State, found: State, walk: readonly Spec[]): StateDifference[] {
    const plain = stateDifferences(wanted, found);
    const counted = plain.some(({ path }) => path === "") ? withoutCounters(wanted, found, walk) : undefined;
    const all = counted ? stateDifferences(counted.wanted, counted.found) : plain;
    return all.filter((one) => !isIgnored(one, this.#ignored) && !fresh.random?.has(`${one.title}: ${one.path}`));
  }

  /**
   * Another object that is created like that, in a cluster of its own: what becomes of it in time, and what is drawn anew
   * for each.
   */
  async #learn(spec: Spec): Promise<void> {
    const fresh = await this.fresh(spec);
    await this.leave();
    await using other = this.another();
    const second = await other.#create(spec, true);
    fresh.later = second.later;
    const differences = stateDifferences(fresh.visit.state, second.visit.state);
    fresh.random = new Set(differences.map(({ title, path }) => `${title}: ${path}`));
  }

  /**
   * Whether what differs tells only that the object was changed, and not what it is: then it is the same for whatever it
   * was changed to, and for whatever it was created with. Such places of a status are not looked at any more.
   */
  async isHistory(differences: readonly StateDifference[], base: Spec, others: readonly Spec[]): Promise<boolean> {
    if (differences.length === 0 || !differences.every(mayBeHistory)) return false;
    const seen = differences.map(({ wanted, found }) => ({
      wanted: new Set([key(wanted)]),
      found: new Set([key(found)]),
    }));
    let probes = 0;
    await this.leave();
    for (const spec of others) {
      if (probes >= PROBES) break;
      await using other = new Walker(this.#options, this.ignored);
      const stage = await other.stage();
      const created = await stage.create(spec);
      if (created.refused !== undefined || !isWell(created)) continue;
      if ((await stage.remove()) === undefined) continue;
      const before = await stage.create(base);
      if (before.refused !== undefined) continue;
      const changed = await stage.change(spec);
      // What a default says already is no change.
      if (deepEqual(before.stored, changed.stored)) continue;
      if (changed.refused !== undefined || !isWell(changed)) continue;
      probes++;
      for (const [i, { title, path }] of differences.entries()) {
        const [one, other] = [objectAt(created.state, title), objectAt(changed.state, title)];
        // Of objects that differ by a number there may be fewer.
        if (one === undefined && other === undefined) continue;
        seen[i]?.wanted.add(key(valueAt(one, path)));
        seen[i]?.found.add(key(valueAt(other, path)));
      }
    }
    const isHistory = probes >= 2 && seen.every(({ wanted, found }) => wanted.size === 1 && found.size === 1);
    if (isHistory) for (const { title, path } of differences) this.#ignored.add(`${groupOf(title)}: ${path}`);
    return isHistory;
  }
}

const PROBES = 3;

/** What is said of an object, or a label or annotation that counts. */
function mayBeHistory({ path, wanted, found }: StateDifference): boolean {
  if (/^status[.[]/.test(path)) return true;
  return (
    /^metadata\.(?:labels|annotations)/.test(path) && [wanted, found].every((value) => /^\d+$/.test(String(value)))
  );
}

function key(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

function valueAt(value: unknown, path: string): unknown {
  // `metadata.labels["example.com/a"][0]`
  const steps = [...path.matchAll(/\["([^"]*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, word]) => {
    return quoted ?? index ?? word ?? "";
  });
  return steps.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], value);
}

/** The operator has nothing to complain of. */
export function isWell({ refused, complaints, disaster }: Visit): boolean {
  return refused === undefined && complaints.length === 0 && disaster === undefined;
}

/** Somebody who looks at the object, at its Events or into the log would know. */
function isTold(before: Visit, after: Visit): boolean {
  return after.complaints.length > 0 || troubleIn(after.words, before.words);
}

/** Words about trouble that were not there before: a condition, a message, a phase. */
function troubleIn(after: string, before: string): boolean {
  return after !== before && TROUBLE.test(after) && !TROUBLE.test(before);
}

const TROUBLE =
  /"(?:False|Unknown)"|error|fail|invalid|refus|stall|degrad|cannot|must|not supported|too |unsupported|reject/i;

/** All but the object itself. */
function children(state: State, kind: string): State {
  const isChild = (title: string) => !(title.startsWith(`${kind} `) && /[ /]sample$/.test(title));
  return Object.fromEntries(Object.entries(state).filter(([title]) => isChild(title)));
}

function disaster({ disaster: found }: Visit, walk: readonly Spec[]): TransitionFailure {
  return { mistake: found?.kind ?? "hang", walk: [...walk], differences: [], what: found?.what };
}

/** What holds data of others is left on purpose. */
const KEPT = /^(?:Namespace|PersistentVolumeClaim|PersistentVolume) /;

function leftOver(left: State, walk: readonly Spec[]): TransitionFailure | undefined {
  const differences = stateDifferences({}, left).filter(({ title }) => !KEPT.test(title));
  return differences.length === 0 ? undefined : { mistake: "orphans", walk: [...walk], differences };
}
