/** What the flags and the plan of `lotse chaos` ask for: rules, a seed, and times. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { readDocuments } from "@lotse/client";
import { durationMs, isObject } from "@lotse/client/meta";
import type { ChaosRule } from "../local-cluster/index.ts";
import { type Io, Problem, splitMessage } from "../terminal/index.ts";

/** The flags that say what harm is done. */
export interface HarmFlags {
  readonly fail?: readonly string[] | undefined;
  readonly delay?: readonly string[] | undefined;
  readonly reset?: string | undefined;
  readonly loseAnswers?: string | true | undefined;
  readonly halve?: string | undefined;
  readonly mute?: string | undefined;
  readonly cutWatches?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly killAtWrite?: readonly string[] | undefined;
  readonly only?: string | undefined;
  readonly plan?: string | undefined;
  readonly seed?: number | undefined;
  readonly after?: string | undefined;
  readonly for?: string | undefined;
  readonly calm?: string | undefined;
}

/** What is done, and for how long. */
export interface ChaosPlan {
  readonly rules: readonly ChaosRule[];
  readonly seed: number;
  /** The operator is left alone for so long first. */
  readonly afterMs: number;
  /** Harm is done for so long. */
  readonly harmMs: number;
  /** Then the operator is left alone for so long. */
  readonly calmMs: number;
}

const DEFAULT_HARM = "1m";
const DEFAULT_CALM = "15s";

const VERBS = new Set([
  ...["get", "list", "watch", "create", "update", "patch", "apply", "delete", "deletecollection", "connect"],
  ...["read", "write"],
]);
const EVENT_FAULTS = ["twice", "cut before", "cut inside", "cut after", "stall", "expire"];

/** Reads flags and plan; a {@link Problem} for what makes no sense. Flags win over the plan's times and seed. */
export async function planOf(flags: HarmFlags, io: Pick<Io, "cwd">): Promise<ChaosPlan> {
  const file = flags.plan === undefined ? undefined : await readPlan(flags.plan, io);
  const rules = [...rulesOfFlags(flags), ...(file?.rules ?? [])];
  if (rules.length === 0) {
    throw new Problem(
      {
        what: "there is nothing to inject",
        todo: "say what: --fail 10%:500, --cut-watches 30s, --lose-answers 5%, --kill-at-write 3, or --plan FILE",
      },
      { exitCode: 2 },
    );
  }
  return {
    rules,
    seed: flags.seed ?? file?.seed ?? 1,
    afterMs: timeOf("--after", flags.after ?? file?.after ?? "0s"),
    harmMs: timeOf("--for", flags.for ?? file?.for ?? DEFAULT_HARM),
    calmMs: timeOf("--calm", flags.calm ?? file?.calm ?? DEFAULT_CALM),
  };
}

function rulesOfFlags(flags: HarmFlags): ChaosRule[] {
  const only = onlyOf(flags.only);
  const rules: ChaosRule[] = [];
  // Before all others: it is a point, and they are chances.
  for (const text of flags.killAtWrite ?? []) {
    const { number, when } = killPointOf(text);
    rules.push({ fault: { type: "kill", when } as ChaosRule["fault"], atWrite: number });
  }
  for (const text of flags.fail ?? []) {
    const { chance, rest } = chanceOf("--fail", text, "500");
    rules.push({ ...only, chance, fault: refusal("--fail", rest) });
  }
  for (const text of flags.delay ?? []) {
    const { chance, rest } = chanceOf("--delay", text);
    rules.push({ ...only, chance, fault: { type: "delay", ms: timeOf("--delay", rest) } as ChaosRule["fault"] });
  }
  const simple = {
    "--reset": ["reset", flags.reset],
    "--halve": ["halve", flags.halve],
    "--mute": ["mute", flags.mute],
  };
  for (const [flag, [type, text]] of Object.entries(simple)) {
    if (text === undefined) continue;
    rules.push({ ...only, chance: percentOf(flag, text), fault: { type: type as string } });
  }
  if (flags.loseAnswers !== undefined) {
    const chance = flags.loseAnswers === true ? 1 : percentOf("--lose-answers", flags.loseAnswers);
    // Nobody asks for a read twice because its answer was lost: writes are what matters.
    rules.push({ verbs: ["write"], ...only, chance, fault: { type: "lose" } });
  }
  for (const text of flags.events ?? []) {
    const { chance, rest } = chanceOf("--events", text);
    rules.push({ ...only, verbs: ["watch"], chance, fault: eventFault("--events", rest) });
  }
  if (flags.cutWatches !== undefined) {
    const afterMs = timeOf("--cut-watches", flags.cutWatches);
    rules.push({ ...only, verbs: ["watch"], fault: { type: "cut", afterMs } as ChaosRule["fault"] });
  }
  return rules;
}

