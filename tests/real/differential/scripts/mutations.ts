import type { Json, Step, View } from "../script.ts";
import { patch, post, remove } from "./requests.ts";

/** An object of JSON. */
export type Fields = { readonly [key: string]: Json };

/** A kind of which every field is wrong once, and changed once. */
export interface Specimen {
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** What the steps call it; its kind unless told. */
  readonly label?: string;
  /** Complete and right: each of its fields is spoilt in turn. Maps have one key, because the server walks them in any order. */
  readonly good: Fields;
  /** A name that nobody else uses, where it is not in a namespace or means something. */
  readonly name?: string;
  readonly metadata?: Fields;
  /** Each by its words: merged over the good one, field by field at the first level. */
  readonly also?: Readonly<Record<string, Fields>>;
  /** Merge patches of the object that was made of the good one, each by its words. */
  readonly changes?: Readonly<Record<string, Fields>>;
  /** Fields whose every change is of no interest: the server chooses their values. */
  readonly chosen?: readonly string[];
  /** Fields that stay as they are: mistakes in expressions are words of the compiler, which has scripts of its own. */
  readonly unspoilt?: readonly string[];
  /** Nothing is changed: the kind cannot be created for good here. */
  readonly onlyNew?: boolean;
}

/** A kind of whose status every field is wrong once. */
export interface StatusSpecimen extends Omit<Specimen, "also" | "changes" | "onlyNew"> {
  /** Complete and right: each of its fields is spoilt in turn. */
  readonly status: Fields;
  /** Merge patches of the whole object, sent to its status, each by its words. */
  readonly changes?: Readonly<Record<string, Fields>>;
  /** Which subresource takes it; `status` unless told. */
  readonly subresource?: string;
  /** The right one is not kept either: controllers would take it back in their own time. */
  readonly unstored?: true;
}

type Place = readonly (string | number)[];

/** One thing that is done to one field. */
interface Mutation {
  readonly place: Place;
  /** Absent when the field goes. */
  readonly value?: Json;
}

const WRONG_TEXTS = ["", "Wrong value!"];
const WRONG_NUMBERS = [-1, 0, 2_147_483_647];

/** Every way in which a value and what is in it is spoilt. */
function mutationsOf(value: Json, place: Place): Mutation[] {
  const own: Mutation[] = place.length === 0 ? [] : [{ place }];
  if (typeof value === "string") return [...own, ...WRONG_TEXTS.map((text) => ({ place, value: text }))];
  if (typeof value === "number") return [...own, ...WRONG_NUMBERS.map((number) => ({ place, value: number }))];
  if (typeof value === "boolean") return [...own, { place, value: !value }];
  if (Array.isArray(value)) {
    const [first] = value as readonly Json[];
    const twice = first === undefined ? [] : [{ place, value: [...(value as readonly Json[]), first] }];
    const inner = (value as readonly Json[]).flatMap((item, i) => mutationsOf(item, [...place, i]));
    return [...own, { place, value: [] }, ...twice, ...inner];
  }
  if (typeof value !== "object" || value === null) return own;
  const empty = place.length === 0 ? [] : [{ place, value: {} }];
  const inner = Object.entries(value as Fields).flatMap(([key, item]) => mutationsOf(item, [...place, key]));
  return [...own, ...empty, ...inner];
}

/** The same value with one field spoilt. */
function mutate(value: Json, place: Place, mutation: Mutation): Json | undefined {
  const [key, ...rest] = place;
  if (key === undefined) return mutation.value;
  if (Array.isArray(value)) {
    return (value as readonly Json[]).flatMap((item, i) => {
      const changed = i === key ? mutate(item, rest, mutation) : item;
      return changed === undefined ? [] : [changed];
    });
  }
  const result: Record<string, Json> = {};
  for (const [name, item] of Object.entries(value as Fields)) {
    const changed = name === key ? mutate(item, rest, mutation) : item;
    if (changed !== undefined) result[name] = changed;
  }
  return result;
}

const words = ({ place, value }: Mutation): string => {
  const path = place.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return `${path.slice(1)}${value === undefined ? " gone" : ` = ${JSON.stringify(value)}`}`;
};

const pointer = (place: Place): string =>
  place.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** What an accepted object says, without what each server gives it. */
const content =
  (chosen: ReadonlySet<string>): View =>
  (body) => {
    const { metadata: _, ...rest } = body as Fields;
    return without(rest, chosen);
  };

function without(value: Json, keys: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => without(item, keys));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value as Fields).filter(([key]) => !keys.has(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, without(item, keys)]));
}

