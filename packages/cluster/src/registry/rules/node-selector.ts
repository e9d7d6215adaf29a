import { type FieldError, invalidValue, required } from "../fields.ts";
import { listAt } from "../object.ts";
import { textOf, textsOf } from "./common.ts";
import { complain, requirementErrors, subdomainComplaints } from "./values.ts";

type Fields = Record<string, unknown>;

/** Which nodes a volume can be reached from. */
export function nodeSelectorErrors(selector: unknown, path: string, lenient: boolean): FieldError[] {
  const terms = listAt(selector, "nodeSelectorTerms");
  const field = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(field, "must have at least one node selector term")];
  return terms.flatMap((term, i) => nodeTermErrors(term, `${field}[${i}]`, lenient));
}

/** One alternative of a selector of nodes; `lenient` tolerates values that no label can have. */
export function nodeTermErrors(term: unknown, path: string, lenient: boolean): FieldError[] {
  return [
    ...listAt(term, "matchExpressions").flatMap((item, i) =>
      requirementErrors(item, `${path}.matchExpressions[${i}]`, { lenient, compared: true }),
    ),
    ...listAt(term, "matchFields").flatMap((item, i) => fieldErrors(item, `${path}.matchFields[${i}]`)),
  ];
}

function fieldErrors(item: Fields, path: string): FieldError[] {
  const values = textsOf(item.values);
  const errors: FieldError[] = [];
  if (item.operator === "In" || item.operator === "NotIn") {
    const text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    if (values.length !== 1) errors.push(required(`${path}.values`, text));
  } else errors.push(invalidValue(`${path}.operator`, textOf(item.operator), "not a valid selector operator"));
  if (item.key !== "metadata.name") {
    return [...errors, invalidValue(`${path}.key`, textOf(item.key), "not a valid field selector key")];
  }
  return [
    ...errors,
    ...values.flatMap((value, i) => complain(subdomainComplaints(value), `${path}.values[${i}]`, value)),
  ];
}
