/**
 * What a CRD can say and schema libraries cannot: rules, immutable fields, list types, kinds of values. Each helper takes
 * a schema of any library and gives one back with the same static type. One of zod stays one of zod, and keeps what was
 * said wherever it is used; schemas of other libraries become {@link OwnSchema}s, which may stand in `schema({…})`.
 */
import type { corev1, KindDescription, KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import type { ServerRule } from "./crd.ts";
import { type InputOf, type JsonSchemaSource, type OutputOf, readJsonSchema } from "./json-schema.ts";
import { ATOMIC, IMMUTABLE, SchemaError, type SchemaNode } from "./node.ts";
import { type OwnSchema, ownSchema, type SchemaPlace } from "./own-schema.ts";
import { callerLocation } from "./source-location.ts";

/** A schema with something said about it: of zod as before, of another library as an {@link OwnSchema}. */
export type Annotated<S> = S extends { readonly _zod: unknown } ? S : OwnSchema<OutputOf<S>, InputOf<S>>;

/** What is said when a rule is broken: a text, or more. */
export type RuleMessage = string | Omit<ServerRule, "rule">;

/**
 * A rule in CEL that the API server enforces: `self` is the value, `oldSelf` what it was before an update.
 *
 * @example
 * ```ts
 * const range = rule(z.object({ min: z.int(), max: z.int() }), "self.min <= self.max", "min must not exceed max");
 * const named = rule(z.string().max(20), "self.startsWith(oldSelf)", { messageExpression: "'it was ' + oldSelf", reason: "FieldValueForbidden" });
 * ```
 */
export function rule<S extends JsonSchemaSource>(schema: S, expression: string, message?: RuleMessage): Annotated<S> {
  const more = typeof message === "string" ? { message } : message;
  return withRule(schema, { rule: expression, ...more });
}

/**
 * A field that keeps the value with which its object was created: it can neither be changed, nor be removed, nor be added
 * later. Inside of an object that may itself be absent, make that one immutable as well: it would take the field with it.
 *
 * @example
 * ```ts
 * const spec = z.object({ region: immutable(z.string()), size: z.int(), zone: immutable(z.string().optional(), "stay where you are") });
 * ```
 */
export function immutable<S extends JsonSchemaSource>(schema: S, message = "field is immutable"): Annotated<S> {
  const at = callerLocation();
  const mark = { [IMMUTABLE]: { message, ...(at !== undefined && { at }) } };
  return annotate(withRule(schema, { rule: "self == oldSelf", message }), mark) as Annotated<S>;
}

/** The fields of the items of a list. */
type ItemKey<List> = NonNullable<List> extends readonly (infer Item)[] ? keyof Item & string : string;

/**
 * A list whose items are known by one or several of their fields: no two have the same, and several writers can each keep
 * their own items.
 *
 * @example
 * ```ts
 * const ports = listMap(z.array(z.object({ name: z.string(), port: z.int() })), ["name"]);
 * ```
 */
export function listMap<S extends JsonSchemaSource>(
  schema: S,
  keys: readonly [ItemKey<OutputOf<S>>, ...ItemKey<OutputOf<S>>[]],
): Annotated<S> {
  return annotate(schema, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [...keys] });
}

/**
 * A list that has each item once, and whose order does not matter.
 *
 * @example
 * ```ts
 * const tags = listSet(z.array(z.string().max(20)));
 * ```
 */
export function listSet<S extends JsonSchemaSource>(schema: S): Annotated<S> {
  return annotate(schema, { "x-kubernetes-list-type": "set" });
}

/**
 * An object, a map or a list that has one owner: who writes a part of it writes all of it.
 *
 * @example
 * ```ts
 * const selector = atomic(z.record(z.string(), z.string()));
 * ```
 */
export function atomic<S extends JsonSchemaSource>(schema: S): Annotated<S> {
  return annotate(schema, { [ATOMIC]: true });
}

/**
 * A whole number or a text, such as a port by number or by name.
 *
 * @example
 * ```ts
 * const spec = z.object({ port: intOrString(), maxUnavailable: z.optional(intOrString()) });
 * ```
 */
export function intOrString(): OwnSchema<number | string> {
  return ownSchema(() => ({ "x-kubernetes-int-or-string": true }));
}

/**
 * An amount as Kubernetes writes it: `500m`, `1.5Gi`, `2`. `parseQuantity` of the client reads it, and so does
 * `quantity(…)` in CEL.
 *
 * @example
 * ```ts
 * const spec = z.object({ memory: quantity() });
 * ```
 */
export function quantity(): OwnSchema<number | string> {
  return ownSchema(() => ({ "x-kubernetes-int-or-string": true, pattern: QUANTITY }));
}

const QUANTITY = "^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$";

/**
 * A span of time: `5s`, `1h30m`, `250ms`. The handler reads it with `parseDuration`; in CEL it is a duration:
 * `self.interval >= duration('1m')`.
 *
 * @example
 * ```ts
 * const spec = z.object({ interval: duration() });
 * ```
 */
export function duration(): OwnSchema<string> {
  return ownSchema(() => ({ type: "string", format: "duration", pattern: DURATION, maxLength: LONGEST }));
}

