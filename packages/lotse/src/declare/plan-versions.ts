/** From what was declared to the versions of a kind, with everything refused that no API server would take. Pure. */
import { deepEqual, isObject } from "@lotse/client/meta";
import {
  type Column,
  type CrdVersionInput,
  type JsonSchemaSource,
  lookIntoSchemas,
  placedSchema,
  readJsonSchema,
  type ScalePlaces,
  type SchemaGap,
  type SchemaNode,
  type ServerRule,
} from "../schema/index.ts";
import { checkPaths } from "./columns.ts";
import { DeclarationError, declarationError } from "./errors.ts";
import type { Conversion, VersionDefinition } from "./versions.ts";

/** A definition of either form, as far as versions go. */
export interface VersionsInput {
  readonly kind: string;
  readonly version?: string;
  readonly spec?: JsonSchemaSource;
  readonly status?: JsonSchemaSource;
  readonly columns?: readonly Column[];
  readonly versions?: Readonly<Record<string, VersionDefinition>>;
  readonly handles?: string;
  readonly convert?: unknown;
  readonly lossless?: boolean;
  readonly scale?: ScalePlaces;
  readonly selectableFields?: readonly string[];
  readonly rules?: readonly ServerRule[];
  readonly description?: string;
}

/** A version that can be served. */
export interface PlannedVersion extends CrdVersionInput {
  /** Structural schema of the whole object. */
  readonly schema: SchemaNode;
  readonly gaps: readonly SchemaGap[];
  /** Where its rules were written, by their field below the schema. */
  readonly places: ReadonlyMap<string, string>;
}

/** The versions of a kind, and how objects get from one to another. */
export interface VersionsPlan {
  /** In the order of declaration. */
  readonly versions: readonly PlannedVersion[];
  readonly storage: string;
  /** The version that handlers see. */
  readonly handled: string;
  readonly conversions: ReadonlyMap<string, Conversion>;
  /** Whether objects change between versions; by functions that are declared here or with the operator. */
  readonly converted: boolean;
}

/** The word for conversions that are declared by `operator.on.convert`. */
export const WITH_THE_OPERATOR = "on.convert";

/** See the module comment. */
export function planVersions(input: VersionsInput): VersionsPlan {
  const { kind } = input;
  const definitions = Object.entries(definitionsOf(input));
  for (const [name, definition] of definitions) checkDefinition(kind, name, definition);
  const storage = storageOf(kind, definitions);
  const versions = definitions.map(([name, definition]) => planVersion(input, name, definition, name === storage));
  const handled = handledOf(input, versions, storage);
  const conversions = conversionsOf(input, versions, storage);
  const elsewhere = input.convert === WITH_THE_OPERATOR;
  if (!elsewhere) checkConverted(kind, versions, storage, conversions);
  return { versions, storage, handled, conversions, converted: elsewhere || conversions.size > 0 };
}

function definitionsOf(input: VersionsInput): Readonly<Record<string, VersionDefinition>> {
  const { kind, versions, version, spec, status, columns } = input;
  if (versions === undefined) {
    if (version !== undefined && spec !== undefined) {
      return { [version]: { spec, ...(status && { status }), ...(columns && { columns }) } };
    }
    const hint = 'write version: "v1" and spec: …, or versions: { v1: { spec: … } }';
    throw declarationError(`${kind} has no ${version === undefined ? "version" : "spec"}`, hint);
  }
  const twice = (["version", "spec", "status", "columns"] as const).filter((key) => input[key] !== undefined);
  if (twice.length > 0) {
    const hint = `move ${twice.join(", ")} into one of the versions`;
    throw declarationError(`${kind} has both versions and ${twice.join(", ")}`, hint);
  }
  if (!isObject(versions) || Object.keys(versions).length === 0) {
    throw declarationError(`${kind} has no versions`, "write versions: { v1: { spec: … } }");
  }
  return versions;
}

function checkDefinition(kind: string, name: string, { deprecated }: VersionDefinition): void {
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) || name.length > 63) {
    throw declarationError(`${JSON.stringify(name)} is not an API version`, "use v1, v1beta1 or v1alpha1");
  }
  if (typeof deprecated === "string" && (deprecated === "" || deprecated.length > 256)) {
    const what = deprecated === "" ? "an empty warning" : `a warning of ${deprecated.length} characters`;
    throw declarationError(
      `${kind} ${name} is deprecated with ${what}`,
      "use true, or a text of at most 256 characters",
    );
  }
}

function storageOf(kind: string, definitions: readonly [string, VersionDefinition][]): string {
  const [only] = definitions;
  const marked = definitions.filter(([, { storage }]) => storage === true).map(([name]) => name);
  const [storage] = marked;
  if (marked.length === 1 && storage !== undefined) return storage;
  if (marked.length > 1) {
    const hint = "objects are kept in exactly one: leave storage: true to the newest";
    throw declarationError(`${kind} has several storage versions: ${marked.join(", ")}`, hint);
  }
  if (definitions.length === 1 && only && only[1].storage !== false) return only[0];
  const names = definitions.map(([name]) => name);
  const hint = `write storage: true in the version in which objects are kept, as a rule ${names.at(-1)}`;
  throw declarationError(`${kind} has no storage version among ${names.join(", ")}`, hint);
}

