/** What the operator's log tells of promises that were broken. Pure. */
import type { LogRecord } from "lotse";
import { titleOf } from "../objects/index.ts";
import type { Violation } from "./violation.ts";

const AGAIN = /again and again/;

/** Loops that the framework has slowed down; each object and handler once. */
export function hotLoops(log: readonly LogRecord[]): Violation[] {
  const lines = log.filter(({ level, message, fields }) => {
    return (level === "warn" || level === "error") && AGAIN.test(message) && fields.hint !== undefined;
  });
  return once(lines).map((record) => ({
    oracle: "hotLoop",
    what: `${about(record)}: ${record.message}${detail(record, ["handlers", "handler", "fields"])}`,
    todo: String(record.fields.hint),
  }));
}

const ABANDONED = /abandoned/;

/** Handlers that did not end when they were told to. */
export function abandoned(log: readonly LogRecord[]): Violation[] {
  const lines = log.filter(({ level, message }) => (level === "warn" || level === "error") && ABANDONED.test(message));
  return once(lines).map((record) => ({
    oracle: "leftRunning",
    what: `${about(record)}: ${record.message}${detail(record, ["handler", "place"])}`,
    todo: String(record.fields.hint ?? "end the work when context.signal aborts"),
  }));
}

/** What V8 says when somebody writes to what is frozen. */
const FROZEN =
  /Cannot (?:assign to read only property|add property|delete property|define property|redefine property)|object is not extensible/;

/** Handlers that tried to change what they were given: it is frozen, so that they failed. */
export function mutatedInputs(log: readonly LogRecord[]): Violation[] {
  const lines = log.filter(({ fields, level }) => {
    return (
      (level === "warn" || level === "error") && fields.handler !== undefined && FROZEN.test(String(fields.error ?? ""))
    );
  });
  return once(lines).map((record) => ({
    oracle: "mutatedInput",
    what: `${about(record)}: handler ${String(record.fields.handler)} tried to change what it was given: ${String(record.fields.error)}`,
    todo: "make a copy (structuredClone), or say what shall change in patch",
  }));
}

function once(lines: readonly LogRecord[]): LogRecord[] {
  const known = new Map<string, LogRecord>();
  for (const record of lines) known.set(`${about(record)} ${record.message} ${String(record.fields.handler)}`, record);
  return [...known.values()];
}

function about({ object }: LogRecord): string {
  if (!object) return "the operator";
  const { kind, namespace, name } = object;
  return titleOf({ kind, metadata: { name, ...(namespace !== undefined && { namespace }) } });
}

function detail({ fields }: LogRecord, names: readonly string[]): string {
  const found = names.filter((name) => fields[name] !== undefined).map((name) => `${name} ${String(fields[name])}`);
  return found.length === 0 ? "" : ` (${found.join(", ")})`;
}
