import { deepEqual, pathSegmentErrors } from "@lotse/client/meta";
import { type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { textOf, textsOf } from "./common.ts";
import { complain, given, selectorErrors, subdomainErrors } from "./values.ts";

const RBAC = "rbac.authorization.k8s.io";

/** The rules of a role; one of a namespace cannot speak of paths. */
export const role =
  (namespaced: boolean) =>
  (object: ApiObject): FieldError[] => [
    ...listAt(object, "rules").flatMap((rule, i) => policyRule(rule, namespaced, `rules[${i}]`)),
    ...(namespaced ? [] : aggregationErrors(object)),
  ];

/** Roles may be made of others, which are found by their labels. */
function aggregationErrors({ aggregationRule }: ApiObject): FieldError[] {
  if (!given(aggregationRule)) return [];
  const field = "aggregationRule.clusterRoleSelectors";
  const selectors = listAt(aggregationRule, "clusterRoleSelectors");
  if (selectors.length === 0) {
    return [required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  }
  return selectors.flatMap((selector, i) => {
    const wrong = selectorErrors(selector, `${field}[${i}]`);
    return wrong.length === 0 ? [] : [...wrong, invalidValue(`${field}[${i}]`, null, "invalid label selector.")];
  });
}

function policyRule(rule: Record<string, unknown>, namespaced: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const [verbs, groups, resources, urls] = ["verbs", "apiGroups", "resources", "nonResourceURLs"].map((key) =>
    textsOf(rule[key]),
  ) as [string[], string[], string[], string[]];
  if (verbs.length === 0) errors.push(required(`${path}.verbs`, "verbs must contain at least one value"));
  if (urls.length > 0) {
    const field = `${path}.nonResourceURLs`;
    if (namespaced) errors.push(invalidValue(field, urls, "namespaced rules cannot apply to non-resource URLs"));
    if (groups.length > 0 || resources.length > 0 || textsOf(rule.resourceNames).length > 0) {
      errors.push(invalidValue(field, urls, "rules cannot apply to both regular resources and non-resource URLs"));
    }
    return errors;
  }
  if (groups.length === 0) {
    errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (resources.length === 0) {
    errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
  }
  return errors;
}

/** What a binding binds: a role to subjects. */
export const binding =
  (namespaced: boolean) =>
  (object: ApiObject): FieldError[] => {
    const errors: FieldError[] = [];
    const { apiGroup, kind, name } = objectAt(object, "roleRef");
    if (apiGroup !== RBAC) errors.push(notSupported("roleRef.apiGroup", textOf(apiGroup), [RBAC]));
    const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
    if (!kinds.includes(textOf(kind))) errors.push(notSupported("roleRef.kind", textOf(kind), kinds));
    if (!name) errors.push(required("roleRef.name"));
    else errors.push(...complain(pathSegmentErrors(textOf(name)), "roleRef.name", name));
    for (const [i, subject] of listAt(object, "subjects").entries()) {
      errors.push(...subjectErrors(subject, namespaced, `subjects[${i}]`));
    }
    return errors;
  };

function subjectErrors(subject: Record<string, unknown>, namespaced: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!subject.name) errors.push(required(`${path}.name`));
  const group = textOf(subject.apiGroup);
  switch (subject.kind) {
    case "ServiceAccount":
      if (subject.name) {
        errors.push(...subdomainErrors(textOf(subject.name), `${path}.name`));
      }
      if (group !== "") errors.push(notSupported(`${path}.apiGroup`, group, [""]));
      // In a namespace, an account without one is meant to be there.
      if (!namespaced && !subject.namespace) errors.push(required(`${path}.namespace`));
      break;
    case "User":
    case "Group":
      if (group !== RBAC) errors.push(notSupported(`${path}.apiGroup`, group, [RBAC]));
      break;
    default:
      errors.push(notSupported(`${path}.kind`, textOf(subject.kind), ["ServiceAccount", "User", "Group"]));
  }
  return errors;
}

/** A binding keeps its role: else a user who may change it could give away other rights. */
export function roleRefUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  if (deepEqual(object.roleRef, old.roleRef)) return [];
  const { apiGroup, kind, name } = objectAt(object, "roleRef");
  const shown = new Verbatim(JSON.stringify({ APIGroup: apiGroup, Kind: kind, Name: name }));
  return [invalidValue("roleRef", shown, "cannot change roleRef")];
}
