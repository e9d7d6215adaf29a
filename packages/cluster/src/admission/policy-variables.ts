import { type Expressions, variablesValue } from "../registry/index.ts";
import { type Activation, type Expression, evaluate } from "./conditions.ts";

/** A variable that a policy composes for its other expressions. */
export interface ComposedVariable extends Expression {
  readonly name: string;
  /** What later expressions may take it for. */
  readonly type: string;
}

/** Compiles variables in order: each may use those before it. */
export function compileVariables(
  variables: readonly Record<string, unknown>[],
  expressions: Expressions,
  params: boolean,
): ComposedVariable[] {
  const known = new Map<string, string>();
  return variables.map(({ name, expression }) => {
    const text = String(expression);
    const program = expressions.compile(text, { params, authorizer: true, variables: new Map(known) });
    const type = "error" in program ? "dyn" : program.type;
    known.set(String(name), type);
    return { name: String(name), text, program, type };
  });
}

/** The values of a request with the composed variables beside them, none of which is computed before it is used. */
export function withVariables(activation: Activation, variables: readonly ComposedVariable[]): Activation {
  const compute = new Map<string, () => unknown>();
  const all: Record<string, unknown> = { ...activation };
  for (const variable of variables) {
    compute.set(variable.name, () => {
      const result = evaluate(variable, all);
      if ("value" in result) return result.value;
      const verb = "error" in variable.program ? "compile" : "evaluate";
      const why = result.error.replace(/^(?:compilation error: |expression '[\s\S]*?' resulted in error: )/, "");
      throw new Error(`composited variable ${JSON.stringify(variable.name)} fails to ${verb}: ${why}`);
    });
  }
  all.variables = variablesValue(compute);
  return all;
}