/** `write`, `configmaps`, `create,patch/deployments.apps`. */
function onlyOf(text: string | undefined): Pick<ChaosRule, "verbs" | "kinds"> {
  if (text === undefined) return {};
  const [left = "", right, more] = text.split("/");
  const words = (part: string) =>
    part
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean);
  const verbs = right === undefined ? words(left).filter((word) => VERBS.has(word)) : words(left);
  const kinds = right === undefined ? words(left).filter((word) => !VERBS.has(word)) : words(right);
  const wrong = verbs.find((verb) => !VERBS.has(verb));
  if (more !== undefined || verbs.length + kinds.length === 0 || wrong !== undefined) {
    throw wrongFlag(
      "--only",
      text,
      wrong === undefined ? "" : `there is no verb ${wrong}`,
      "verbs/kinds: write, configmaps, create,patch/deployments.apps",
    );
  }
  return { ...(verbs.length > 0 && { verbs }), ...(kinds.length > 0 && { kinds }) };
}

/** `10%:500`, or `500` for all. */
function chanceOf(flag: string, text: string, byDefault?: string): { readonly chance: number; readonly rest: string } {
  const [, percent, rest] = /^([\d.]+%)(?::(.+))?$/.exec(text) ?? [undefined, undefined, text];
  if (rest === undefined && byDefault === undefined)
    throw wrongFlag(flag, text, "", "a chance and what is done: 10%:2s");
  return { chance: percent === undefined ? 1 : percentOf(flag, percent), rest: rest ?? byDefault ?? "" };
}

function percentOf(flag: string, text: string): number {
  const value = /^[\d.]+%$/.test(text) ? Number(text.slice(0, -1)) / 100 : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw wrongFlag(flag, text, "", "a chance from 0% to 100%");
}

function refusal(flag: string, text: string): ChaosRule["fault"] {
  const status = Number(text);
  if (/^\d{3}$/.test(text) && status >= 400 && status <= 599) return { type: "answer", status } as ChaosRule["fault"];
  throw wrongFlag(flag, text, "", "a status from 400 to 599: 10%:500");
}

function eventFault(flag: string, text: string): string {
  const fault = text === "cut" ? "cut inside" : text.replaceAll("-", " ");
  if (EVENT_FAULTS.includes(fault)) return fault;
  throw wrongFlag(flag, text, "", "5%:twice, cut, cut-before, cut-after, stall or expire");
}

function killPointOf(text: string): { readonly number: number; readonly when: "before" | "after" } {
  const [, number, when = "after"] = /^(\d+)(?::(before|after))?$/.exec(text) ?? [];
  if (number !== undefined && Number(number) >= 1) return { number: Number(number), when: when as "before" | "after" };
  throw wrongFlag("--kill-at-write", text, "", "a number from 1 on, with :before or :after: 3:before");
}

function timeOf(flag: string, text: string): number {
  try {
    return durationMs(text as `${number}s`);
  } catch {
    throw wrongFlag(flag, text, "", "a duration: 500ms, 30s, 5m");
  }
}

function wrongFlag(flag: string, text: string, why: string, form: string): Problem {
  return new Problem(
    { what: `${flag} ${text} cannot be read`, ...(why !== "" && { why }), todo: `write ${form}` },
    { exitCode: 2 },
  );
}

interface PlanFile {
  readonly rules: readonly ChaosRule[];
  readonly seed: number | undefined;
  readonly after: string | undefined;
  readonly for: string | undefined;
  readonly calm: string | undefined;
}

