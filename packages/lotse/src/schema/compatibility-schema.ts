/**
 * A schema against its successor: which stored objects would be refused, what would be lost, what would a rollback lose?
 * It errs on one side only. Without a change of the effects `refused` and `lost`, every object that the old schema
 * accepts and keeps is accepted and kept by the new one; the other way round, some changes are only perhaps harmful.
 */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@lotse/client/meta";
import { tightenings, typesOf } from "./compatibility-checks.ts";
import type { SchemaNode } from "./node.ts";

/** What a change does to the objects that are stored. */
export type ChangeEffect =
  /** They may be refused at their next write. */
  | "refused"
  /** Some of their data is dropped. */
  | "lost"
  /** They look different to those who read them. */
  | "altered"
  /** Nothing; but going back to the old schema loses what was written since. */
  | "rollback";

/** One change of a schema. */
export interface SchemaChange {
  readonly effect: ChangeEffect;
  /** `spec.items[].name`; `*` is any key of a map. */
  readonly path: string;
  /** Completes the sentence "The field at this path …". */
  readonly what: string;
  readonly todo: string | undefined;
}

const PRESERVE = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED = "x-kubernetes-embedded-resource";

/** See the module comment. Both are whole objects' schemas: `openAPIV3Schema` of a version. */
export function compareSchemas(before: SchemaNode | undefined, after: SchemaNode | undefined): SchemaChange[] {
  return compareNodes(asObject(before), asObject(after), "");
}

/** The server keeps these three of every object, and checks them by itself, whatever the schema says. */
function asObject(schema: SchemaNode = { type: "object", [PRESERVE]: true }): SchemaNode {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...properties } = propertiesOf(schema);
  const { metadata } = propertiesOf(schema);
  const named = Object.fromEntries(
    ["name", "generateName"].map((key) => [key, { type: "string", ...propertiesOf(metadata)[key] }]),
  );
  const required = requiredOf(schema).filter((name) => !/^(?:apiVersion|kind|metadata)$/.test(name));
  return { ...schema, properties: { ...properties, metadata: { type: "object", properties: named } }, required };
}

function compareNodes(before: SchemaNode, after: SchemaNode, path: string): SchemaChange[] {
  const found: SchemaChange[] = tightenings(before, after, hasMoved(before, after)).map((one) => ({
    effect: "refused",
    path,
    ...one,
  }));
  // Of values of another type, the parts have no meaning.
  if (found.length === 1 && !isPartOf(typesOf(before), typesOf(after))) return found;
  found.push(...defaultChanges(before, after, path));
  if (isObject(before.items) && isObject(after.items)) {
    found.push(...compareNodes(before.items, after.items, `${path}[]`));
  } else if (isObject(after.items) && typesOf(before).has("array")) {
    found.push(...compareNodes({}, after.items, `${path}[]`));
  }
  found.push(...requirementChanges(before, after, path), ...fieldChanges(before, after, path));
  return found;
}

function isPartOf(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].every((one) => b.has(one));
}

function defaultChanges(before: SchemaNode, after: SchemaNode, path: string): SchemaChange[] {
  // The server takes a null that is not allowed for a value that is not there.
  if (
    typeof before.type === "string" &&
    before.nullable === true &&
    after.nullable !== true &&
    after.default !== undefined
  ) {
    const what = `becomes ${JSON.stringify(after.default)} where it was null`;
    return [{ effect: "altered", path, what, todo: "keep it nullable if null means something" }];
  }
  if (isDeepStrictEqual(before.default, after.default) || before.default === undefined) return [];
  const old = JSON.stringify(before.default);
  const what =
    after.default === undefined
      ? `has no default any more, was ${old}`
      : `has the default ${JSON.stringify(after.default)}, was ${old}`;
  return [
    { effect: "altered", path, what, todo: "objects that do not say it themselves change; keep it if they must not" },
  ];
}

function requirementChanges(before: SchemaNode, after: SchemaNode, path: string): SchemaChange[] {
  const old = new Set(requiredOf(before));
  return requiredOf(after).flatMap((name): SchemaChange[] => {
    const [was, is] = [fieldOf(before, name), fieldOf(after, name)];
    if (is?.default !== undefined) return [];
    const child = join(path, name);
    if (!old.has(name)) {
      const what = was === undefined ? "is new and required" : "is required from now on";
      return [{ effect: "refused", path: child, what, todo: "give it a default, or leave it optional" }];
    }
    if (was?.default === undefined) return [];
    const what = "is required and has no default any more";
    return [{ effect: "refused", path: child, what, todo: "keep the default: not every stored object has the field" }];
  });
}

