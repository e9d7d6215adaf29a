import { lookup } from "@lotse/client/meta";
import { type AdmissionAttributes, listAt, StatusError, toCel } from "../registry/index.ts";
import type { AdmissionPlugin } from "./chain.ts";
import {
  type Activation,
  activate,
  checkConditions,
  compileAll,
  type Expression,
  type ExpressionOptions,
  evaluate,
} from "./conditions.ts";
import { type Invocation, invocationsOf, PolicySource } from "./policy-source.ts";
import { type ComposedVariable, compileVariables, withVariables } from "./policy-variables.ts";
import { isExempt, refused } from "./request.ts";

const VALIDATING_POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io";
const VALIDATING_BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

interface Validation extends Expression {
  readonly message: string;
  readonly messageExpression: Expression | undefined;
  readonly reason: string;
}

interface Compiled {
  readonly conditions: readonly Expression[];
  readonly variables: readonly ComposedVariable[];
  readonly validations: readonly Validation[];
  readonly annotations: readonly Expression[];
}

/** What a policy found wrong. An error in itself is a finding, too, unless the policy says that it may be ignored. */
interface Finding {
  readonly message: string;
  readonly reason: string;
}

/** Judges writes by the expressions of ValidatingAdmissionPolicies. */
export function validatingPolicies(options: ExpressionOptions): AdmissionPlugin {
  const tables = { policies: VALIDATING_POLICIES, bindings: VALIDATING_BINDINGS };
  const source = new PolicySource(options.backend, tables, (spec) => compile(spec, options));
  return {
    async validate(attributes) {
      if (isExempt(attributes)) return;
      let refusal: StatusError | undefined;
      // Everybody is heard, because some only warn; the first refusal is the answer.
      for (const invocation of await invocationsOf(await source.current(), attributes, options.backend)) {
        const found = await judge(invocation, attributes, options);
        refusal ??= found;
      }
      if (refusal) throw refusal;
    },
  };
}

async function compile(spec: Record<string, unknown>, options: ExpressionOptions): Promise<Compiled> {
  const expressions = await options.expressions();
  const variables = compileVariables(listAt(spec, "variables"), expressions, spec.paramKind !== undefined);
  const declared = {
    params: spec.paramKind !== undefined,
    authorizer: true,
    variables: new Map(variables.map(({ name, type }) => [name, type])),
  };
  return {
    variables,
    conditions: compileAll(listAt(spec, "matchConditions"), expressions, declared),
    validations: listAt(spec, "validations").map((validation) => {
      const text = String(validation.expression);
      const given = typeof validation.messageExpression === "string" ? validation.messageExpression : "";
      return {
        text,
        program: expressions.compile(text, declared, ["bool"]),
        message: typeof validation.message === "string" ? validation.message.trim() : "",
        messageExpression:
          given === ""
            ? undefined
            : { text: given, program: expressions.compile(given, { ...declared, authorizer: false }, ["string"]) },
        reason: typeof validation.reason === "string" ? validation.reason : "Invalid",
      };
    }),
    annotations: listAt(spec, "auditAnnotations").map(({ valueExpression }) => {
      const text = String(valueExpression);
      return { text, program: expressions.compile(text, declared, ["string", "null", "dyn"]) };
    }),
  };
}

async function judge(
  invocation: Invocation<Compiled>,
  attributes: AdmissionAttributes,
  options: ExpressionOptions,
): Promise<StatusError | undefined> {
  const { policy, binding } = invocation;
  const deny = (message: string, reason: string) => denial(attributes, policy.name, binding?.name, message, reason);
  if ("error" in invocation) return policy.ignoresFailure ? undefined : deny(invocation.error, "Invalid");
  const expressions = await options.expressions();
  const seen = await activate(attributes, invocation.matched, options, expressions);
  const activation = withVariables(
    { ...seen, params: invocation.params === null ? null : toCel(invocation.params) },
    policy.compiled.variables,
  );
  const actions = Array.isArray(binding?.spec.validationActions) ? binding.spec.validationActions : [];
  let refusal: StatusError | undefined;
  for (const { message, reason } of findings(policy.compiled, activation, policy.ignoresFailure)) {
    if (actions.includes("Warn")) {
      const about = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding?.name}'`;
      attributes.warn(`Validation failed for ${about}: ${message}`);
    }
    if (actions.includes("Deny")) refusal ??= deny(message, reason);
  }
  const broken = brokenAnnotation(policy.compiled, activation, policy.ignoresFailure);
  return refusal ?? (broken === undefined ? undefined : deny(broken, "Invalid"));
}

function* findings(compiled: Compiled, activation: Activation, ignoresFailure: boolean): Generator<Finding> {
  const applies = checkConditions(compiled.conditions, activation);
  if (applies === false) return;
  if (applies !== true) {
    if (!ignoresFailure) yield { message: applies.error, reason: "Invalid" };
    return;
  }
  for (const validation of compiled.validations) {
    const result = evaluate(validation, activation);
    if ("error" in result) {
      if (!ignoresFailure) yield { message: result.error, reason: "Invalid" };
    } else if (result.value !== true) {
      yield { message: messageOf(validation, activation), reason: validation.reason };
    }
  }
}

const LONGEST_MESSAGE = 5 * 1_024;

function messageOf({ text, message, messageExpression }: Validation, activation: Activation): string {
  const made = messageExpression && evaluate(messageExpression, activation);
  if (made && "value" in made && typeof made.value === "string") {
    const trimmed = made.value.trim();
    if (trimmed !== "" && trimmed.length <= LONGEST_MESSAGE && !trimmed.includes("\n")) return trimmed;
  }
  return message || `failed expression: ${text.trim()}`;
}

/** There is no audit log to write to, but a value that cannot be made refuses the request nevertheless. */
function brokenAnnotation(compiled: Compiled, activation: Activation, ignoresFailure: boolean): string | undefined {
  if (checkConditions(compiled.conditions, activation) !== true) return undefined;
  for (const annotation of compiled.annotations) {
    const result = evaluate(annotation, activation);
    if ("error" in result) {
      if (!ignoresFailure) return result.error;
    } else if (typeof result.value !== "string" && result.value !== null) {
      return `valueExpression '${annotation.text}' resulted in unsupported return type: ${typeof result.value}. Return type must be either string or null.`;
    }
  }
  return undefined;
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function denial(
  attributes: AdmissionAttributes,
  policy: string,
  binding: string | undefined,
  message: string,
  reason: string,
): StatusError {
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy ${by} denied request: ${message}`;
  const refusal = refused(attributes, text);
  return new StatusError({
    code: lookup(CODES, reason) ?? 422,
    reason,
    message: refusal.message,
    details: { ...refusal.details, causes: [{ message: text }] },
  });
}
