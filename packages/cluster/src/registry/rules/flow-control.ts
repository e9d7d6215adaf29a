import { lookup } from "@lotse/client/meta";
import { type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, isRecord, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { recordOf, textsOf } from "./common.ts";

const HIGHEST_PRECEDENCE = 10_000;

export function flowSchema(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  const precedence = Number(spec.matchingPrecedence ?? 0);
  const field = "spec.matchingPrecedence";
  if (precedence <= 0) errors.push(invalidValue(field, precedence, "must be a positive value"));
  if (precedence > HIGHEST_PRECEDENCE) {
    errors.push(invalidValue(field, precedence, `must not be greater than ${HIGHEST_PRECEDENCE}`));
  }
  if (precedence === 1 && object.metadata.name !== "exempt") {
    errors.push(invalidValue(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  const { name } = objectAt(spec, "priorityLevelConfiguration");
  if (!name) errors.push(required("spec.priorityLevelConfiguration.name", "must reference a priority level"));
  for (const [i, rule] of listAt(spec, "rules").entries()) errors.push(...policyRules(rule, `spec.rules[${i}]`));
  return errors;
}

const SUBJECTS: Readonly<Record<string, string>> = { Group: "group", ServiceAccount: "serviceAccount", User: "user" };

function policyRules(rule: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const subjects = listAt(rule, "subjects");
  if (subjects.length === 0) errors.push(required(`${path}.subjects`, "subjects must contain at least one value"));
  for (const [i, subject] of subjects.entries()) {
    const at = `${path}.subjects[${i}]`;
    const key = lookup(SUBJECTS, String(subject.kind));
    if (key === undefined) errors.push(notSupported(`${at}.kind`, subject.kind ?? "", Object.keys(SUBJECTS)));
    else if (!isRecord(subject[key])) {
      errors.push(required(`${at}.${key}`, `${key} is required when subject kind is '${subject.kind}'`));
    } else if (!recordOf(subject[key]).name) errors.push(required(`${at}.${key}.name`));
  }
  const lists = [listAt(rule, "resourceRules"), listAt(rule, "nonResourceRules")];
  if (lists.every((list) => list.length === 0)) {
    errors.push(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  for (const key of ["resourceRules", "nonResourceRules"]) {
    for (const [i, part] of listAt(rule, key).entries()) {
      if (textsOf(part.verbs).length > 0) continue;
      errors.push(required(`${path}.${key}[${i}].verbs`, "verbs must contain at least one value"));
    }
  }
  return errors;
}

/** Levels without which the server could not promise anything: their content is fixed. */
const FIXED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "catch-all": {
    Type: "Limited",
    Limited: {
      NominalConcurrencyShares: 5,
      LimitResponse: { Type: "Reject", Queuing: null },
      LendablePercent: 0,
      BorrowingLimitPercent: null,
    },
    Exempt: null,
  },
};

export function priorityLevel(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const type = String(spec.type ?? "");
  const name = object.metadata.name ?? "";
  if (type === "") return [required("spec.type")];
  const fixed = lookup(FIXED, name);
  const shown = fixed && printed(spec);
  if (fixed && JSON.stringify(shown) !== JSON.stringify(fixed)) {
    const value = new Verbatim(JSON.stringify(shown));
    return [invalidValue("spec", value, `spec of '${name}' must equal the fixed value`)];
  }
  if ((type === "Exempt") !== (name === "exempt") && ["Exempt", "Limited"].includes(type)) {
    return [invalidValue("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'")];
  }
  if (type === "Limited" && !isRecord(spec.limited)) {
    return [required("spec.limited", "must not be empty when type is Limited")];
  }
  if (type !== "Exempt" && type !== "Limited") return [notSupported("spec.type", type, ["Exempt", "Limited"])];
  return [];
}

/** A limited level with the names of the server's own fields. */
function printed(spec: Record<string, unknown>): Record<string, unknown> {
  const limited = objectAt(spec, "limited");
  const response = objectAt(limited, "limitResponse");
  const queuing = response.queuing;
  return {
    Type: spec.type,
    Limited: isRecord(spec.limited)
      ? {
          NominalConcurrencyShares: limited.nominalConcurrencyShares ?? null,
          LimitResponse: { Type: response.type ?? "", Queuing: queuing ?? null },
          LendablePercent: limited.lendablePercent ?? null,
          BorrowingLimitPercent: limited.borrowingLimitPercent ?? null,
        }
      : null,
    Exempt: spec.exempt ?? null,
  };
}