/** Each field of a kind wrong once in a new object, and changed once in one that is there; nothing of it is kept. */
export function spoil(specimen: Specimen): Step[] {
  const { kind, path, good, metadata = {}, apiVersion, label = kind } = specimen;
  const cluster = !path.includes("{{ns}}");
  const name = specimen.name ?? (cluster ? `diff-spoilt-${kind.toLowerCase()}` : "spoilt");
  const one = `${path}/${name}`;
  const view = content(new Set(specimen.chosen));
  const rest = { query: { dryRun: "All" }, view };
  const body = (fields: Fields, own: string): Json => ({
    apiVersion,
    kind,
    metadata: { name: own, ...metadata },
    ...fields,
  });
  // A name that means something is kept, also by those that are never stored.
  const bad = specimen.name ?? (cluster ? `${name}-bad` : "bad");
  const unspoilt = new Set<string | number>(specimen.unspoilt);
  const mutations = mutationsOf(good, []).filter(({ place }) => !place.some((key) => unspoilt.has(key)));
  const created = mutations.map((mutation) =>
    post(`${label} with ${words(mutation)}`, path, body(mutate(good, mutation.place, mutation) as Fields, bad), rest),
  );
  const also = Object.entries(specimen.also ?? {}).map(([what, more]) =>
    post(`${label} with ${what}`, path, body({ ...good, ...more }, bad), rest),
  );
  if (specimen.onlyNew) return [...created, ...also];
  const changed = mutations.map((mutation) => {
    const op = mutation.value === undefined ? "remove" : "replace";
    const change = [{ op, path: pointer(mutation.place), ...(op === "replace" && { value: mutation.value as Json }) }];
    return patch("json", `${label} changed to ${words(mutation)}`, one, change, rest);
  });
  const changes = Object.entries(specimen.changes ?? {}).map(([what, change]) =>
    patch("merge", `${label} changed to ${what}`, one, change, rest),
  );
  return [
    ...created,
    ...also,
    post(`${label} that is right`, path, body(good, name), { view }),
    ...changed,
    ...changes,
    remove(`${label} that goes`, one, { propagationPolicy: "Background" }, { view: () => null }),
  ];
}

/** What a write to the status may try to take with it. */
const BESIDE: Readonly<Record<string, Fields>> = {
  "labels beside it": { metadata: { labels: { beside: "status" } } },
  "annotations beside it": { metadata: { annotations: { beside: "status" } } },
  "a finalizer beside it": { metadata: { finalizers: ["example.com/beside"] } },
  "an owner beside it": {
    metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" }] },
  },
  "labels that are wrong": { metadata: { labels: { beside: "not good!" } } },
  "no status at all": { status: null },
};

/** Each field of a kind's status wrong once, written to the status of one that is there; nothing of it is kept. */
export function spoilStatus(specimen: StatusSpecimen): Step[] {
  const { kind, path, good, metadata = {}, apiVersion, label = kind, status, subresource = "status" } = specimen;
  const name = specimen.name ?? (path.includes("{{ns}}") ? "spoilt" : `diff-status-${kind.toLowerCase()}`);
  const one = `${path}/${name}`;
  const below = `${one}/${subresource}`;
  const what = subresource;
  const view = content(new Set(specimen.chosen));
  const rest = { query: { dryRun: "All" }, view };
  const written = mutationsOf(status, []).map((mutation) => {
    const op = mutation.value === undefined ? "remove" : "replace";
    const change = [
      // What is not kept must be there before a part of it can be spoilt.
      ...(specimen.unstored ? [{ op: "add", path: "/status", value: status }] : []),
      { op, path: pointer(["status", ...mutation.place]), ...(op === "replace" && { value: mutation.value as Json }) },
    ];
    return patch("json", `${what} of ${label} changed to ${words(mutation)}`, below, change, rest);
  });
  const changes = Object.entries({ ...BESIDE, ...specimen.changes }).map(([mistake, change]) =>
    patch("merge", `${what} of ${label} changed with ${mistake}`, below, change, {
      ...rest,
      view: (body) => withBeside(body, view),
    }),
  );
  return [
    post(
      `${label} whose ${what} is spoilt`,
      path,
      { apiVersion, kind, metadata: { name, ...metadata }, ...good },
      { view },
    ),
    patch("merge", `${what} of ${label} that is right`, below, { status }, specimen.unstored ? rest : { view }),
    ...written,
    ...changes,
    patch("merge", `${what} of ${label} changed through the object`, one, { status: { ...status, bogus: 1 } }, rest),
    remove(`${label} whose ${what} was spoilt`, one, { propagationPolicy: "Background" }, { view: () => null }),
  ];
}

/** The content of an object and those parts of its metadata that a write could have changed. */
function withBeside(body: Json, view: View): Json {
  const { labels, annotations, finalizers, ownerReferences, generation } = (body as { metadata: Fields }).metadata;
  const beside = { labels, annotations, finalizers, ownerReferences, generation };
  return { beside: JSON.parse(JSON.stringify(beside)) as Json, content: view(body) };
}

/** Where the objects of a kind are. */
export const inNamespace = (groupVersion: string, plural: string, kind: string) => ({
  path: `${groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`}/namespaces/{{ns}}/${plural}`,
  apiVersion: groupVersion,
  kind,
});

/** Where the objects of a kind without namespaces are. */
export const everywhere = (groupVersion: string, plural: string, kind: string) => ({
  path: `${groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`}/${plural}`,
  apiVersion: groupVersion,
  kind,
});
