import {
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  lookup,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "@lotse/client/meta";
import type { Declarations, Expressions } from "../expressions/index.ts";
import { duplicateValue, type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, isRecord, listAt, objectAt } from "../object.ts";
import { given, textOf as text } from "../rules/index.ts";
import { conditionErrors, expressionErrors } from "./conditions.ts";
import {
  FAILURE_POLICIES,
  matchErrors,
  mutableErrors,
  oneOf,
  policyNameErrors,
  REINVOCATION_POLICIES,
  selectorErrors,
  textsOf,
} from "./rules.ts";

type Fields = Record<string, unknown>;

/** What both kinds of policies have in common. */
function commonErrors(spec: Fields, expressions: Expressions | undefined, mutates: boolean): FieldError[] {
  const errors = given(spec.failurePolicy)
    ? oneOf(spec.failurePolicy, "spec.failurePolicy", FAILURE_POLICIES)
    : [required("spec.failurePolicy")];
  if (isRecord(spec.paramKind)) errors.push(...paramKindErrors(spec.paramKind, "spec.paramKind"));
  if (!isRecord(spec.matchConstraints)) errors.push(required("spec.matchConstraints"));
  else {
    errors.push(...matchErrors(spec.matchConstraints, "spec.matchConstraints"));
    if (listAt(spec, "matchConstraints", "resourceRules").length === 0) {
      errors.push(required("spec.matchConstraints.resourceRules"));
    }
    if (mutates) errors.push(...mutableErrors(spec.matchConstraints, "spec.matchConstraints"));
  }
  const params = isRecord(spec.paramKind);
  errors.push(...conditionErrors(listAt(spec, "matchConditions"), "spec.matchConditions", expressions, params));
  return errors;
}

function paramKindErrors({ apiVersion, kind }: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const parts = text(apiVersion).split("/");
  const version = parts.at(-1) ?? "";
  if (text(apiVersion) === "") errors.push(required(`${path}.apiVersion`));
  else if (parts.length > 2) {
    errors.push(invalidValue(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else {
    const group = parts.length === 2 ? (parts[0] as string) : "";
    const wrongGroup = group === "" ? [] : dns1123SubdomainErrors(group);
    if (wrongGroup.length > 0) errors.push(invalidValue(`${path}.apiVersion`, group, wrongGroup.join(",")));
    if (version === "") errors.push(invalidValue(`${path}.apiVersion`, apiVersion, "version must be specified"));
    else {
      const wrong = dns1035LabelErrors(version);
      if (wrong.length > 0) errors.push(invalidValue(`${path}.apiVersion`, version, wrong.join(",")));
    }
  }
  if (text(kind) === "") errors.push(required(`${path}.kind`));
  else {
    const wrong = dns1035LabelErrors(text(kind).toLowerCase());
    const prefix = "may have mixed case, but should otherwise match: ";
    if (wrong.length > 0) errors.push(invalidValue(`${path}.kind`, kind, `${prefix}${wrong.join(",")}`));
  }
  return errors;
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Checks variables in order and gives what later expressions may see. */
function declareVariables(
  spec: Fields,
  expressions: Expressions | undefined,
  errors: FieldError[],
): Declarations & { readonly variables: Map<string, string> } {
  const params = isRecord(spec.paramKind);
  const variables = new Map<string, string>();
  for (const [i, variable] of listAt(spec, "variables").entries()) {
    const path = `spec.variables[${i}]`;
    const name = text(variable.name);
    if (name.trim() === "") errors.push(required(`${path}.name`, "name is not specified"));
    else if (!IDENTIFIER.test(name) || RESERVED.has(name)) {
      errors.push(invalidValue(`${path}.name`, name, "must be a valid CEL identifier"));
    }
    const expression = text(variable.expression);
    if (expression.trim() === "") {
      errors.push(required(`${path}.expression`, "expression is not specified"));
      continue;
    }
    const compiled = expressions?.compile(expression, { params, authorizer: true, variables: new Map(variables) });
    if (compiled && "error" in compiled) errors.push(invalidValue(`${path}.expression`, expression, compiled.error));
    variables.set(name, compiled && "type" in compiled ? compiled.type : "dyn");
  }
  return { params, authorizer: true, variables };
}

const REASONS: readonly string[] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const MOST_ANNOTATIONS = 20;
const LONGEST_ANNOTATION = 5 * 1_024;

/** What is wrong with a ValidatingAdmissionPolicy; expressions are checked where they can be. */
export function validateValidatingPolicy(object: ApiObject, expressions: Expressions | undefined): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors = commonErrors(spec, expressions, false);
  const { variables, ...plain } = declareVariables(spec, expressions, errors);
  // Where a policy has none there is nothing of that name either.
  const declared = listAt(spec, "variables").length > 0 ? { ...plain, variables } : plain;
  const validations = listAt(spec, "validations");
  const annotations = listAt(spec, "auditAnnotations");
  if (validations.length === 0 && annotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    return [...errors, required("spec.validations", detail), required("spec.auditAnnotations", detail)];
  }
  for (const [i, validation] of validations.entries()) {
    errors.push(...validationErrors(validation, `spec.validations[${i}]`, expressions, declared));
  }
  if (annotations.length > MOST_ANNOTATIONS) {
    const detail = `must not have more than ${MOST_ANNOTATIONS} auditAnnotations`;
    errors.push(invalidValue("spec.auditAnnotations", annotations, detail));
  }
  const keys = new Set<string>();
  for (const [i, annotation] of annotations.entries()) {
    const path = `spec.auditAnnotations[${i}]`;
    errors.push(...annotationErrors(object.metadata.name, annotation, path, expressions, declared));
    const key = text(annotation.key);
    if (keys.has(key)) errors.push(duplicateValue(`${path}.key`, key));
    keys.add(key);
  }
  return errors;
}

function validationErrors(
  validation: Fields,
  path: string,
  expressions: Expressions | undefined,
  declared: Declarations,
): FieldError[] {
  const errors: FieldError[] = [];
  const expression = text(validation.expression);
  const messageExpression = text(validation.messageExpression);
  const message = text(validation.message);
  if (expression.trim() === "") errors.push(required(`${path}.expression`, "expression is not specified"));
  else errors.push(...expressionErrors(expression, `${path}.expression`, expressions, declared, ["bool"]));
  if (messageExpression !== "") {
    const at = `${path}.messageExpression`;
    if (messageExpression.trim() === "") {
      errors.push(invalidValue(at, messageExpression, "must be non-empty if specified"));
    } else {
      const without = { ...declared, authorizer: false };
      errors.push(...expressionErrors(messageExpression, at, expressions, without, ["string"]));
    }
  }
  if (message !== "" && message.trim() === "") {
    errors.push(invalidValue(`${path}.message`, message, "must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidValue(`${path}.message`, message, "must not contain line breaks"));
  }
  errors.push(...oneOf(validation.reason, `${path}.reason`, REASONS));
  return errors;
}

function annotationErrors(
  policy: string,
  annotation: Fields,
  path: string,
  expressions: Expressions | undefined,
  declared: Declarations,
): FieldError[] {
  const errors: FieldError[] = [];
  const key = text(annotation.key);
  const full = `${policy}/${key}`;
  for (const wrong of qualifiedNameErrors(full)) errors.push(invalidValue(`${path}.key`, full, wrong));
  const value = text(annotation.valueExpression).trim();
  const at = `${path}.valueExpression`;
  if (value === "") errors.push(required(at, "valueExpression is not specified"));
  else if (value.length > LONGEST_ANNOTATION) {
    errors.push(required(at, `must not exceed ${LONGEST_ANNOTATION} bytes in length`));
  } else errors.push(...expressionErrors(value, at, expressions, declared, ["string", "null"]));
  return errors;
}

const PATCHES: Readonly<Record<string, { field: string; other: string; types: readonly string[] }>> = {
  JSONPatch: { field: "jsonPatch", other: "applyConfiguration", types: ["list<JSONPatch>"] },
  ApplyConfiguration: { field: "applyConfiguration", other: "jsonPatch", types: ["Object"] },
};

/** What is wrong with a MutatingAdmissionPolicy; expressions are checked where they can be. */
export function validateMutatingPolicy(object: ApiObject, expressions: Expressions | undefined): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors = commonErrors(spec, expressions, true);
  const declared = { ...declareVariables(spec, expressions, errors), patches: true };
  const mutations = listAt(spec, "mutations");
  if (mutations.length === 0) errors.push(required("spec.mutations", "mutations must contain at least one item"));
  for (const [i, mutation] of mutations.entries()) {
    errors.push(...mutationErrors(mutation, `spec.mutations[${i}]`, expressions, declared));
  }
  errors.push(...oneOf(spec.reinvocationPolicy, "spec.reinvocationPolicy", REINVOCATION_POLICIES, true));
  return errors;
}

function mutationErrors(
  mutation: Fields,
  path: string,
  expressions: Expressions | undefined,
  declared: Declarations,
): FieldError[] {
  const type = text(mutation.patchType);
  if (type === "") return [required(`${path}.patchType`)];
  const known = lookup(PATCHES, type);
  if (!known) return [notSupported(`${path}.patchType`, type, ["ApplyConfiguration", "JSONPatch"])];
  const { field, other, types } = known;
  const errors: FieldError[] = [];
  if (!isRecord(mutation[field])) {
    errors.push(required(`${path}.${field}`, `must be specified when patchType is ${type}`));
  } else {
    const expression = text(objectAt(mutation, field).expression).trim();
    const at = `${path}.${field}.expression`;
    if (expression === "") errors.push(required(at));
    else errors.push(...expressionErrors(expression, at, expressions, declared, types));
  }
  if (isRecord(mutation[other])) {
    const detail = `must not be specified when patchType is ${type}`;
    errors.push(invalidValue(`${path}.${other}`, `{${other}}`, detail));
  }
  return errors;
}

const ACTIONS: readonly string[] = ["Audit", "Deny", "Warn"];

/** What is wrong with the binding of a policy; those of validating ones also say what is done. */
export function validateBinding(object: ApiObject, mutates: boolean): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors = policyNameErrors(spec.policyName, "spec.policyName");
  if (isRecord(spec.paramRef)) errors.push(...paramRefErrors(spec.paramRef, "spec.paramRef"));
  errors.push(...matchErrors(spec.matchResources, "spec.matchResources"));
  if (mutates) return [...errors, ...mutableErrors(spec.matchResources, "spec.matchResources")];
  const path = "spec.validationActions";
  const actions = textsOf(spec.validationActions);
  for (const [i, action] of actions.entries()) {
    errors.push(...oneOf(action, `${path}[${i}]`, ACTIONS));
    if (actions.indexOf(action) < i) errors.push(duplicateValue(`${path}[${i}]`, action));
  }
  if (actions.includes("Deny") && actions.includes("Warn")) {
    const detail =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalidValue(path, actions, detail));
  }
  if (actions.length === 0) errors.push(required(path, "at least one validation action is required"));
  return errors;
}

function paramRefErrors(ref: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(ref.name);
  const both = name !== "" && isRecord(ref.selector);
  for (const wrong of name === "" ? [] : pathSegmentErrors(name))
    errors.push(invalidValue(`${path}.name`, name, wrong));
  if (both) errors.push(forbiddenField(`${path}.name`, "name and selector are mutually exclusive"));
  if (isRecord(ref.selector)) errors.push(...selectorErrors(ref.selector, `${path}.selector`));
  if (both) errors.push(forbiddenField(`${path}.selector`, "name and selector are mutually exclusive"));
  if (name === "" && !isRecord(ref.selector)) errors.push(required(path, "one of name or selector must be specified"));
  errors.push(...oneOf(ref.parameterNotFoundAction, `${path}.parameterNotFoundAction`, ["Deny", "Allow"], true));
  return errors;
}