function planVersion(
  input: VersionsInput,
  name: string,
  definition: VersionDefinition,
  storage: boolean,
): PlannedVersion {
  const { kind } = input;
  const { spec, status, served = true, deprecated = false, columns = [] } = definition;
  const json = {
    spec: jsonSchemaOf(spec, input.versions ? `spec of ${kind} ${name}` : `spec of ${kind}`),
    status: status && jsonSchemaOf(status, input.versions ? `status of ${kind} ${name}` : `status of ${kind}`),
  };
  const { changes, gaps } = lookIntoSchemas([
    { path: "spec", source: spec, json: json.spec },
    { path: "status", source: status, json: json.status },
  ]);
  const [change] = changes;
  if (change) {
    throw declarationError(
      `${change.path} of ${kind} has ${change.by}, which nobody would ever call: the API server checks objects, and handlers get them as they are stored`,
      "describe what is stored, and change it where it is used; .default(…) is filled in by the API server",
    );
  }
  const version: CrdVersionInput = {
    ...json,
    name,
    served,
    storage,
    deprecated,
    about: definition.description ?? input.description,
    columns,
    scale: definition.scale ?? input.scale,
    selectableFields: definition.selectableFields ?? input.selectableFields ?? [],
    rules: [...(input.rules ?? []), ...(definition.rules ?? [])],
  };
  checkRules(version.rules, `${kind} ${name}`);
  const { schema, places } = placedSchema(version);
  checkPaths(version, schema, `${kind} ${name}`);
  return { ...version, schema, gaps, places };
}

function checkRules(rules: readonly ServerRule[], who: string): void {
  for (const { rule, message, messageExpression } of rules) {
    if (typeof rule !== "string" || rule.trim() === "") {
      throw declarationError(
        `a rule of ${who} is empty`,
        'write CEL: { rule: "self.spec.min <= self.spec.max", message: "…" }',
      );
    }
    if (message === "" || messageExpression === "") {
      throw declarationError(`the rule "${rule}" of ${who} has an empty message`, "say what is wrong, or leave it out");
    }
  }
}

function handledOf({ kind, handles }: VersionsInput, versions: readonly PlannedVersion[], storage: string): string {
  const names = versions.map(({ name }) => name);
  const handled = versions.find(({ name }) => name === (handles ?? storage));
  if (!handled)
    throw declarationError(
      `${kind} handles ${JSON.stringify(handles)}, which is none of its versions`,
      `there are ${names.join(", ")}`,
    );
  if (handled.served) return handled.name;
  const others = versions.filter(({ served }) => served).map(({ name }) => name);
  const hint =
    others.length > 0
      ? `serve it, or write handles: ${JSON.stringify(others.at(-1))}`
      : "serve it: leave served: false out";
  throw declarationError(`handlers of ${kind} would see ${handled.name}, which is not served`, hint);
}

function conversionsOf(
  { kind, convert }: VersionsInput,
  versions: readonly PlannedVersion[],
  storage: string,
): Map<string, Conversion> {
  if (convert === undefined || convert === WITH_THE_OPERATOR) return new Map();
  const form = "{ to: (old) => ({ spec: … }), from: (stored) => ({ spec: … }) }";
  if (!isObject(convert))
    throw declarationError(`convert of ${kind} is no object`, `write convert: { v1beta1: ${form} }`);
  const names = versions.map(({ name }) => name);
  for (const [name, conversion] of Object.entries(convert)) {
    if (!names.includes(name)) {
      throw declarationError(
        `${kind} converts ${name}, which is none of its versions`,
        `there are ${names.join(", ")}`,
      );
    }
    if (name === storage) {
      throw declarationError(
        `${kind} converts ${name}, in which objects are kept`,
        "write the conversions of the other versions",
      );
    }
    const missing = ["to", "from"].filter((way) => !isObject(conversion) || typeof conversion[way] !== "function");
    if (missing.length > 0) {
      throw declarationError(
        `the conversion of ${kind} ${name} lacks ${missing.join(" and ")}`,
        `write ${name}: ${form}`,
      );
    }
  }
  return new Map(Object.entries(convert as Record<string, Conversion>));
}

/** Where objects look different in two versions, a function has to say what becomes of which field. */
function checkConverted(
  kind: string,
  versions: readonly PlannedVersion[],
  storage: string,
  conversions: ReadonlyMap<string, Conversion>,
): void {
  const stored = withoutWords(versions.find(({ name }) => name === storage)?.schema);
  for (const { name, schema } of versions) {
    if (name === storage || conversions.has(name) || deepEqual(withoutWords(schema), stored)) continue;
    const form = `convert: { ${name}: { to: (old) => ({ spec: … }), from: (stored) => ({ spec: … }) } }`;
    const hint = `write ${form}, or convert: "${WITH_THE_OPERATOR}" where operator.on.convert has it`;
    throw declarationError(`${kind} ${name} looks otherwise than ${storage}, in which objects are kept`, hint);
  }
}

/** What is said for people alone makes no other form. Fields may have these names. */
function withoutWords(node: unknown): unknown {
  if (!isObject(node)) return node;
  const { description: _description, title: _title, example: _example, properties, ...rest } = node;
  return {
    ...rest,
    ...(rest.items !== undefined && { items: withoutWords(rest.items) }),
    ...(rest.additionalProperties !== undefined && { additionalProperties: withoutWords(rest.additionalProperties) }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, withoutWords(child)])),
    }),
  };
}

function jsonSchemaOf(schema: JsonSchemaSource, what: string): unknown {
  const read = readJsonSchema(schema);
  if ("json" in read) return read.json;
  throw new DeclarationError(`the ${what} ${read.problem}`, { hint: read.hint, cause: read.cause });
}
