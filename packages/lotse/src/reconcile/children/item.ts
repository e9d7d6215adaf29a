/** Reads one item that a function of `operator.children` returned. A mistake names the item, its field, and what is wrong. Pure. */
import { KubeObject, type ObjectMeta } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { type ChildObject, type ExternalChild, type OrderedChild, PermanentError } from "../../declare/index.ts";

/** One thing that shall be there, or shall not. */
export interface Desired {
  readonly key: string;
  readonly after: readonly string[];
  readonly readyWhen: ((live: never) => boolean) | undefined;
  readonly thing:
    | { readonly type: "object"; readonly child: ChildObject }
    | { readonly type: "external"; readonly external: ExternalChild };
}

/** What a wrapped child may say; anything else is a word that was misspelled. */
const ORDER_FIELDS = Object.keys({
  child: true,
  key: true,
  after: true,
  readyWhen: true,
} satisfies Record<Exclude<keyof OrderedChild, "read">, true>);

const META_FIELDS = Object.keys({
  name: true,
  namespace: true,
  labels: true,
  annotations: true,
  finalizers: true,
  ownerReferences: true,
  generateName: true,
  uid: true,
  resourceVersion: true,
  generation: true,
  creationTimestamp: true,
  deletionTimestamp: true,
  deletionGracePeriodSeconds: true,
  managedFields: true,
  // No server writes it any more, but manifests that were printed by an old one have it.
  selfLink: true,
} satisfies Record<keyof ObjectMeta | "selfLink", true>);

/** The fields that a declaration may write. */
const OWN_META_FIELDS = META_FIELDS.slice(0, 6).join(", ");

/** Reads the item at a position, counted from 1. */
export function readItem(item: unknown, position: number): Desired {
  const place = `child ${position}`;
  if (item instanceof KubeObject) return objectOf(item as ChildObject, {}, place);
  if (!isObject(item)) {
    throw new PermanentError(`${place} is ${nameOf(item)}: return objects, manifests or external things`);
  }
  if (typeof item.read === "function") return externalOf(item, place);
  if (item.child === undefined) return objectOf(item as unknown as ChildObject, {}, place);
  const { child, ...order } = item;
  const unknown = Object.keys(order).find((key) => !ORDER_FIELDS.includes(key));
  if (unknown !== undefined) {
    throw wrong(place, titleOf(child), `there is no "${unknown}"; the fields are ${ORDER_FIELDS.join(", ")}`);
  }
  if (!isObject(child))
    throw wrong(place, undefined, `child is ${nameOf(child)}; it has to be an object or a manifest`);
  return objectOf(child as unknown as ChildObject, order, place, "child.");
}

function objectOf(child: ChildObject, order: Record<string, unknown>, place: string, path = ""): Desired {
  const body = (child instanceof KubeObject ? child.body : child) as Record<string, unknown>;
  const kind = body.kind ?? (child instanceof KubeObject ? child.description.kind : undefined);
  const says = (message: string) => wrong(place, titleOf(child), message);
  if (!(child instanceof KubeObject)) {
    for (const field of ["apiVersion", "kind"]) {
      if (typeof body[field] === "string" && body[field] !== "") continue;
      const has = Object.keys(body).slice(0, 5).join(", ") || "nothing";
      throw says(
        `${path}${field} ${missingOr(body[field])}; a manifest begins with apiVersion and kind, this one has: ${has}`,
      );
    }
  }
  const { metadata } = body;
  if (metadata !== undefined && !isObject(metadata)) throw says(`${path}metadata is ${nameOf(metadata)}`);
  checkMetadata(metadata ?? {}, (message) => says(`${path}metadata${message}`));
  const { name } = (metadata ?? {}) as ObjectMeta;
  if (!name) {
    throw says(`${path}metadata.name is missing; a child is found again by its name, so generateName will not do`);
  }
  const key = keyOf(order, says) ?? `${kind}/${name}`.toLowerCase();
  return { key, ...orderOf(order, says), thing: { type: "object", child } };
}

