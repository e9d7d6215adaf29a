import { applyJsonPatch, deepEqual, JsonPatchError, type JsonPatchOperation } from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type ApiObject,
  type Endpoint,
  fromCel,
  isRecord,
  lenientOperation,
  listAt,
  misplacedType,
  ObjectValue,
  objectAt,
  overlayConfiguration,
  PatchValue,
  StatusError,
  toCel,
} from "../registry/index.ts";
import type { AdmissionPlugin, MutationRound } from "./chain.ts";
import {
  activate,
  checkConditions,
  compileAll,
  type Expression,
  type ExpressionOptions,
  evaluate,
} from "./conditions.ts";
import { type Invocation, invocationsOf, PolicySource } from "./policy-source.ts";
import { type ComposedVariable, compileVariables, withVariables } from "./policy-variables.ts";
import { isExempt, refused, shownAs, takenBack } from "./request.ts";
import { describePatchFailure } from "./webhooks.ts";

const MUTATING_POLICIES = "mutatingadmissionpolicies.admissionregistration.k8s.io";
const MUTATING_BINDINGS = "mutatingadmissionpolicybindings.admissionregistration.k8s.io";

interface Mutation extends Expression {
  readonly patchType: "JSONPatch" | "ApplyConfiguration";
}

interface Compiled {
  readonly conditions: readonly Expression[];
  readonly variables: readonly ComposedVariable[];
  readonly mutations: readonly Mutation[];
}

/** What the first round leaves for the second. */
interface Reinvocation {
  readonly ready: Set<string>;
  readonly due: Set<string>;
  last: ApiObject | undefined;
}

/** A mutation that could not be made; the policy says whether that matters. */
class MutationFailed extends Error {}

/** Changes what is written by the expressions of MutatingAdmissionPolicies. */
export function mutatingPolicies(options: ExpressionOptions): AdmissionPlugin {
  const tables = { policies: MUTATING_POLICIES, bindings: MUTATING_BINDINGS };
  const source = new PolicySource(options.backend, tables, (spec) => compile(spec, options));
  return {
    async mutate(attributes, round) {
      if (isExempt(attributes)) return attributes.object;
      const invocations = await invocationsOf(await source.current(), attributes, options.backend);
      if (invocations.length === 0) return attributes.object;
      const memory = round.recall<Reinvocation>(source, () => ({
        ready: new Set(),
        due: new Set(),
        last: undefined,
      }));
      return mutateAll(invocations, attributes, round, memory, options);
    },
  };
}

async function compile(spec: Record<string, unknown>, options: ExpressionOptions): Promise<Compiled> {
  const expressions = await options.expressions();
  const params = spec.paramKind !== undefined;
  const variables = compileVariables(listAt(spec, "variables"), expressions, params);
  const declared = {
    params,
    authorizer: true,
    variables: new Map(variables.map(({ name, type }) => [name, type])),
  };
  return {
    variables,
    conditions: compileAll(listAt(spec, "matchConditions"), expressions, declared),
    mutations: listAt(spec, "mutations").map((mutation) => {
      const patchType = mutation.patchType === "JSONPatch" ? "JSONPatch" : "ApplyConfiguration";
      const key = patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
      const text = String(objectAt(mutation, key).expression);
      return { patchType, text, program: expressions.compile(text, { ...declared, patches: true }) };
    }),
  };
}

async function mutateAll(
  invocations: readonly Invocation<Compiled>[],
  attributes: AdmissionAttributes,
  round: MutationRound,
  memory: Reinvocation,
  options: ExpressionOptions,
): Promise<ApiObject | undefined> {
  const changed = () => {
    for (const key of memory.ready) memory.due.add(key);
    memory.ready.clear();
  };
  if (round.second && !deepEqual(memory.last, attributes.object)) changed();
  const failures: Failure[] = [];
  let current = attributes;
  for (const invocation of invocations) {
    const before = current.object;
    const key = keyOf(invocation);
    if ("error" in invocation) failures.push({ invocation, message: invocation.error, reason: "Forbidden" });
    else {
      const result = await mutate(invocation, current, round.second && !memory.due.has(key), options);
      for (const message of result.errors) failures.push({ invocation, message, reason: "Invalid" });
      if (!result.ran) continue;
      current = { ...current, object: result.object };
      if (invocation.policy.spec.reinvocationPolicy === "IfNeeded") memory.ready.add(key);
    }
    if (!deepEqual(before, current.object)) {
      changed();
      round.again();
    }
  }
  memory.last = current.object;
  refuseFor(failures, attributes);
  return current.object;
}

interface Failure {
  readonly invocation: Invocation<Compiled>;
  readonly message: string;
  readonly reason: string;
}

