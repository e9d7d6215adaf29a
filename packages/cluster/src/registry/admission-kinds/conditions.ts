import { qualifiedNameErrors } from "@lotse/client/meta";
import type { Declarations, Expressions } from "../expressions/index.ts";
import { duplicateValue, type FieldError, invalidValue, required } from "../fields.ts";

const MOST_CONDITIONS = 64;

/** What is wrong with an expression; nothing is, as long as the evaluator that could tell is not loaded. */
export function expressionErrors(
  text: string,
  path: string,
  expressions: Expressions | undefined,
  declared: Declarations,
  types: readonly string[],
): FieldError[] {
  const compiled = expressions?.compile(text, declared, types);
  return compiled && "error" in compiled ? [invalidValue(path, text, compiled.error)] : [];
}

/** `matchConditions` of a webhook or a policy. */
export function conditionErrors(
  conditions: readonly Record<string, unknown>[],
  path: string,
  expressions: Expressions | undefined,
  params: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MOST_CONDITIONS) {
    errors.push({
      type: "TooMany",
      field: path,
      badValue: conditions.length,
      detail: `must have at most ${MOST_CONDITIONS} items`,
    });
  }
  const names = new Set<string>();
  for (const [i, condition] of conditions.entries()) {
    const at = `${path}[${i}]`;
    const text = String(condition.expression ?? "").trim();
    const name = String(condition.name ?? "");
    if (text === "") errors.push(required(`${at}.expression`));
    else {
      const declared = { params, authorizer: true };
      errors.push(...expressionErrors(text, `${at}.expression`, expressions, declared, ["bool"]));
    }
    if (name === "") errors.push(required(`${at}.name`));
    else {
      for (const wrong of qualifiedNameErrors(name)) errors.push(invalidValue(`${at}.name`, name, wrong));
      if (names.has(name)) errors.push(duplicateValue(`${at}.name`, name));
      names.add(name);
    }
  }
  return errors;
}
