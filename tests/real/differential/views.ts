import type { Json } from "./script.ts";

type Fields = { readonly [key: string]: Json };

/** What kind of value stands where, for what is each server's own: versions, hashes, build dates. */
export function shape(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return map(value as Fields, (_, inner) => shape(inner));
}

/** A Table without the prose that describes the columns of built-in kinds: the embedded cluster does not carry it. */
export function withoutProse(body: Json): Json {
  return tables(body, (column) => map(column, (key, value) => (key === "description" ? "<prose>" : value)));
}

/** As {@link withoutProse}, for the first column only: the others are described by the CustomResourceDefinition. */
export function withoutProseOfName(body: Json): Json {
  return tables(body, (column, index) =>
    map(column, (key, value) => (key === "description" && index === 0 ? "<prose>" : value)),
  );
}

/** Only how the answer looks from outside: for bodies that are each server's own. */
export function headersOnly(): Json {
  return null;
}

/** Lists inside become sets: sorted by their JSON. */
export function asSets(value: Json): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => asSets(item as Json));
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== "object" || value === null) return value;
  return map(value as Fields, (_, inner) => asSets(inner));
}

/** Reasons that are told as a list come in the alphabet's order: the real server reads them from a map, in any. */
export function reasonsInOrder(value: Json): Json {
  if (typeof value === "string") {
    return value.replace(/\[(.*)\]/, (_, list: string) => `[${list.split(", ").sort().join(", ")}]`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return map(value as Fields, (_, inner) => reasonsInOrder(inner));
}

function tables(body: Json, change: (column: Fields, index: number) => Json): Json {
  if (Array.isArray(body)) return body.map((event) => tables(event as Json, change));
  if (typeof body !== "object" || body === null) return body;
  return map(body as Fields, (key, value) => {
    if (key === "object") return tables(value, change);
    if (key === "columnDefinitions" && Array.isArray(value)) return value.map((c, i) => change(c as Fields, i));
    return value;
  });
}

function map(object: Fields, change: (key: string, value: Json) => Json): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(key, value)]));
}