function keyOf(invocation: Invocation<Compiled>): string {
  const params = "params" in invocation ? invocation.params?.metadata : undefined;
  return [invocation.policy.name, invocation.binding?.name, params?.namespace, params?.name].join("/");
}

async function mutate(
  invocation: Extract<Invocation<Compiled>, { matched: Endpoint }>,
  attributes: AdmissionAttributes,
  skipped: boolean,
  options: ExpressionOptions,
): Promise<{ readonly ran: boolean; readonly object: ApiObject | undefined; readonly errors: readonly string[] }> {
  const { policy, matched, params } = invocation;
  const { conditions, variables, mutations } = policy.compiled;
  const expressions = await options.expressions();
  const see = async (object: ApiObject | undefined) => {
    const seen = await activate(attributes, matched, options, expressions, object);
    return withVariables({ ...seen, params: params === null ? null : toCel(params) }, variables);
  };
  let { object } = attributes;
  const applies = checkConditions(conditions, await see(object));
  if (applies === false || (applies === true && skipped)) return { ran: false, object, errors: [] };
  if (applies !== true) return { ran: false, object, errors: [applies.error] };
  const errors: string[] = [];
  for (const mutation of mutations) {
    if (object === undefined) break;
    const now = { ...attributes, object };
    try {
      const shown = await shownAs(now, matched, object);
      const changed = shown && apply(mutation, shown, evaluate(mutation, await see(object)), matched);
      if (changed) object = await takenBack(now, matched, changed);
    } catch (error) {
      if (!(error instanceof MutationFailed)) throw error;
      errors.push(error.message);
    }
  }
  return { ran: true, object, errors };
}

function apply(
  mutation: Mutation,
  object: ApiObject,
  result: ReturnType<typeof evaluate>,
  matched: Endpoint,
): Record<string, unknown> | undefined {
  if ("error" in mutation.program) throw new MutationFailed(mutation.program.error);
  if ("error" in result) throw new MutationFailed(result.error);
  return mutation.patchType === "JSONPatch"
    ? applyPatch(object, result.value)
    : applyConfiguration(object, result.value, matched);
}

function applyPatch(object: ApiObject, value: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(value)) {
    throw new MutationFailed("type mismatch: JSONPatchType.expression should evaluate to array");
  }
  let patched: unknown = object;
  for (const item of value) {
    const operation = readOperation(item);
    try {
      patched = applyJsonPatch(patched, [lenientOperation(patched, operation)]);
    } catch (error) {
      if (!(error instanceof JsonPatchError)) throw error;
      // A patch whose test fails is one that was not meant for this object.
      if (operation.op === "test") return undefined;
      throw new MutationFailed(`JSON Patch: ${describePatchFailure(patched, operation)}`);
    }
  }
  return isRecord(patched) ? patched : undefined;
}

function readOperation(item: unknown): JsonPatchOperation {
  if (!(item instanceof PatchValue)) {
    const text = "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch";
    throw new MutationFailed(text);
  }
  const value = item.fields.get("value");
  const misplaced = value instanceof ObjectValue ? misplacedType(value, value.type) : undefined;
  if (misplaced !== undefined) throw new MutationFailed(`type mismatch: ${misplaced}`);
  const operation: Record<string, unknown> = {};
  for (const [name, member] of item.fields) operation[name] = fromCel(member);
  return operation as unknown as JsonPatchOperation;
}

function applyConfiguration(object: ApiObject, value: unknown, { version }: Endpoint): Record<string, unknown> {
  if (!(value instanceof ObjectValue)) {
    throw new MutationFailed("unsupported return type from ApplyConfiguration expression");
  }
  const misplaced = misplacedType(value, "Object");
  if (misplaced !== undefined) throw new MutationFailed(`type mismatch: ${misplaced}`);
  const { apiVersion, kind } = object;
  const applied = { ...(fromCel(value) as Record<string, unknown>), apiVersion, kind };
  const { schema, resolve } = version.codec.tracked;
  const result = overlayConfiguration(object, applied, schema, resolve);
  if ("error" in result) throw new MutationFailed(`error applying patch: ${result.error}`);
  return result.object;
}

function refuseFor(failures: readonly Failure[], attributes: AdmissionAttributes): void {
  const fatal = failures.filter(({ invocation }) => !invocation.policy.ignoresFailure);
  const [first] = fatal;
  if (!first) return;
  const messages = fatal.map(({ invocation: { policy, binding }, message }) =>
    binding
      ? `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`
      : `policy ${JSON.stringify(policy.name)} denied request: ${message}`,
  );
  throw new StatusError({
    code: 403,
    reason: first.reason,
    message: messages[0] as string,
    details: { ...refused(attributes, "").details, causes: messages.map((message) => ({ message })) },
  });
}