function fieldChanges(before: SchemaNode, after: SchemaNode, path: string): SchemaChange[] {
  if (!typesOf(before).has("object")) return [];
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const found: SchemaChange[] = [];
  for (const [name, node] of Object.entries(old)) {
    const child = join(path, name);
    const successor = fieldOf(after, name) ?? mapValues(after);
    if (successor) found.push(...compareNodes(node, successor, child));
    else if (!keepsUnknown(after)) {
      found.push({ effect: "lost", path: child, what: "is gone, and the server drops it", todo: KEEP_FIELD });
    }
  }
  for (const [name, node] of Object.entries(now)) {
    if (Object.hasOwn(old, name)) continue;
    const child = join(path, name);
    const values = mapValues(before);
    if (values) found.push(...compareNodes(values, node, child));
    // Whatever somebody wrote there was kept, and never looked at.
    else if (keepsUnknown(before)) found.push(...newlyChecked(node, child));
    else found.push({ effect: "rollback", path: child, what: "is new; a rollback drops it", todo: undefined });
  }
  found.push(...unknownChanges(before, after, path));
  return found;
}

const KEEP_FIELD = "keep it in the schema as long as objects have it";

function newlyChecked(node: SchemaNode, path: string): SchemaChange[] {
  const changes = compareNodes({ nullable: true }, node, path);
  const harmful = changes.some(({ effect }) => effect === "refused" || effect === "lost");
  if (!harmful) return changes;
  const what = "is checked from now on; until now anything was kept there";
  return [{ effect: "refused", path, what, todo: "look at the stored objects with --objects" }];
}

/** What becomes of fields that neither schema names. */
function unknownChanges(before: SchemaNode, after: SchemaNode, path: string): SchemaChange[] {
  const [old, now] = [mapValues(before), mapValues(after)];
  const found: SchemaChange[] = [];
  if (old && now) found.push(...compareNodes(old, now, join(path, "*")));
  else if (keepsUnknown(before) && now) found.push(...newlyChecked(now, join(path, "*")));
  else if ((old || keepsUnknown(before)) && !keepsUnknown(after)) {
    const what = "does not keep unknown fields any more";
    found.push({ effect: "lost", path, what, todo: `keep ${old ? "additionalProperties" : PRESERVE}` });
  }
  if (before[EMBEDDED] === true && after[EMBEDDED] !== true && !keepsUnknown(after)) {
    const what = "is no whole object any more: apiVersion, kind and metadata are dropped";
    found.push({ effect: "lost", path, what, todo: `keep ${EMBEDDED}` });
  }
  return found;
}

/** Whether values below a node look different to the checks of the node itself: a default more, or another type. */
function hasMoved(before: SchemaNode, after: SchemaNode): boolean {
  const children: [SchemaNode | undefined, SchemaNode][] = Object.entries(propertiesOf(after)).map(([name, node]) => [
    fieldOf(before, name),
    node,
  ]);
  const [items, values] = [after.items, mapValues(after)];
  if (isObject(items)) children.push([isObject(before.items) ? before.items : undefined, items]);
  if (values) children.push([mapValues(before), values]);
  return children.some(
    ([old, now]) =>
      (now.default !== undefined && !isDeepStrictEqual(now.default, old?.default)) ||
      (old !== undefined && !isDeepStrictEqual(typesOf(old), typesOf(now))) ||
      hasMoved(old ?? {}, now),
  );
}

function propertiesOf(node: SchemaNode | undefined): Record<string, SchemaNode> {
  return isObject(node?.properties) ? (node.properties as Record<string, SchemaNode>) : {};
}

function fieldOf(node: SchemaNode, name: string): SchemaNode | undefined {
  // A field may be called "constructor".
  const properties = propertiesOf(node);
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function requiredOf({ required }: SchemaNode): string[] {
  return Array.isArray(required) ? (required as string[]) : [];
}

/** The schema of a map's values. */
function mapValues({ additionalProperties }: SchemaNode): SchemaNode | undefined {
  if (additionalProperties === true) return { [PRESERVE]: true };
  return isObject(additionalProperties) ? (additionalProperties as SchemaNode) : undefined;
}

function keepsUnknown(node: SchemaNode): boolean {
  // A node that is not written down at all belongs to something that is kept as it is.
  return node[PRESERVE] === true || (node.type === undefined && node["x-kubernetes-int-or-string"] !== true);
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
