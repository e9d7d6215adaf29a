/** What a disturbed run has left otherwise than an undisturbed one. Pure. */
import { compareCalls } from "./compare-calls.ts";
import { leaves } from "./leaves.ts";
import type { Plan } from "./plans.ts";
import { countIn, type Difference, groupOf, type Reference, type StableState } from "./reference.ts";
import type { ObjectsByPlace, Outcome } from "./stage.ts";

const FORMER = /^is .*<uid of a former .* instead of/;

/** Everything that differs, most telling first. */
export function compare(reference: Reference, found: Outcome, plan: Plan): Difference[] {
  if (found.error !== undefined) return [{ what: "the scenario", text: `failed: ${sentence(found.error)}` }];
  // Whoever follows changes may have done otherwise for an object that has not changed yet; but what belonged to its
  // predecessor must not be left.
  if (plan.kind === "again") {
    return compareObjects(reference.state, found.objects).filter(
      ({ text }) => text.startsWith("is ") && FORMER.test(text),
    );
  }
  return [
    ...compareObjects(reference.state, found.objects),
    // Whoever is interrupted makes and takes away what nobody would otherwise.
    ...(plan.kind === "interrupt" ? [] : compareTurnover(reference, found)),
    ...compareCalls(reference, found, plan),
  ];
}

function sentence(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}

/** What is otherwise in the cluster at one moment. */
export function compareObjects(state: StableState, found: ObjectsByPlace): Difference[] {
  const { objects, unstable, unstableKeys, nameless } = state;
  const isNameless = (key: string) => unstableKeys.has(key) || (!objects.has(key) && nameless.has(groupOf(key)));
  const differences = compareNameless(state, countIn(found, { has: isNameless }));
  for (const key of new Set([...objects.keys(), ...found.keys()])) {
    if (isNameless(key)) continue;
    const [wanted, there] = [objects.get(key) ?? [], found.get(key) ?? []];
    if (wanted.length !== there.length) {
      const text =
        there.length === 0
          ? "is missing"
          : wanted.length === 0
            ? "is left over"
            : `there are ${there.length} of them instead of ${wanted.length}`;
      differences.push({ what: key, text });
      continue;
    }
    wanted.forEach((object, i) => {
      for (const { path, expected, actual } of leaves(object, there[i], "")) {
        if (isUnstable(unstable, key, path)) continue;
        differences.push({ what: key, path, text: `is ${shown(actual)} instead of ${shown(expected)}` });
      }
    });
  }
  return differences;
}

function compareNameless({ nameless }: StableState, found: ReadonlyMap<string, number>): Difference[] {
  return [...nameless].flatMap(([group, count]) => {
    const there = found.get(group) ?? 0;
    if (there === count) return [];
    return [{ what: `${group}/(of a name that is made up)`, text: `there are ${there} of them instead of ${count}` }];
  });
}

/** A path is unstable with everything below it; a path to ignore may stand for all objects of a resource. */
function isUnstable(unstable: ReadonlySet<string>, key: string, path: string): boolean {
  const [resource = ""] = key.split(" ");
  for (let end = path.length; end > 0; end = Math.max(path.lastIndexOf(".", end - 1), path.lastIndexOf("[", end - 1))) {
    const part = path.slice(0, end);
    if (unstable.has(`${key} ${part}`) || unstable.has(`${resource} ${part}`)) return true;
  }
  return false;
}

const LONGEST = 120;

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/**
 * Objects that were deleted though nobody wanted that, also when they are there again. An operator that acts on what it
 * last knew may make one too many and take one away, in this order; but no more than that.
 */
function compareTurnover({ outcome }: Pick<Reference, "outcome">, found: Outcome): Difference[] {
  const wanted = countsOf(outcome);
  const differences = new Map<string, Difference>();
  const counts = new Map<string, { created: number; deleted: number }>();
  for (const { key, type, step } of found.turnover) {
    const count = counts.get(key) ?? { created: 0, deleted: 0 };
    counts.set(key, count);
    count[type]++;
    if (type !== "deleted" || differences.has(key)) continue;
    const { created = 0, deleted = 0 } = wanted(key, step);
    const excess = count.deleted - deleted;
    const surplus = Math.max(0, count.created - created);
    if (excess <= surplus) continue;
    differences.set(key, { what: key, text: `was deleted ${times(count.deleted)} instead of ${times(deleted)}` });
  }
  return [...differences.values()];
}

/** How often each object had come and gone by the end of a step. */
function countsOf({ turnover }: Outcome): (key: string, step: number) => { created: number; deleted: number } {
  const byKey = new Map<string, Outcome["turnover"][number][]>();
  for (const one of turnover) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]);
  return (key, step) => {
    const until = (byKey.get(key) ?? []).filter((one) => one.step <= step);
    const deleted = until.filter(({ type }) => type === "deleted").length;
    return { created: until.length - deleted, deleted };
  };
}

function times(count: number): string {
  return count === 0 ? "never" : count === 1 ? "once" : `${count} times`;
}
