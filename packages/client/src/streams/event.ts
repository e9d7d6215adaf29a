/**
 * What a line of a watch says, with as little parsing as possible: parsing is three quarters of what a watch costs, and
 * keeping what was parsed is most of the rest.
 *
 * - `metadata.managedFields`, a third of a Pod, are left out.
 * - A `spec` whose text is that of the version before is taken from there; nearly all changes are changes of a status.
 *
 * Lines are cut by searching for what API servers write, and each piece is parsed by itself. No step makes sure that the
 * cut is in the right place, because the parser finds every wrong one: a piece that was cut out of the middle of a string
 * or of another level has a quote or brackets too many, and is no JSON. Then the line is parsed whole.
 */
import type { ObjectBody } from "../kinds/index.ts";

/** A line as it was sent. What the parts are is for others to look at. */
export interface RawEvent {
  readonly type?: unknown;
  readonly object?: unknown;
}

/** What has to be there so that a `spec` can be used again. */
export interface Reuse {
  /** The version before of an object of which only the metadata are known yet. */
  readonly known: (object: ObjectBody) => ObjectBody | undefined;
  /** Equal for equal bytes, and for no others. */
  readonly digest: (bytes: Buffer) => string;
}

type JsonObject = Record<string, unknown>;

const FIELDS = Buffer.from('"managedFields":[{');
const SPEC = Buffer.from('},"spec":{');
const STATUS = Buffer.from(',"status":{');
const COMMA = 0x2c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Parses lines; see the module comment. Managed fields may still be there where a line is not what servers write. */
export class EventParser {
  readonly #reuse: Reuse | undefined;
  /** The text that a `spec` was parsed from. */
  readonly #texts = new WeakMap<object, { readonly length: number; readonly digest: string }>();

  constructor(reuse?: Reuse) {
    this.#reuse = reuse;
  }

  /** Throws a SyntaxError where the line is no JSON. */
  parse(line: Buffer): RawEvent {
    const start = line.indexOf(FIELDS);
    return (start < 0 ? undefined : this.#parseAround(line, start)) ?? JSON.parse(line.toString("utf8"));
  }

  /**
   * With three braces added, what is before the fields is only JSON when they are directly in an object in an object of the
   * event; the last keys tell in which. The fields end at their first `]`, or that one is in a string or a list of theirs.
   */
  #parseAround(line: Buffer, start: number): RawEvent | undefined {
    const end = line.indexOf(CLOSE_LIST, start + FIELDS.length) + 1;
    const before = line[start - 1];
    const after = line[end];
    if (end === 0 || line[end - 2] !== CLOSE_OBJECT) return undefined;
    if ((before !== COMMA && before !== OPEN_OBJECT) || (after !== COMMA && after !== CLOSE_OBJECT)) return undefined;
    const head = parse(`${line.toString("utf8", 0, before === COMMA ? start - 1 : start)}}}}`);
    if (head === undefined || lastKey(head) !== "object" || lastKey(head.object as JsonObject) !== "metadata") {
      return undefined;
    }
    const from = after === COMMA ? end + 1 : end;
    return this.#withSpec(head, line, from) ?? withRest(head, line, from);
  }

  /** The event, where `spec` comes right after the metadata, of which the rest begins at `from`. */
  #withSpec(head: JsonObject, line: Buffer, from: number): RawEvent | undefined {
    const at = this.#reuse ? line.indexOf(SPEC, from) : -1;
    const object = head.object as JsonObject;
    const others = at > from ? parse(`{${line.toString("utf8", from, at)}}`) : {};
    if (at < 0 || others === undefined) return undefined;
    const metadata = at > from ? { ...(object.metadata as JsonObject), ...others } : object.metadata;
    const spec = this.#spec(line, at + SPEC.length - 1, { metadata } as ObjectBody);
    const tail = spec && parse(`{"object":{"metadata":{}${line.toString("utf8", spec.end)}`);
    if (tail === undefined) return undefined;
    const { metadata: _, ...rest } = tail.object as JsonObject;
    return add(object, { metadata, spec: spec?.value }) && add(object, rest) ? event(head, tail) : undefined;
  }

  /** The `spec` whose text begins at `start`, and where that ends. */
  #spec(line: Buffer, start: number, object: ObjectBody): { value: object; end: number } | undefined {
    const { known, digest } = this.#reuse as Reuse;
    const last = known(object) as JsonObject | undefined;
    // Its own: objects of which only parts are kept refuse to be asked for the others.
    const before = last && Object.hasOwn(last, "spec") ? (last.spec as object | undefined) : undefined;
    const text = before && this.#texts.get(before);
    if (before && text && digest(line.subarray(start, start + text.length)) === text.digest) {
      return { value: before, end: start + text.length };
    }
    const status = line.indexOf(STATUS, start);
    const end = status < 0 ? line.length - 2 : status;
    const value = parse(line.toString("utf8", start, end));
    if (value === undefined) return undefined;
    // A program that changes it in place would otherwise change what the next versions say.
    freeze(value);
    this.#texts.set(value, { length: end - start, digest: digest(line.subarray(start, end)) });
    return { value, end };
  }
}

/** The event, where the rest of its metadata begins at `from`. */
function withRest(head: JsonObject, line: Buffer, from: number): RawEvent | undefined {
  const tail = parse(`{"object":{"metadata":{${line.toString("utf8", from)}`);
  if (tail === undefined) return undefined;
  const object = head.object as JsonObject;
  const { metadata, ...rest } = tail.object as JsonObject;
  const complete = add(object.metadata as JsonObject, metadata as JsonObject) && add(object, rest);
  return complete ? event(head, tail) : undefined;
}

const event = (head: JsonObject, tail: JsonObject): RawEvent => ({
  type: head.type === undefined ? tail.type : head.type,
  object: head.object,
});

function parse(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lastKey(object: JsonObject): string | undefined {
  let last: string | undefined;
  for (const key in object) last = key;
  return last;
}

/** Adds keys to an object; `false` for the one key that cannot be added like that. */
function add(object: JsonObject, keys: JsonObject): boolean {
  for (const key in keys) {
    if (key === "__proto__") return false;
    object[key] = keys[key];
  }
  return true;
}

/** Without recursion: the server decides how deep it is. */
function freeze(value: object): void {
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const member of Object.values(next)) if (typeof member === "object" && member !== null) open.push(member);
    Object.freeze(next);
  }
}
