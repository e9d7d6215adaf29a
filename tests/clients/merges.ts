/** Random strategic merge patches of pods, with every directive in them. */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };

/** A pod and a patch of it. */
export interface MergeCase {
  readonly doc: Fields;
  readonly patch: Fields;
}

const NAMES = ["a", "b", "c", "d"];

/** Cases that are the same for the same source of chance, which gives numbers from 0 up to 1. */
export function mergeCases(count: number, random: () => number): MergeCase[] {
  const dice = new Dice(random);
  return Array.from({ length: count }, () => ({ doc: pod(dice, false), patch: pod(dice, true) }));
}

class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  often(part: number): boolean {
    return this.#random() < part;
  }

  one<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  /** Some of the items, in any order. */
  some<T>(items: readonly T[]): T[] {
    return [...items].sort(() => this.#random() - 0.5).slice(0, Math.floor(this.#random() * (items.length + 1)));
  }
}

function pod(dice: Dice, patch: boolean): Fields {
  const result: Fields = {};
  if (dice.often(0.4)) result.metadata = metadata(dice, patch);
  if (dice.often(0.8)) result.spec = spec(dice, patch);
  if (patch && dice.often(0.02)) result.$patch = dice.one(["replace", "delete", "merge"]);
  return result;
}

function metadata(dice: Dice, patch: boolean): Fields {
  const result: Fields = {};
  if (dice.often(0.5)) result.labels = labels(dice, patch);
  if (dice.often(0.5)) texts(dice, patch, result, "finalizers");
  if (patch && dice.often(0.1)) result.$retainKeys = dice.some(["labels", "finalizers"]);
  return result;
}

function labels(dice: Dice, patch: boolean): Json {
  const result: Fields = {};
  for (const key of dice.some(NAMES)) result[key] = patch && dice.often(0.2) ? null : dice.one(NAMES);
  if (patch && dice.often(0.1)) result.$patch = dice.one(["replace", "delete", "merge"]);
  return result;
}

/** A list of texts that is merged, with what a patch may say about it beside it. */
function texts(dice: Dice, patch: boolean, into: Fields, key: string): void {
  if (!patch || dice.often(0.7)) into[key] = dice.some(NAMES);
  if (!patch) return;
  if (dice.often(0.2)) into[`$deleteFromPrimitiveList/${key}`] = dice.some(NAMES);
  if (dice.often(0.2)) into[`$setElementOrder/${key}`] = dice.some(NAMES);
}

function spec(dice: Dice, patch: boolean): Fields {
  const result: Fields = {};
  if (dice.often(0.8)) items(dice, patch, result, "containers", "name", container);
  if (dice.often(0.3)) items(dice, patch, result, "volumes", "name", volume);
  if (dice.often(0.2)) items(dice, patch, result, "tolerations", "", toleration);
  if (dice.often(0.3)) result.nodeName = patch && dice.often(0.3) ? null : dice.one(NAMES);
  if (dice.often(0.2)) result.nodeSelector = labels(dice, patch);
  if (patch && dice.often(0.1)) result.$retainKeys = dice.some(["containers", "nodeName", "volumes"]);
  if (patch && dice.often(0.03)) result.$patch = dice.one(["replace", "delete"]);
  return result;
}

type Item = (dice: Dice, patch: boolean) => Fields;

/** A list of objects, with directives in it and beside it. */
function items(dice: Dice, patch: boolean, into: Fields, key: string, by: string, item: Item): void {
  const named = (name: string): Fields => (by === "" ? item(dice, patch) : { [by]: name, ...item(dice, patch) });
  const list = dice.some(NAMES).map((name) => {
    if (!patch || !dice.often(0.2)) return named(name);
    const directive = dice.one(["delete", "delete", "replace", "merge", "bogus"]);
    return dice.often(0.5) ? { [by || "key"]: name, $patch: directive } : { ...named(name), $patch: directive };
  });
  if (patch && dice.often(0.03)) list.push({ $patch: "replace" });
  if (patch && dice.often(0.02)) list.push({ image: "nameless" });
  if (!patch || dice.often(0.85)) into[key] = patch && dice.often(0.03) ? null : list;
  // The server's own code fails over an order of objects that have no key.
  if (!patch || by === "" || !dice.often(0.35)) return;
  // Mostly an order in which the patch itself is, as kubectl sends it; now and then any.
  const kept = list.filter((one) => one.$patch === undefined && one[by] !== undefined);
  const names = dice.often(0.8)
    ? woven(
        dice,
        kept.map((one) => String(one[by])),
      )
    : dice.some(NAMES);
  into[`$setElementOrder/${key}`] = names.map((name) => ({ [by]: name }));
}

/** The names in their order, with others between them. */
function woven(dice: Dice, names: readonly string[]): string[] {
  const others = dice.some(NAMES.filter((name) => !names.includes(name)));
  const result = [...names];
  for (const other of others)
    result.splice(Math.floor(Math.min(0.99, dice.often(0.5) ? 0.2 : 0.7) * (result.length + 1)), 0, other);
  return result;
}

function container(dice: Dice, patch: boolean): Fields {
  const result: Fields = {};
  if (dice.often(0.5)) result.image = patch && dice.often(0.1) ? null : dice.one(NAMES);
  if (dice.often(0.4)) items(dice, patch, result, "env", "name", variable);
  if (dice.often(0.3)) items(dice, patch, result, "ports", "containerPort", port);
  if (dice.often(0.2)) result.args = dice.some(NAMES);
  if (dice.often(0.2)) result.resources = { limits: labels(dice, false) };
  if (patch && dice.often(0.05)) result.$retainKeys = ["name", ...dice.some(["image", "env", "args"])];
  return result;
}

const variable: Item = (dice) => (dice.often(0.6) ? { value: dice.one(NAMES) } : {});
const port: Item = (dice) => (dice.often(0.5) ? { protocol: dice.one(["TCP", "UDP"]) } : {});
const toleration: Item = (dice) => ({ key: dice.one(NAMES), ...(dice.often(0.5) ? { effect: "NoExecute" } : {}) });
const volume: Item = (dice, patch) => ({
  ...(dice.often(0.5) ? { emptyDir: {} } : { hostPath: { path: dice.one(NAMES) } }),
  ...(patch && dice.often(0.4) ? { $retainKeys: ["name", dice.one(["emptyDir", "hostPath"])] } : {}),
});
