/**
 * Filters as match conditions in CEL: the API server does not even call where one does not hold. Pure. A condition that
 * fails to be evaluated refuses the request, so only what can never fail is compiled; the rest the operator decides.
 */
import {
  type AdmissionHandler,
  absent,
  fieldKeys,
  type MapFilter,
  present,
  type ValueFilter,
} from "../../declare/index.ts";

/** A condition, as it stands in a configuration. */
export interface Condition {
  readonly name: string;
  readonly expression: string;
}

/** The most that an API server takes. */
const MOST = 64;

/** What the handler asks for, in its own conditions and as far as its filters have a form in CEL. */
export function conditionsOf(handler: AdmissionHandler, { typed }: { readonly typed: boolean }): Condition[] {
  const { filters, matchConditions } = handler;
  const subject = subjectOf(handler);
  const taken = new Set(matchConditions.map(({ name }) => name));
  const compiled: Condition[] = [];
  const add = (name: string, expression: string | undefined) => {
    if (expression === undefined || matchConditions.length + compiled.length >= MOST) return;
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
    taken.add(free);
    compiled.push({ name: free, expression });
  };
  for (const [key, wanted] of Object.entries((filters.annotations ?? {}) as MapFilter)) {
    add("annotation", wantedAt(subject, ["metadata", "annotations", key], wanted));
  }
  // Where the fields of a kind are not known, a path may lead through a list or a text, and no condition could be asked.
  if (typed && filters.field !== undefined) {
    add("field", wantedAt(subject, fieldKeys(filters.field), filters.value ?? present));
  }
  return [...matchConditions, ...compiled];
}

/** What filters look at: the object as it would be stored, or the one that would be deleted. */
function subjectOf({ operations }: Pick<AdmissionHandler, "operations">): string {
  if (!operations.includes("DELETE")) return "object";
  return operations.length === 1 ? "oldObject" : "(object == null ? oldObject : object)";
}

/** Whether the value at `path` is as wanted; undefined where only a program can tell. */
function wantedAt(subject: string, path: readonly string[], wanted: ValueFilter): string | undefined {
  const steps: string[] = [];
  let place = subject;
  for (const [at, key] of path.entries()) {
    if (at > 0) steps.push(`${place} != null`);
    const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) && !RESERVED.has(key);
    steps.push(plain ? `has(${place}.${key})` : `${quoted(key)} in ${place}`);
    place = plain ? `${place}.${key}` : `${place}[${quoted(key)}]`;
  }
  // Of an object that is there something always is.
  const isThere = steps.filter((step) => step !== `${subject} != null`).join(" && ");
  if (wanted === present) return isThere;
  if (wanted === absent) return `!(${isThere})`;
  const literal = literalOf(wanted);
  return literal === undefined ? undefined : `${isThere} && ${place} == ${literal}`;
}

/** Words that CEL keeps for itself, and which cannot be selected with a dot. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return var void " +
    "while"
  ).split(" "),
);

function literalOf(value: unknown): string | undefined {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : undefined;
}

/** JSON's way to write a text is one of CEL's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
