/** Reads the arguments of a declaration, and finds mistakes that a compiler would find, for those who have none. */
import type { KubeBody } from "@lotse/client";
import { durationMs } from "@lotse/client/meta";
import { declarationError } from "./errors.ts";
import type { FilterContext, Filters } from "./filters.ts";
import type { InitialDelay } from "./options.ts";

const OBJECT = ["id", "param", "labels", "annotations", "when", "field", "value"];
const RETRY = ["errors", "timeout", "retries", "backoff"];
const LEVEL = [
  "errors",
  "timeout",
  "backoff",
  "owns",
  "concurrency",
  "resync",
  "priority",
  "filter",
  "rateLimit",
  "conditions",
];

const ADMISSION = [
  "operations",
  "subresource",
  "namespaces",
  "matchConditions",
  "ignoreFailures",
  "sideEffects",
  "persistent",
  "timeout",
  "order",
];

/** The options of each sort of handler. */
const OPTIONS = {
  change: [...OBJECT, ...RETRY, "old", "new", "optional", "deleted", "onGiveUp", "debounce"],
  event: OBJECT,
  failure: OBJECT,
  timer: [...OBJECT, ...RETRY, "interval", "sharp", "initialDelay", "idle", "schedule", "timeZone", "missed"],
  daemon: [...OBJECT, ...RETRY, "initialDelay", "grace"],
  index: [...OBJECT, "errors", "own", "keep"],
  reconcile: [...OBJECT, ...LEVEL, "watches", "onDelete"],
  children: [...OBJECT, ...LEVEL, "deletion", "external", "onDrift", "onMismatch"],
  source: ["backoff"],
  schedule: ["schedule", "timeZone", "missed", ...RETRY],
  lifecycle: ["id", "param", ...RETRY],
  validate: [...OBJECT, ...ADMISSION],
  mutate: [...OBJECT, ...ADMISSION, "reinvoke"],
  policy: [
    "id",
    "rules",
    "mutate",
    "reinvoke",
    "params",
    "operations",
    "subresource",
    "labels",
    "namespaces",
    "matchConditions",
    "variables",
    "enforce",
    "audit",
    "ignoreFailures",
  ],
} as const satisfies Record<string, readonly string[]>;

/** The filters among the options. */
export function filtersOf<B>(options: Filters<B>): Filters<KubeBody> {
  const { labels, annotations, when, field, value } = options as Filters<KubeBody>;
  const { old: was, new: is } = options as { old?: unknown; new?: unknown };
  if (field === undefined && (value !== undefined || was !== undefined || is !== undefined)) {
    throw declarationError('"value", "old" and "new" need a "field"', 'add { field: "spec.…" }');
  }
  if (value !== undefined && (was !== undefined || is !== undefined)) {
    throw declarationError('"value" cannot be combined with "old" and "new"', 'use "new" instead of "value"');
  }
  for (const [key, wanted] of [...Object.entries(labels ?? {}), ...Object.entries(annotations ?? {})]) {
    if (wanted === null || wanted === undefined) {
      throw declarationError(`the filter of "${key}" is ${wanted}`, "use present or absent, imported from lotse");
    }
  }
  return {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(when && { when }),
    ...(field !== undefined && { field }),
    ...(value !== undefined && { value }),
  };
}

/** A function's name; one that was bound has its own, as if it were not. */
export function nameOf(fn: { readonly name: string }): string {
  return fn.name.replace(/^(?:bound )+/, "");
}

/** The function at the end. */
export function functionOf(label: string, rest: readonly unknown[]): (...args: never[]) => unknown {
  const fn = rest.at(-1);
  if (typeof fn === "function") return fn as (...args: never[]) => unknown;
  throw declarationError(`on.${label} needs a handler function as its last argument`, "got something else");
}

/** When a timer or daemon begins, in milliseconds. */
export function initialDelayOf<B>(delay: InitialDelay<B> | undefined): (context: FilterContext<KubeBody>) => number {
  if (typeof delay === "function") return (context) => durationMs(delay(context as unknown as FilterContext<B>));
  const fixed = durationMs(delay ?? 0);
  return () => fixed;
}

/** The options before the function, if there are any; one that does not exist is a mistake and not a wish. */
export function optionsOf<T extends object>(sort: keyof typeof OPTIONS, label: string, rest: readonly unknown[]): T {
  const options = (rest.length > 1 && typeof rest[0] === "object" && rest[0] !== null ? rest[0] : {}) as T;
  const known: readonly string[] = OPTIONS[sort];
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw declarationError(`${label} has no option "${unknown}"`, `its options are ${known.join(", ")}`);
  }
  return options;
}
