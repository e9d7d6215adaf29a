/** One writer's fields of an object taken off, and another writer's put in their place. Pure. */
import { isObject } from "@lotse/client/meta";
import { below, type Fields, isMeant, isWhole, SELF } from "./fields.ts";

/** What is taken off, what is put there, and the object that has the values. */
export interface Replacement {
  readonly off: Fields | undefined;
  readonly on: Fields | undefined;
  readonly from: unknown;
}

/**
 * `base` without the fields of `off`, and with those of `on` as they are in `from`. What is in both stays where it is with
 * all that nobody owns in it, such as defaults; what is only in `on` comes as a whole.
 */
export function replaceFields<T>(base: T, { off, on, from }: Replacement): T {
  return replace(base, { off: unlessNone(off), on: unlessNone(on), from }) as T;
}

/** Who has set nothing has not set everything: of a whole object an empty tree means none of it. */
function unlessNone(fields: Fields | undefined): Fields | undefined {
  return fields && isWhole(fields) ? undefined : fields;
}

/** Only the given fields of a value. */
export function pickFields<T>(value: T, fields: Fields | undefined): Partial<T> {
  return fields && !isWhole(fields) ? (pick(value, fields) as Partial<T>) : {};
}

function pick(value: unknown, fields: Fields): unknown {
  if (isWhole(fields)) return value;
  const elements = Object.keys(fields).filter((element) => element !== SELF);
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const element = elements.find((one) => isMeant(item, one));
      return element === undefined ? [] : [pick(item, fields[element] ?? {})];
    });
  }
  if (!isObject(value)) return value;
  const members = elements.flatMap((element) => {
    const name = element.slice(2);
    return Object.hasOwn(value, name) ? [[name, pick(value[name], fields[element] ?? {})] as const] : [];
  });
  return Object.fromEntries(members);
}

function replace(base: unknown, { off, on, from }: Replacement): unknown {
  if (on && isWhole(on)) return from;
  if (!on && off && isWhole(off)) return undefined;
  if (Array.isArray(base) || (base === undefined && Array.isArray(from))) return inList(base, { off, on, from });
  if (!isObject(base) && !isObject(from)) return base;
  let result: Record<string, unknown> = isObject(base) ? base : {};
  for (const element of elementsOf(off, on)) {
    const name = element.slice(2);
    const old = Object.hasOwn(result, name) ? result[name] : undefined;
    const part = { off: below(off, element), on: below(on, element), from: isObject(from) ? from[name] : undefined };
    const value = old === undefined && part.on ? part.from : replace(old, part);
    const { [name]: _, ...others } = result;
    result = value === undefined ? others : { ...others, [name]: value };
  }
  // Whoever has made a map takes it along, unless others have something in it.
  const gone = !on && off && Object.hasOwn(off, SELF) && Object.keys(result).length === 0;
  return gone ? undefined : result;
}

function inList(base: unknown, { off, on, from }: Replacement): unknown {
  const items: unknown[] = Array.isArray(base) ? [...base] : [];
  const source = Array.isArray(from) ? from : [];
  for (const element of elementsOf(off, on)) {
    const at = items.findIndex((item) => isMeant(item, element));
    const part = {
      off: below(off, element),
      on: below(on, element),
      from: source.find((item) => isMeant(item, element)),
    };
    if (!part.on && part.off && (isWhole(part.off) || Object.hasOwn(part.off, SELF))) {
      if (at >= 0) items.splice(at, 1);
    } else if (at >= 0) items[at] = element.startsWith("v:") ? items[at] : replace(items[at], part);
    else if (part.from !== undefined) items.push(part.from);
  }
  return items.length === 0 && !(on && Object.hasOwn(on, SELF)) ? undefined : items;
}

function elementsOf(off: Fields | undefined, on: Fields | undefined): Set<string> {
  const all = new Set([...Object.keys(off ?? {}), ...Object.keys(on ?? {})]);
  all.delete(SELF);
  return all;
}