/** What `durationMs` and Go read alike: no days, which Go does not have, and no nanoseconds, which `durationMs` has not. */
const DURATION = "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$";
/** Longer than every span that means something; rules that compare it stay cheap. */
const LONGEST = 64;

const KEEP = { "x-kubernetes-preserve-unknown-fields": true };

/** Items that are known by their name, of which all other fields are kept as they are. */
const named = (more: object = {}): SchemaNode => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: { type: "object", required: ["name"], properties: { name: { type: "string" } }, ...KEEP },
  ...more,
});

/**
 * The template of pods, as Deployments have it. The API server demands named containers and keeps the rest as it is
 * written; what is wrong in it is told when the pods are made.
 *
 * @example
 * ```ts
 * const spec = z.object({ replicas: z.int().default(1), template: podTemplate() });
 * ```
 */
export function podTemplate(): OwnSchema<corev1.PodTemplateSpec> {
  return ownSchema(() => ({
    type: "object",
    description: "The pods that are made: metadata and spec, as in a Deployment.",
    required: ["spec"],
    properties: {
      metadata: { type: "object", ...KEEP },
      spec: {
        type: "object",
        required: ["containers"],
        properties: { containers: named({ minItems: 1 }), initContainers: named(), volumes: named() },
        ...KEEP,
      },
    },
  }));
}

/** A class of objects: of the client, or made by `resource()`. */
interface EmbeddableKind<Body> {
  // biome-ignore lint/suspicious/noExplicitAny: classes take bodies of every kind
  new (body: any): { readonly body: Body };
  readonly description: KindDescription;
}

/**
 * A whole object inside of another, with `apiVersion`, `kind` and `metadata`. With a class only objects of that kind; of
 * one that was made by `resource()` with its schema.
 *
 * @example
 * ```ts
 * const spec = z.object({ template: embedded(ConfigMap), anything: z.optional(embedded()) });
 * ```
 */
export function embedded<Body = KubeBody>(kind?: EmbeddableKind<Body>): OwnSchema<Body> {
  return ownSchema(() => ({ "x-kubernetes-embedded-resource": true, ...embeddedSchema(kind) }));
}

function embeddedSchema(kind: EmbeddableKind<unknown> | undefined): SchemaNode {
  if (kind === undefined) return { type: "object", ...KEEP };
  const { group, version, kind: name } = kind.description;
  const header = {
    apiVersion: { type: "string", enum: [group === "" ? version : `${group}/${version}`] },
    kind: { type: "string", enum: [name] },
    metadata: { type: "object" },
  };
  const own = ownSchemaOf(kind, version);
  if (!own) return { type: "object", properties: header, ...KEEP };
  return { ...own, properties: { ...header, ...(own.properties as object) } };
}

/** The schema of a class that was made by `resource()`. */
function ownSchemaOf(kind: object, version: string): SchemaNode | undefined {
  const { versions } = kind as { versions?: readonly { readonly name: string; schema(): SchemaNode }[] };
  return Array.isArray(versions) ? versions.find(({ name }) => name === version)?.schema() : undefined;
}

function withRule<S extends JsonSchemaSource>(schema: S, rule: ServerRule): Annotated<S> {
  const at = callerLocation();
  const next = { ...rule, ...(at !== undefined && { at }) };
  return annotate(schema, (known) => {
    const before = known["x-kubernetes-validations"];
    return { "x-kubernetes-validations": [...(Array.isArray(before) ? before : []), next] };
  });
}

/** What is known of a schema of zod that has methods: its remarks, which it keeps wherever it is used. */
interface ZodSchema {
  meta(): Readonly<Record<string, unknown>> | undefined;
  meta(more: object): unknown;
}

/** `schema` with more words, which may depend on those that it has. */
function annotate<S extends JsonSchemaSource>(
  schema: S,
  more: SchemaNode | ((known: SchemaNode) => SchemaNode),
): Annotated<S> {
  const added = (known: SchemaNode) => (typeof more === "function" ? more(known) : more);
  if (isZod(schema)) return schema.meta({ ...schema.meta(), ...added({ ...schema.meta() }) }) as Annotated<S>;
  const read = readJsonSchema(schema);
  if ("problem" in read) {
    const todo =
      isObject(schema) && "_zod" in schema ? "import zod, not zod/mini: its schemas have no .meta(…)" : read.hint;
    throw new SchemaError(`this ${read.problem}`, { hint: todo, cause: read.cause });
  }
  const json = read.json as SchemaNode;
  const own = ownSchema(() => ({ ...json, ...added(json) }), partsOf(schema));
  return own as unknown as Annotated<S>;
}

function isZod(schema: unknown): schema is ZodSchema {
  return isObject(schema) && isObject(schema._zod) && typeof schema.meta === "function";
}

/** The schemas of libraries inside of one of our own, or the schema itself. */
function partsOf(schema: JsonSchemaSource): readonly SchemaPlace[] {
  const def = (schema as { _zod?: { def?: { parts?: unknown } } })._zod?.def;
  return Array.isArray(def?.parts) ? (def.parts as SchemaPlace[]) : [["", schema]];
}
