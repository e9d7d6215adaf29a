import {
  type AdmissionAttributes,
  type ApiObject,
  authorizerValue,
  type CelCompilation,
  type Declarations,
  describeFailure,
  type Endpoint,
  Expressions,
  forbidden,
  namespaceValue,
  requestValue,
  toCel,
} from "../registry/index.ts";
import { type AdmissionBackend, isNamespaces, shownAs, storedNamespace } from "./request.ts";
import { showRequest } from "./review.ts";

/** Where expressions come from: loaded when the first one is compiled. */
export interface ExpressionOptions {
  readonly backend: AdmissionBackend;
  readonly expressions: () => Promise<Expressions>;
}

/** Expressions with the engine that runs them. */
export const loadExpressions = Expressions.load;

/** The values that expressions see of one request. */
export type Activation = Readonly<Record<string, unknown>>;

/** What one request looks like to expressions. `matched` is the version in which they want its objects. */
export async function activate(
  attributes: AdmissionAttributes,
  matched: Endpoint,
  { backend }: Pick<ExpressionOptions, "backend">,
  expressions: Expressions,
  object: ApiObject | undefined = attributes.object,
): Promise<Activation> {
  const { endpoint, namespace, name, subresource, user, oldObject } = attributes;
  const around = namespace === undefined || isNamespaces(endpoint) ? undefined : storedNamespace(backend, namespace);
  return {
    object: toCel((await shownAs(attributes, matched, object)) ?? null),
    oldObject: toCel((await shownAs(attributes, matched, oldObject)) ?? null),
    request: requestValue(showRequest(attributes, matched)),
    namespaceObject: around ? namespaceValue(around) : null,
    authorizer: authorizerValue(user, expressions.access, {
      group: endpoint.resource.group,
      resource: endpoint.resource.plural,
      subresource: subresource ?? "",
      namespace: namespace ?? "",
      name,
    }),
  };
}

/** A compiled expression and its text, which messages about it quote. */
export interface Expression {
  readonly text: string;
  readonly program: CelCompilation;
}

/** What an expression gave, or why it gave nothing. */
export type Evaluated = { readonly value: unknown } | { readonly error: string };

/** The value of an expression, or why it has none: a failure to compile counts when the expression is needed. */
export function evaluate({ text, program }: Expression, activation: Activation): Evaluated {
  if ("error" in program) return { error: `compilation error: ${program.error}` };
  try {
    return { value: program.run(activation) };
  } catch (error) {
    return { error: `expression '${text}' resulted in error: ${describeFailure(error)}` };
  }
}

/** Compiles the conditions of one policy or webhook; what fails is kept, and told when it is evaluated. */
export function compileAll(
  conditions: readonly Record<string, unknown>[],
  expressions: Expressions,
  declared: Declarations,
): Expression[] {
  return conditions.map(({ expression }) => {
    const text = String(expression);
    return { text, program: expressions.compile(text.trim(), declared, ["bool"]) };
  });
}

/** Whether all conditions hold: no, as soon as one surely does not; else the errors, if there are any. */
export function checkConditions(
  conditions: readonly Expression[],
  activation: Activation,
): boolean | { readonly error: string } {
  const errors: string[] = [];
  for (const condition of conditions) {
    const result = evaluate(condition, activation);
    if ("error" in result) errors.push(result.error);
    else if (result.value !== true) return false;
  }
  if (errors.length === 0) return true;
  return { error: errors.length === 1 ? (errors[0] as string) : `[${[...new Set(errors)].join(", ")}]` };
}

/** The match conditions of a webhook. */
export interface Conditions {
  /** Throws when that cannot be said and the webhook may not be left out. */
  hold(attributes: AdmissionAttributes, matched: Endpoint): Promise<boolean>;
}

/** Compiles match conditions into a question to a request; `ignoresFailure` says what a failed one answers. */
export async function compileConditions(
  conditions: readonly Record<string, unknown>[],
  options: ExpressionOptions,
  ignoresFailure: boolean,
): Promise<Conditions> {
  const expressions = await options.expressions();
  const compiled = compileAll(conditions, expressions, { params: false, authorizer: true });
  return {
    async hold(attributes, matched) {
      const result = checkConditions(compiled, await activate(attributes, matched, options, expressions));
      if (typeof result === "boolean") return result;
      if (ignoresFailure) return false;
      throw forbidden(attributes.endpoint.resource, attributes.name, result.error);
    },
  };
}
