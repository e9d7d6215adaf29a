/** Which requests are hit: rules that can be written down, and the decision that follows from them and a seed. */
import { ConfigError, fnv1a64, spread32 } from "@lotse/client/meta";
import type { ChaosFault, LineFault } from "./faults.ts";
import type { ChaosRequest, ChaosVerb } from "./request.ts";

/** Decides about each request; undefined lets it pass. */
export type ChaosDecision = (request: ChaosRequest) => ChaosFault | undefined;

/**
 * What is done to which requests; everything that is said has to match.
 *
 * @example
 * ```ts
 * const refused: ChaosRule = { fault: { type: "answer", status: 500 }, verbs: ["write"], kinds: ["configmaps"], chance: 0.1 };
 * const cutOften: ChaosRule = { fault: "cut inside", kinds: ["deployments.apps"], chance: 0.05 };
 * ```
 */
export interface ChaosRule {
  /** What is done to a request; a text is done to events of watches. */
  readonly fault: Exclude<ChaosFault, { readonly type: "lines" }> | Exclude<LineFault, "pass">;
  /** Default: all but `connect`. `read` and `write` stand for all of their sort. */
  readonly verbs?: readonly (ChaosVerb | "read" | "write")[] | undefined;
  /** By plural, with the group or without it: `deployments.apps`. Default: all. */
  readonly kinds?: readonly string[] | undefined;
  /** With `*` for any characters. Default: all, and objects of the cluster. */
  readonly namespaces?: readonly string[] | undefined;
  /** With `*` for any characters. Default: all, and requests that name no object. */
  readonly names?: readonly string[] | undefined;
  /** From 0 to 1: how many of what matches are hit. Decided by the seed for each. Default 1. */
  readonly chance?: number | undefined;
  /** Only the n-th that matches, from 1 on. */
  readonly at?: number | undefined;
  /** Only the n-th write of all, from 1 on; Events and Leases are not counted. */
  readonly atWrite?: number | undefined;
  /** At most so often. */
  readonly times?: number | undefined;
}

const VERBS: ReadonlySet<string> = new Set([
  ...["get", "list", "watch", "create", "update", "patch", "apply", "delete", "deletecollection", "connect"],
  ...["read", "write"],
]);

/**
 * One decision of several rules; of those that match a request, the first one counts. The same seed hits the same
 * requests, by what they ask for and how often that was asked before: it does not matter which comes first.
 *
 * @example
 * ```ts
 * const proxy = await ChaosProxy.open({ kubeconfig: "staging.yaml" });
 * proxy.rule = decideBy([{ fault: { type: "delay", ms: 500 }, chance: 0.2 }], { seed: 7 });
 * ```
 */
export function decideBy(rules: readonly ChaosRule[], { seed = 1 }: { readonly seed?: number } = {}): ChaosDecision {
  const compiled = rules.map((rule, i) => compile(rule, `${seed} ${i}`));
  const lines = compiled.filter(({ isForEvents }) => isForEvents);
  const plain = compiled.filter(({ isForEvents }) => !isForEvents);
  return (request) => {
    for (const rule of plain) {
      if (rule.matches(request) && rule.hits(request, request.label)) return rule.fault as ChaosFault;
    }
    const watching = request.verb === "watch" ? lines.filter((rule) => rule.matches(request)) : [];
    if (watching.length === 0) return undefined;
    let count = 0;
    return {
      type: "lines",
      each: () => {
        count++;
        const hit = watching.find((rule) => rule.hits(request, `${request.label} ${request.index} event ${count}`));
        return (hit?.fault as LineFault | undefined) ?? "pass";
      },
    };
  };
}

interface CompiledRule {
  readonly fault: ChaosRule["fault"];
  readonly isForEvents: boolean;
  matches(request: ChaosRequest): boolean;
  /** Counts, and decides about what matches; `what` is the same in each run. */
  hits(request: ChaosRequest, what: string): boolean;
}

function compile(rule: ChaosRule, salt: string): CompiledRule {
  check(rule);
  const { fault, verbs, kinds, namespaces, names, chance = 1, at, atWrite, times } = rule;
  const isForEvents = typeof fault === "string";
  const inNamespace = matcherOf(namespaces);
  const isNamed = matcherOf(names);
  let matched = 0;
  let hit = 0;
  return {
    fault,
    isForEvents,
    matches: (request) =>
      isVerb(request, verbs) &&
      (kinds === undefined || kinds.some((kind) => isKind(request, kind))) &&
      inNamespace(request.namespace) &&
      isNamed(request.name),
    hits: (request, what) => {
      matched++;
      if (times !== undefined && hit >= times) return false;
      if (at !== undefined && matched !== at) return false;
      if (atWrite !== undefined && (!isCounted(request) || request.writes !== atWrite - 1)) return false;
      if (chance < 1 && fraction(`${salt} ${what} ${isForEvents ? "" : request.index}`) >= chance) return false;
      hit++;
      return true;
    },
  };
}

/** The number before the write is that of the write itself only for those that are counted. */
const isCounted = ({ write, resource }: ChaosRequest): boolean =>
  write && resource !== "events" && resource !== "leases";

function isVerb({ verb, write }: ChaosRequest, verbs: ChaosRule["verbs"]): boolean {
  if (verbs === undefined) return verb !== "connect";
  return verbs.some((one) => {
    if (one === "write") return write;
    if (one === "read") return verb === "get" || verb === "list" || verb === "watch";
    return one === verb;
  });
}

function isKind({ resource, group }: ChaosRequest, kind: string): boolean {
  return kind === resource || kind === `${resource}.${group}`;
}

function matcherOf(patterns: readonly string[] | undefined): (text: string) => boolean {
  if (patterns === undefined) return () => true;
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`);
  });
  return (text) => expressions.some((one) => one.test(text));
}

/** From 0 to just below 1, the same for the same text. */
function fraction(text: string): number {
  const { high, low } = fnv1a64(text);
  return spread32(high ^ low) / 2 ** 32;
}

function check({ fault, verbs = [], chance, at, atWrite, times }: ChaosRule): void {
  const wrong = (what: string, hint: string) => new ConfigError(`a rule of chaos cannot be: ${what}`, { hint });
  for (const verb of verbs) {
    if (!VERBS.has(verb)) throw wrong(`there is no verb "${verb}"`, `verbs are ${[...VERBS].join(", ")}`);
  }
  if (chance !== undefined && !(chance >= 0 && chance <= 1)) {
    throw wrong(`its chance is ${chance}`, "a chance is from 0 to 1");
  }
  for (const [name, value] of Object.entries({ at, atWrite, times })) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 1)) {
      throw wrong(`\`${name}\` is ${value}`, "it is a whole number, 1 or more");
    }
  }
  if (typeof fault === "string") return;
  if (fault.type === "answer" && !(fault.status >= 400 && fault.status <= 599)) {
    throw wrong(`it answers ${fault.status}`, "refusals are from 400 to 599");
  }
  const ms = fault.type === "delay" ? fault.ms : fault.type === "cut" ? fault.afterMs : 0;
  if (!(ms >= 0 && ms < 2 ** 31)) throw wrong(`it waits ${ms} ms`, "a time is 0 or more, and less than 24 days");
}