/** `says` makes the error, from the field on. */
function checkMetadata(metadata: Record<string, unknown>, says: (message: string) => PermanentError): void {
  for (const field of Object.keys(metadata)) {
    if (!META_FIELDS.includes(field)) throw says(` has no field "${field}"; its fields are ${OWN_META_FIELDS}`);
  }
  for (const field of ["name", "namespace"]) {
    const value = metadata[field];
    if (value !== undefined && typeof value !== "string")
      throw says(`.${field} is ${nameOf(value)}; it has to be a text`);
  }
  for (const field of ["labels", "annotations"]) {
    const values = metadata[field];
    if (values === undefined) continue;
    if (!isObject(values)) throw says(`.${field} is ${nameOf(values)}; it has to be an object of texts`);
    for (const [key, value] of Object.entries(values)) {
      // What is undefined is not sent.
      if (value === undefined || typeof value === "string") continue;
      throw says(`.${field}["${key}"] is ${nameOf(value)}; it has to be a text: ${JSON.stringify(String(value))}`);
    }
  }
}

function externalOf(external: Record<string, unknown>, place: string): Desired {
  const { key, wanted } = external;
  const says = (message: string) => wrong(place, typeof key === "string" && key !== "" ? key : undefined, message);
  if (typeof key !== "string" || key === "") {
    throw says(`key ${missingOr(key)}; an external thing is known by it: { key: "dns", read, … }`);
  }
  for (const field of ["create", "delete"]) {
    if (typeof external[field] !== "function")
      throw says(`${field} ${missingOr(external[field])}; it has to be a function`);
  }
  const { update } = external;
  if (update !== undefined && typeof update !== "function")
    throw says(`update is ${nameOf(update)}; it has to be a function`);
  if (wanted !== undefined && typeof wanted !== "boolean")
    throw says(`wanted is ${nameOf(wanted)}; it is true or false`);
  return {
    key,
    ...orderOf(external, says),
    thing: { type: "external", external: external as unknown as ExternalChild },
  };
}

function keyOf({ key }: Record<string, unknown>, says: (message: string) => PermanentError): string | undefined {
  if (key === undefined || (typeof key === "string" && key !== "")) return key;
  throw says(`key is ${key === "" ? "empty" : nameOf(key)}; it has to be a text`);
}

function orderOf(
  { after, readyWhen }: Record<string, unknown>,
  says: (message: string) => PermanentError,
): Pick<Desired, "after" | "readyWhen"> {
  const list = after === undefined ? [] : typeof after === "string" ? [after] : after;
  if (!isListOfTexts(list)) throw says(`after is ${nameOf(after)}; it has to be a key or a list of keys`);
  if (readyWhen !== undefined && typeof readyWhen !== "function") {
    throw says(`readyWhen is ${nameOf(readyWhen)}; it has to be a function`);
  }
  return { after: [...list], readyWhen: readyWhen as Desired["readyWhen"] };
}

function isListOfTexts(value: unknown): value is Iterable<string> {
  return (
    typeof value === "object" &&
    value !== null &&
    Symbol.iterator in value &&
    [...(value as Iterable<unknown>)].every((one) => typeof one === "string")
  );
}

function wrong(place: string, title: string | undefined, message: string): PermanentError {
  return new PermanentError(`${place}${title === undefined ? "" : ` (${title})`}: ${message}`);
}

/** What the item is, as far as it says: `ConfigMap settings`. */
function titleOf(child: unknown): string | undefined {
  const body = child instanceof KubeObject ? child.body : child;
  if (!isObject(body)) return undefined;
  const kind = child instanceof KubeObject ? child.description.kind : body.kind;
  const name = isObject(body.metadata) ? body.metadata.name : undefined;
  return [kind, name].filter((part) => typeof part === "string" && part !== "").join(" ") || undefined;
}

function missingOr(value: unknown): string {
  return value === undefined || value === "" ? "is missing" : `is ${nameOf(value)}`;
}

/** What a value is, in words. */
function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  return (
    { string: "a text", number: "a number", boolean: "true or false", function: "a function", object: "an object" }[
      typeof value as string
    ] ?? typeof value
  );
}
