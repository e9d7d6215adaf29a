/** What a walk can come to, and the story that is told of it. Pure. */
import { isObject } from "@lotse/client/meta";
import { valueText } from "../objects/index.ts";
import type { Spec } from "./specs.ts";
import type { StateDifference } from "./states.ts";

/** What went wrong. */
export type Mistake =
  | "differs"
  | "silent"
  | "does not come back"
  | "crash"
  | "hang"
  | "loop"
  | "death"
  | "orphans"
  | "stays"
  | "not refused";

/** A walk that shows a mistake. */
export interface TransitionFailure {
  readonly mistake: Mistake;
  /** The specs of one object in their order: it is created with the first one. */
  readonly walk: readonly Spec[];
  /** What differs: `wanted` is what an object has that is created with the last spec. */
  readonly differences: readonly StateDifference[];
  /** What was seen, for mistakes that are no difference. */
  readonly what?: string | undefined;
}

const MOST_LINES = 8;

const SENTENCES: Readonly<Record<Mistake, string>> = {
  differs: "the same spec, reached by another way, gives other objects",
  silent: "the server takes a spec that the operator does not do, and nobody is told",
  "does not come back": "back at the former spec, there are not the former objects",
  crash: "a handler stumbles over a spec that the server takes",
  hang: "the operator does not become quiet",
  loop: "the operator is called by its own writes again and again",
  death: "the operator does not live through it",
  orphans: "the object is gone, and not all that was made for it",
  stays: "the object cannot be deleted",
  "not refused": "the server takes what the schema forbids",
};

/** About ten lines that say what was done, what came of it, and a test that shows it. */
export function storyOf(failure: TransitionFailure, kind: string, seed: number): string {
  const { mistake, walk, differences, what } = failure;
  const steps = walk.map((spec, i) => {
    const did =
      i === 0
        ? "created with"
        : mistake === "does not come back" && i === walk.length - 1
          ? "back to     "
          : "changed to  ";
    return `  ${did} ${valueText(spec)}`;
  });
  return [
    `${kind}: ${SENTENCES[mistake]} (seed ${seed})`,
    ...steps,
    ...(mistake === "orphans" || mistake === "stays" ? ["  deleted"] : []),
    ...(what === undefined ? [] : [`  ${what}`]),
    ...differenceText(failure, differences),
    "a test that shows it:",
    ...testOf(failure, kind).map((line) => `  ${line}`),
  ].join("\n");
}

function differenceText({ mistake }: TransitionFailure, differences: readonly StateDifference[]): string[] {
  if (differences.length === 0) return [];
  const lines = differences.slice(0, MOST_LINES).flatMap(({ title, path, wanted, found }) => {
    if (path === "") return [`    ${title} ${found === undefined ? "is missing" : "is there, and should not be"}`];
    return [`    ${title} ${path}: ${shown(found)} instead of ${shown(wanted)}`];
  });
  const more = differences.length > MOST_LINES ? [`    … and ${differences.length - MOST_LINES} more`] : [];
  const head = mistake === "orphans" ? "left over:" : "compared with an object that is created like that:";
  return [`  ${head}`, ...lines, ...more];
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : valueText(value);
}

function testOf({ mistake, walk, differences }: TransitionFailure, kind: string): string[] {
  const steps = walk.map((spec, i) => {
    const value = valueText(spec).length < 150 ? JSON.stringify(spec) : JSON.stringify(spec);
    return i === 0
      ? `const sample = await harness.apply(new ${kind}({ metadata: { name: "sample" }, spec: ${value} }));`
      : `await sample.refresh().then((now) => harness.client.replace({ ...now.body, spec: ${value} }));`;
  });
  const [first] = differences;
  const wanted =
    first === undefined
      ? `// ${SENTENCES[mistake]}`
      : `expect(harness.snapshot()["${first.title}"])${
          first.path === ""
            ? first.found === undefined
              ? ".toBeDefined();"
              : ".toBeUndefined();"
            : `.toMatchObject(${patternOf(first.path, first.wanted)});`
        }`;
  return [
    "await using harness = await startHarness(operator, { clock: new VirtualClock() });",
    ...steps.flatMap((step) => [step, "await harness.settle();"]),
    ...(mistake === "orphans" || mistake === "stays" ? ["await sample.delete();", "await harness.settle();"] : []),
    wanted,
  ];
}

/** `status.size` and 7 as `{ "status": { "size": 7 } }`. */
function patternOf(path: string, value: unknown): string {
  if (!/^[\w.-]+$/.test(path) || path.includes("conditions")) return "{ /* as above */ }";
  const nested = path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value ?? null);
  return isObject(nested) ? JSON.stringify(nested) : "{}";
}
