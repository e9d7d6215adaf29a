import { labelValueErrors } from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue, required } from "../fields.ts";
import { listAt } from "../object.ts";
import { textOf, textsOf } from "./common.ts";
import { complain, qualifiedErrors, subdomainComplaints } from "./values.ts";

type Fields = Record<string, unknown>;

/** Which nodes a volume can be reached from. */
export function nodeSelectorErrors(selector: unknown, path: string, lenient: boolean): FieldError[] {
  const terms = listAt(selector, "nodeSelectorTerms");
  const field = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(field, "must have at least one node selector term")];
  return terms.flatMap((term, i) => [
    ...listAt(term, "matchExpressions").flatMap((item, j) =>
      expressionErrors(item, `${field}[${i}].matchExpressions[${j}]`, lenient),
    ),
    ...listAt(term, "matchFields").flatMap((item, j) => fieldErrors(item, `${field}[${i}].matchFields[${j}]`)),
  ]);
}

function expressionErrors(item: Fields, path: string, lenient: boolean): FieldError[] {
  const values = textsOf(item.values);
  const errors: FieldError[] = [];
  switch (item.operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        const text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push(forbiddenField(`${path}.values`, text));
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      }
      break;
    default:
      errors.push(invalidValue(`${path}.operator`, textOf(item.operator), "not a valid selector operator"));
  }
  errors.push(...qualifiedErrors(textOf(item.key), `${path}.key`));
  if (lenient) return errors;
  return [...errors, ...values.flatMap((value, i) => complain(labelValueErrors(value), `${path}.values[${i}]`, value))];
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
