import type { CelSlot } from "../cel.ts";
import { isRecord } from "../object.ts";
import { type CelCompilation, type CelEngine, failureText, type Schema } from "../schema/index.ts";
import type { AccessCheck } from "./access-check.ts";
import { addAccessLibrary } from "./access-library.ts";
import { addPatchTypes, rewriteLiterals } from "./patch-types.ts";

type Environment = ReturnType<CelEngine["environment"]>;

/** What expressions of webhooks and policies need beside the request. */
export interface ExpressionOptions {
  readonly cel: CelSlot;
  readonly access: AccessCheck;
}

/** Which variables an expression may name beside `object`, `oldObject`, `request` and `namespaceObject`. */
export interface Declarations {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** Those that a policy composes, with their types; undefined where there can be none. */
  readonly variables?: ReadonlyMap<string, string>;
  /** `Object{…}` and `JSONPatch{…}` can be written. */
  readonly patches?: boolean;
}

class Kind {}
class Resource {}
class UserInfo {}
class Request {}
class NamespaceSpec {}
class NamespaceCondition {}
class NamespaceStatus {}
class NamespaceMetadata {}
class Namespace {}
class Variables {}

const TEXTS = "list<string>";
const LABELS = "map<string, string>";

/** Types that are known beforehand, so that a mistake in a field's name is found when the policy is written. */
const TYPES: readonly (readonly [name: string, ctor: new () => object, fields: Record<string, string>])[] = [
  ["kubernetes.GroupVersionKind", Kind, { group: "string", version: "string", kind: "string" }],
  ["kubernetes.GroupVersionResource", Resource, { group: "string", version: "string", resource: "string" }],
  [
    "kubernetes.UserInfo",
    UserInfo,
    { username: "string", uid: "string", groups: TEXTS, extra: "map<string, list<string>>" },
  ],
  [
    "kubernetes.AdmissionRequest",
    Request,
    {
      kind: "kubernetes.GroupVersionKind",
      resource: "kubernetes.GroupVersionResource",
      subResource: "string",
      requestKind: "kubernetes.GroupVersionKind",
      requestResource: "kubernetes.GroupVersionResource",
      requestSubResource: "string",
      name: "string",
      namespace: "string",
      operation: "string",
      userInfo: "kubernetes.UserInfo",
      dryRun: "bool",
      options: "dyn",
    },
  ],
  ["kubernetes.NamespaceSpec", NamespaceSpec, { finalizers: TEXTS }],
  [
    "kubernetes.NamespaceCondition",
    NamespaceCondition,
    {
      status: "string",
      type: "string",
      lastTransitionTime: "google.protobuf.Timestamp",
      message: "string",
      reason: "string",
    },
  ],
  [
    "kubernetes.NamespaceStatus",
    NamespaceStatus,
    { conditions: "list<kubernetes.NamespaceCondition>", phase: "string" },
  ],
  [
    "kubernetes.NamespaceMetadata",
    NamespaceMetadata,
    {
      name: "string",
      generateName: "string",
      namespace: "string",
      labels: LABELS,
      annotations: LABELS,
      UID: "string",
      creationTimestamp: "google.protobuf.Timestamp",
      deletionGracePeriodSeconds: "int",
      deletionTimestamp: "google.protobuf.Timestamp",
      generation: "int",
      resourceVersion: "string",
      finalizers: TEXTS,
    },
  ],
  [
    "kubernetes.Namespace",
    Namespace,
    {
      metadata: "kubernetes.NamespaceMetadata",
      spec: "kubernetes.NamespaceSpec",
      status: "kubernetes.NamespaceStatus",
    },
  ],
];

/** The schemas of what an expression sees, where they are known. */
export interface SeenSchemas {
  readonly object: Schema;
  readonly params?: Schema | undefined;
}

/** Compiles the expressions of webhooks and policies. */
export class Expressions {
  readonly #engine: CelEngine;
  readonly #access: AccessCheck;
  /** Types and the variables that are always there; what an expression may see beside them is added to copies. */
  readonly #base: Environment;