async function readPlan(name: string, io: Pick<Io, "cwd">): Promise<PlanFile> {
  const wrong = (what: string, todo: string, cause?: unknown) =>
    new Problem({ what: `the plan ${name} cannot be used`, why: what, todo }, { exitCode: 2, cause });
  let documents: unknown[];
  try {
    documents = await readDocuments(readFileSync(path.resolve(io.cwd, name), "utf8"), name);
  } catch (cause) {
    throw wrong(splitMessage(cause as Error).what, "write it in YAML, with a list of `rules`", cause);
  }
  const [plan] = documents;
  if (!isObject(plan) || !Array.isArray(plan.rules))
    throw wrong("it has no `rules`", "rules: [{ fail: 500, chance: 10% }]");
  checkKeys(plan, ["seed", "after", "for", "calm", "rules", "apiVersion", "kind", "metadata"], (key) =>
    wrong(`there is no field ${key}`, "a plan has seed, after, for, calm and rules"),
  );
  const { seed } = plan;
  if (seed !== undefined && !Number.isInteger(seed)) throw wrong("`seed` is no whole number", "seed: 7");
  return {
    rules: plan.rules.map((rule, i) => ruleOf(rule, (what, todo) => wrong(`rule ${i + 1}: ${what}`, todo))),
    seed: seed as number | undefined,
    after: plan.after === undefined ? undefined : String(plan.after),
    for: plan.for === undefined ? undefined : String(plan.for),
    calm: plan.calm === undefined ? undefined : String(plan.calm),
  };
}

type Wrong = (what: string, todo: string) => Problem;

const DEEDS: Readonly<
  Record<string, (value: unknown, rule: Record<string, unknown>) => Partial<ChaosRule> & Pick<ChaosRule, "fault">>
> = {
  fail: (value, { retryAfter }) => {
    const fault = refusal("fail:", String(value)) as { type: string };
    return {
      fault: retryAfter === undefined ? fault : ({ ...fault, retryAfter: Number(retryAfter) } as ChaosRule["fault"]),
    };
  },
  delay: (value) => ({ fault: { type: "delay", ms: timeOf("delay:", String(value)) } as ChaosRule["fault"] }),
  reset: () => ({ fault: { type: "reset" } }),
  loseAnswers: () => ({ verbs: ["write"], fault: { type: "lose" } }),
  halve: () => ({ fault: { type: "halve" } }),
  mute: () => ({ fault: { type: "mute" } }),
  cutWatches: (value) => ({
    verbs: ["watch"],
    fault: { type: "cut", afterMs: timeOf("cutWatches:", String(value)) } as ChaosRule["fault"],
  }),
  event: (value) => ({ verbs: ["watch"], fault: eventFault("event:", String(value)) }),
  killAtWrite: (value) => {
    const { number, when } = killPointOf(String(value));
    return { atWrite: number, fault: { type: "kill", when } as ChaosRule["fault"] };
  },
};
const WHERE = ["verbs", "kinds", "namespaces", "names"] as const;

function ruleOf(rule: unknown, wrong: Wrong): ChaosRule {
  const deeds = Object.keys(DEEDS);
  if (!isObject(rule)) throw wrong("it is no object", "- fail: 500");
  const found = Object.keys(rule).filter((key) => deeds.includes(key));
  const [deed] = found;
  if (deed === undefined || found.length > 1) {
    throw wrong(
      deed === undefined ? "it does nothing" : `it does ${found.join(" and ")}`,
      `one of ${deeds.join(", ")}`,
    );
  }
  checkKeys(rule, [...deeds, ...WHERE, "chance", "at", "times", "retryAfter"], (key) =>
    wrong(
      `there is no field ${key}`,
      `a rule has ${[...WHERE, "chance", "at", "times"].join(", ")} beside what it does`,
    ),
  );
  const where: Record<string, readonly string[]> = {};
  for (const key of WHERE) {
    if (rule[key] === undefined) continue;
    const words = Array.isArray(rule[key]) ? rule[key] : [rule[key]];
    where[key] = words.map(String);
    const unknown = key === "verbs" ? words.find((word) => !VERBS.has(String(word))) : undefined;
    if (unknown !== undefined) throw wrong(`there is no verb ${String(unknown)}`, `verbs are ${[...VERBS].join(", ")}`);
  }
  const { chance, at, times } = rule;
  for (const [key, value] of Object.entries({ at, times })) {
    if (value !== undefined && !(Number.isInteger(value) && Number(value) >= 1)) {
      throw wrong(`\`${key}\` is ${String(value)}`, "a whole number from 1 on");
    }
  }
  return {
    ...(DEEDS[deed] as (typeof DEEDS)[string])(rule[deed], rule),
    ...where,
    ...(chance !== undefined && { chance: percentOf("chance:", String(chance)) }),
    ...(at !== undefined && { at: Number(at) }),
    ...(times !== undefined && { times: Number(times) }),
  };
}

function checkKeys(value: Record<string, unknown>, known: readonly string[], wrong: (key: string) => Problem): void {
  const strange = Object.keys(value).find((key) => !known.includes(key));
  if (strange !== undefined) throw wrong(strange);
}
