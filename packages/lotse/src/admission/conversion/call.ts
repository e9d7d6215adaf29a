/** Calls the functions of a conversion, which are other people's code: with what they cannot change, and so that what they return is JSON. */
import type { KubeBody } from "@lotse/client";
import { deepClone, errorMessage, isObject, setKey } from "@lotse/client/meta";
import { type ConversionAbout, ConversionError } from "./errors.ts";

/** One of the two functions of a conversion. */
export type ConvertFunction = (body: never) => unknown;

/** What a function of a conversion returned: at least a spec. */
export type Returned = Record<string, unknown>;

/** Calls `convert` with `body`, which it cannot change; throws a {@link ConversionError} whatever goes wrong in it. */
export function callConversion(convert: ConvertFunction, body: KubeBody, about: ConversionAbout): Returned {
  let returned: unknown;
  try {
    returned = convert(frozen(body) as never);
  } catch (cause) {
    throw failure(convert, body, about, cause);
  }
  if (returned instanceof Promise || (isObject(returned) && typeof returned.then === "function")) {
    // Its own failure is not told: the sentence below is about the same mistake.
    void Promise.resolve(returned).catch(() => {});
    throw new ConversionError(about, "the conversion returns a promise; it has to return the object itself");
  }
  if (!isObject(returned)) {
    throw new ConversionError(about, `the conversion returns ${nameOf(returned)}; it has to return at least { spec }`);
  }
  const plain = asJson(returned, "", about, new Set()) as Returned;
  if (!Object.hasOwn(plain, "spec")) {
    throw new ConversionError(about, "the conversion returns no spec; it has to return at least { spec }");
  }
  return plain;
}

/** A copy, because the same body is looked at again after the call. */
function frozen(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozen));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setKey(copy, key, frozen((value as Record<string, unknown>)[key]));
  return Object.freeze(copy);
}

function asJson(value: unknown, path: string, about: ConversionAbout, above: Set<unknown>): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "object" && (Array.isArray(value) || isPlain(value))) {
    if (above.has(value)) throw new ConversionError(about, "the conversion returns an object that contains itself");
    above.add(value);
    const copy = Array.isArray(value)
      ? value.map((item, i) => (item === undefined ? null : asJson(item, `${path}[${i}]`, about, above)))
      : membersAsJson(value as Record<string, unknown>, path, about, above);
    above.delete(value);
    return copy;
  }
  const why = `the conversion returns ${nameOf(value)}, which JSON has not`;
  throw new ConversionError(about, why, path === "" ? {} : { field: path });
}

function membersAsJson(value: Record<string, unknown>, path: string, about: ConversionAbout, above: Set<unknown>) {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined && path !== "") continue;
    const at = path === "" ? key : `${path}.${key}`;
    // Of the whole object it matters which parts were returned at all.
    setKey(copy, key, member === undefined ? undefined : asJson(member, at, about, above));
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

function nameOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number") return String(value);
  if (typeof value === "object" && value !== null) {
    const name = value.constructor?.name ?? "Object";
    return /^[AEIOU]/.test(name) ? `an ${name}` : `a ${name}`;
  }
  if (value === null) return "null";
  return `a ${typeof value}`;
}

function failure(convert: ConvertFunction, body: KubeBody, about: ConversionAbout, cause: unknown): ConversionError {
  if (cause instanceof ConversionError) return cause;
  const why = errorMessage(cause);
  const { path } = (isObject(cause) || cause instanceof Error ? cause : {}) as { path?: unknown };
  if (Array.isArray(path) && path.length > 0) return new ConversionError(about, why, { field: path.join("."), cause });
  if (typeof path === "string" && path !== "") return new ConversionError(about, why, { field: path, cause });
  const read = lastRead(convert, body);
  if (read === undefined) return new ConversionError(about, why, { cause });
  // What a TypeError complains of is what was read last; any other error was thrown some time after it.
  if (cause instanceof TypeError) return new ConversionError(about, why, { field: read, cause });
  return new ConversionError(about, `${why} (${read} was read last)`, { cause });
}

/** The field that a conversion has read last when it failed: it is called again, and watched. */
function lastRead(convert: ConvertFunction, body: KubeBody): string | undefined {
  let last: string | undefined;
  const watched = (value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    return new Proxy(value, {
      get(target, key, receiver) {
        const member = Reflect.get(target, key, receiver) as unknown;
        if (typeof key === "symbol" || typeof member === "function") return member;
        if (Array.isArray(target) && key === "length") return member;
        const at = Array.isArray(target) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
        last = at;
        return watched(member, at);
      },
      set(_target, key) {
        last = path === "" ? String(key) : `${path}.${String(key)}`;
        return false;
      },
      deleteProperty(_target, key) {
        last = path === "" ? String(key) : `${path}.${String(key)}`;
        return false;
      },
    });
  };
  try {
    convert(watched(deepClone(body), "") as never);
    return undefined;
  } catch {
    return last;
  }
}