  private constructor(engine: CelEngine, access: AccessCheck) {
    this.#engine = engine;
    this.#access = access;
    this.#base = engine.environment();
    addKnown(this.#base);
    this.#base.registerVariable("object", "dyn").registerVariable("oldObject", "dyn");
  }

  /**
   * Prepares to look for mistakes in expressions about objects of one kind, which would otherwise show when one is
   * written. The answer is what is wrong with an expression, undefined when nothing is.
   */
  checkerOf(
    { object, params }: SeenSchemas,
    hasParams: boolean,
    variables: readonly { readonly name: string; readonly expression: string }[],
  ): (expression: string) => string | undefined {
    const environment = this.#engine.environment();
    addKnown(environment);
    const type = this.#engine.declare(environment, object, "Object") ?? "dyn";
    environment.registerVariable("object", type).registerVariable("oldObject", type);
    environment.registerVariable("authorizer", "kubernetes.authorization.Authorizer");
    if (hasParams) {
      const declared = params && this.#engine.declare(environment, params, "Params");
      environment.registerVariable("params", declared ?? "dyn");
    }
    const composed: Record<string, string> = {};
    const withVariables = (): Environment => {
      const copy = environment.clone();
      copy.registerType("kubernetes.variables", { ctor: Variables, fields: { ...composed } });
      return copy.registerVariable("variables", "kubernetes.variables");
    };
    for (const { name, expression } of variables) {
      const compiled = this.#engine.compileIn(withVariables(), expression);
      composed[name] = "error" in compiled ? "dyn" : compiled.type;
    }
    const all = withVariables();
    return (expression) => {
      const compiled = this.#engine.compileIn(all, expression);
      return "error" in compiled ? compiled.error : undefined;
    };
  }

  static async load({ cel, access }: ExpressionOptions): Promise<Expressions> {
    await cel.load();
    return new Expressions(cel.engine as CelEngine, access);
  }

  get access(): AccessCheck {
    return this.#access;
  }

  /** `allowed` are the types that the expression may have; any when there are none. */
  compile(expression: string, declared: Declarations, allowed: readonly string[] = []): CelCompilation {
    const environment = this.#base.clone();
    if (declared.params) environment.registerVariable("params", "dyn");
    if (declared.authorizer) environment.registerVariable("authorizer", "kubernetes.authorization.Authorizer");
    if (declared.variables) {
      environment.registerType("kubernetes.variables", {
        ctor: Variables,
        fields: Object.fromEntries(declared.variables),
      });
      environment.registerVariable("variables", "kubernetes.variables");
    }
    if (declared.patches) addPatchTypes(environment);
    const rewritten = declared.patches ? rewriteLiterals(expression) : undefined;
    const compiled = rewritten
      ? this.#engine.compileIn(environment, rewritten.expression, { text: expression, at: rewritten.at })
      : this.#engine.compileIn(environment, expression);
    if ("error" in compiled) return { error: `compilation failed: ${compiled.error}` };
    if (allowed.length > 0 && !allowed.includes(compiled.type)) return { error: wrongType(allowed, compiled.type) };
    return compiled;
  }
}

/** Types and variables that every expression may name. */
function addKnown(environment: Environment): void {
  for (const [name, ctor, fields] of TYPES) environment.registerType(name, { ctor, fields });
  addAccessLibrary(environment);
  environment
    .registerVariable("request", "kubernetes.AdmissionRequest")
    .registerVariable("namespaceObject", "kubernetes.Namespace");
}

function wrongType(allowed: readonly string[], found: string): string {
  if (allowed.length === 1) return `must evaluate to ${goType(allowed[0] as string)} but got ${goType(found)}`;
  return `must evaluate to one of [${allowed.map(goType).join(" ")}] but got ${goType(found)}`;
}

/** The name of a type as the real compiler prints it. */
function goType(type: string): string {
  return type
    .replace(/</g, "(")
    .replace(/>/g, ")")
    .replace(/^null$/, "null_type");
}

/** JSON as expressions see it: whole numbers are integers, objects are maps, whatever their keys are called. */
export function toCel(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (!isRecord(value)) return value;
  const map = new Map<string, unknown>();
  for (const [key, member] of Object.entries(value)) if (member !== undefined) map.set(key, toCel(member));
  return map;
}

/** The value of an object type; members that are not there stay away. */
function typed<T extends object>(ctor: new () => T, members: Record<string, unknown>): T {
  const value = new ctor() as Record<string, unknown>;
  for (const [key, member] of Object.entries(members)) if (member !== undefined) value[key] = member;
  return value as T;
}

const time = (text: unknown): Date | undefined => (typeof text === "string" ? new Date(text) : undefined);
const whole = (number: unknown): bigint | undefined => (typeof number === "number" ? BigInt(number) : undefined);
const labels = (value: unknown): unknown => (isRecord(value) ? toCel(value) : undefined);

/** The request as expressions see it. */
export function requestValue(request: object): object {
  const { kind, resource, requestKind, requestResource, userInfo, options, ...plain } = request as Record<
    string,
    Record<string, unknown>
  >;
  const extra = userInfo?.extra;
  return typed(Request, {
    ...plain,
    kind: typed(Kind, kind ?? {}),
    resource: typed(Resource, resource ?? {}),
    requestKind: typed(Kind, requestKind ?? {}),
    requestResource: typed(Resource, requestResource ?? {}),
    userInfo: typed(UserInfo, { ...userInfo, ...(extra === undefined ? {} : { extra: toCel(extra) }) }),
    options: toCel(options),
  });
}

/** A Namespace as expressions see it: without what is no one's business. */
export function namespaceValue(namespace: Record<string, unknown>): object {
  const meta = isRecord(namespace.metadata) ? namespace.metadata : {};
  const spec = isRecord(namespace.spec) ? namespace.spec : {};
  const status = isRecord(namespace.status) ? namespace.status : {};
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : undefined;
  return typed(Namespace, {
    metadata: typed(NamespaceMetadata, {
      name: meta.name,
      generateName: meta.generateName,
      labels: labels(meta.labels),
      annotations: labels(meta.annotations),
      UID: meta.uid,
      creationTimestamp: time(meta.creationTimestamp),
      deletionTimestamp: time(meta.deletionTimestamp),
      deletionGracePeriodSeconds: whole(meta.deletionGracePeriodSeconds),
      generation: whole(meta.generation),
      resourceVersion: meta.resourceVersion,
      finalizers: meta.finalizers,
    }),
    spec: typed(NamespaceSpec, { finalizers: spec.finalizers }),
    status: typed(NamespaceStatus, {
      phase: status.phase,
      conditions: conditions?.map(({ lastTransitionTime, ...condition }) =>
        typed(NamespaceCondition, { ...condition, lastTransitionTime: time(lastTransitionTime) }),
      ),
    }),
  });
}

/** The composed variables of a policy, each computed when an expression first asks for it. */
export function variablesValue(compute: ReadonlyMap<string, () => unknown>): object {
  const variables = new Variables();
  for (const [name, value] of compute) {
    let known: { readonly value: unknown } | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      get: () => {
        known ??= { value: value() };
        return known.value;
      },
    });
  }
  return variables;
}

/** Why an expression failed while it ran, in the words of the real engine. */
export function describeFailure(error: unknown): string {
  const text = failureText(error);
  return /no (?:such|matching) overload/.test(text) ? "no such overload" : text;
}
