/** What the API server would say of a definition or a policy, without one: nothing listens, and nothing is kept. */
import { systemClock } from "@lotse/client/meta";
import { checkExpressions } from "./controllers/index.ts";
import {
  asCrd,
  type Backend,
  builtinResources,
  Catalog,
  CelSlot,
  createClusterIpAllocator,
  createFromBody,
  customResource,
  Expressions,
  lazyTables,
  Pace,
  StatusError,
  serviceRange,
  Troubles,
} from "./registry/index.ts";
import { Store } from "./store/index.ts";

/**
 * A mistake in an object, in the words of the API server.
 *
 * @example
 * ```ts
 * const sentence = ({ path, message }: FieldProblem) => (path === "" ? message : `${path}: ${message}`);
 * ```
 */
export interface FieldProblem {
  /** `spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule`; empty for the whole. */
  readonly path: string;
  /** `Invalid value: "self >": compilation failed: …` */
  readonly message: string;
  /** `FieldValueInvalid` */
  readonly reason: string;
}

/**
 * What the API server would refuse in a CustomResourceDefinition: names, structural schemas, and every rule compiled,
 * type-checked and weighed with the server's own limits. Nothing when it would take it.
 *
 * @example
 * ```ts
 * for (const { path, message } of await checkDefinition(Shop.crd())) console.error(`${path}: ${message}`);
 * ```
 */
export async function checkDefinition(crd: object): Promise<readonly FieldProblem[]> {
  const { problems } = await tryOut(newJudge(), "apiextensions.k8s.io", "customresourcedefinitions", crd);
  return problems;
}

/**
 * What the API server would refuse or warn of in an admission policy. Its expressions are held against the types of the
 * kinds that it names: built-in ones, and those of `definitions`.
 *
 * @example
 * ```ts
 * const apiVersion = "admissionregistration.k8s.io/v1";
 * const policy = { apiVersion, kind: "ValidatingAdmissionPolicy", metadata: { name: "small" }, spec: { validations: [] } };
 * const problems = await checkPolicy(policy, [Shop.crd()]);
 * ```
 */
export async function checkPolicy(policy: object, definitions: readonly object[]): Promise<readonly FieldProblem[]> {
  const judge = newJudge();
  for (const definition of definitions) {
    const { made, problems } = await tryOut(judge, "apiextensions.k8s.io", "customresourcedefinitions", definition);
    if (!made) return problems;
    const resource = customResource(asCrd(made), judge.tables, judge.cel);
    if (resource) judge.backend.catalog.register(resource);
  }
  const mutates = (policy as { kind?: unknown }).kind === "MutatingAdmissionPolicy";
  const plural = mutates ? "mutatingadmissionpolicies" : "validatingadmissionpolicies";
  const { made, problems } = await tryOut(judge, "admissionregistration.k8s.io", plural, policy);
  if (!made || mutates) return problems;
  const load = () => Expressions.load({ cel: judge.cel, access: () => ({ allowed: false, reason: "" }) });
  const warnings = await checkExpressions(made, judge.backend.catalog, load);
  return warnings.map(({ fieldRef, warning }) => ({
    path: fieldRef,
    message: warning.trim(),
    reason: "FieldValueInvalid",
  }));
}

type Tried = Awaited<ReturnType<typeof createFromBody>>;

/** Creates an object as in a dry run: what is refused is told, and nothing is kept. */
async function tryOut(
  { backend }: Judge,
  group: string,
  plural: string,
  value: object,
): Promise<{ made?: Tried; problems: readonly FieldProblem[] }> {
  const endpoint = backend.catalog.storage(group, plural);
  if (!endpoint) throw new Error(`there are no ${plural}.${group}`);
  const scope = { user: { username: "", uid: "", groups: [], extra: {} }, defaultManager: "", warn: () => {} };
  const target = { endpoint, namespace: undefined, name: undefined, subresource: undefined };
  const text = JSON.stringify(value);
  const body = { value: JSON.parse(text), duplicateFields: [], typed: false, text };
  const options = { dryRun: true, fieldManager: "lotse", fieldValidation: "Strict" } as const;
  try {
    return { made: await createFromBody(backend, scope, target, body, options), problems: [] };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { problems: problemsOf(error) };
  }
}

function problemsOf({ details, message, reason = "" }: StatusError): FieldProblem[] {
  const causes = details?.causes ?? [];
  if (causes.length === 0) return [{ path: "", message, reason }];
  return causes.map((cause) => ({
    path: cause.field ?? "",
    message: cause.message ?? message,
    reason: cause.reason ?? reason,
  }));
}

interface Judge {
  readonly backend: Backend;
  readonly tables: ReturnType<typeof lazyTables>;
  readonly cel: CelSlot;
}

function newJudge(): Judge {
  const [tables, cel, catalog, clock] = [lazyTables(), new CelSlot(), new Catalog(), systemClock];
  const store = new Store({ now: () => clock.monotonic() });
  for (const resource of builtinResources(tables, cel)) catalog.register(resource);
  const backend: Backend = {
    store,
    catalog,
    clock,
    random: () => 0,
    uuid: () => "00000000-0000-4000-8000-000000000000",
    pace: new Pace({ clock, defer: (fn) => void setImmediate(fn), afterPromises: (fn) => queueMicrotask(fn) }),
    troubles: new Troubles({ clock, tell: () => {} }),
    admission: { mutate: async () => undefined, validate: async () => {} },
    allocateClusterIp: createClusterIpAllocator(store, serviceRange(undefined)),
  };
  return { backend, tables, cel };
}
