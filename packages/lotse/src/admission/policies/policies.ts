/** Policies of the API server, made of `operator.policy`: no webhook stands behind them. Pure. */
import type { KindDescription, KubeBody } from "@lotse/client";
import { type PolicyDeclaration, type PolicyMutation, paramKindOf, registeredLabels } from "../../declare/index.ts";
import { kindsOf, Names, namespaceSelectorOf, objectSelectorOf, rulesOf } from "../configurations/index.ts";

/** What policies are made of. */
export interface PolicyParts {
  readonly operator: string;
  readonly policies: readonly PolicyDeclaration[];
  /** The kinds of the cluster, for policies of kinds that are only known by name. */
  readonly discovered: readonly KindDescription[];
  /** The only namespaces that the operator serves; undefined when it serves all. */
  readonly served: readonly string[] | undefined;
  /** The version in which the cluster serves MutatingAdmissionPolicy. */
  readonly mutatingVersion: string;
}

/** A policy with its binding. */
export interface PolicyObjects {
  readonly declaration: PolicyDeclaration;
  readonly policy: KubeBody;
  readonly binding: KubeBody;
}

const GROUP = "admissionregistration.k8s.io";

/** All policies and bindings; a policy whose kind the cluster does not have is not among them. */
export function policyObjects(parts: PolicyParts): PolicyObjects[] {
  const names = new Names(parts.operator);
  return parts.policies.flatMap((declaration) => {
    const kinds = kindsOf(declaration.resource, parts.discovered);
    const name = names.take(declaration.id, kinds[0]?.kind.plural ?? "kind");
    if (kinds.length === 0) return [];
    return [
      ...(declaration.rules.length > 0 ? [validating(name, declaration, kinds, parts)] : []),
      ...(declaration.mutate.length > 0 ? [mutating(name, declaration, kinds, parts)] : []),
    ];
  });
}

type Kinds = ReturnType<typeof kindsOf>;

function validating(name: string, declaration: PolicyDeclaration, kinds: Kinds, parts: PolicyParts): PolicyObjects {
  const { rules, audit, enforce } = declaration;
  const annotations = typeof audit === "object" ? Object.entries(audit) : [];
  const audited = audit === true || (enforce === "none" && annotations.length > 0);
  const action = enforce === "warn" ? ["Warn"] : enforce === "none" ? [] : ["Deny"];
  const spec = {
    ...common(declaration, kinds, declaration.operations, parts),
    validations: rules.map(({ expression, message, messageExpression, reason }) => ({
      expression,
      ...(message !== undefined && { message }),
      ...(messageExpression !== undefined && { messageExpression }),
      ...(reason !== undefined && { reason }),
    })),
    ...(annotations.length > 0 && {
      auditAnnotations: annotations.map(([key, valueExpression]) => ({ key, valueExpression })),
    }),
  };
  const bound = { ...boundTo(name, declaration), validationActions: [...action, ...(audited ? ["Audit"] : [])] };
  const object = (kind: string, content: object) => objectOf(`${GROUP}/v1`, kind, name, parts.operator, content);
  return {
    declaration,
    policy: object("ValidatingAdmissionPolicy", spec),
    binding: object("ValidatingAdmissionPolicyBinding", bound),
  };
}

function mutating(name: string, declaration: PolicyDeclaration, kinds: Kinds, parts: PolicyParts): PolicyObjects {
  // What is deleted cannot be changed.
  const operations = declaration.operations.filter((one) => one === "CREATE" || one === "UPDATE");
  const spec = {
    ...common(declaration, kinds, operations, parts),
    mutations: declaration.mutate.map(mutationOf),
    reinvocationPolicy: declaration.reinvoke ? "IfNeeded" : "Never",
  };
  const apiVersion = `${GROUP}/${parts.mutatingVersion}`;
  const object = (kind: string, content: object) => objectOf(apiVersion, kind, name, parts.operator, content);
  return {
    declaration,
    policy: object("MutatingAdmissionPolicy", spec),
    binding: object("MutatingAdmissionPolicyBinding", boundTo(name, declaration)),
  };
}

function mutationOf(mutation: PolicyMutation): object {
  return "apply" in mutation
    ? { patchType: "ApplyConfiguration", applyConfiguration: { expression: mutation.apply } }
    : { patchType: "JSONPatch", jsonPatch: { expression: mutation.patch } };
}

function common(
  declaration: PolicyDeclaration,
  kinds: Kinds,
  operations: readonly string[],
  { served }: PolicyParts,
): object {
  const { params, labels, namespaces, subresource, matchConditions, variables = {}, ignoreFailures } = declaration;
  const objectSelector = objectSelectorOf(labels);
  // Nothing of the operator is in the way when it is down: no namespace has to be spared.
  const namespaceSelector = namespaceSelectorOf(namespaces, { spared: [], served });
  return {
    failurePolicy: ignoreFailures ? "Ignore" : "Fail",
    ...(params && { paramKind: paramKindOf(params.kind) }),
    matchConstraints: {
      matchPolicy: "Equivalent",
      resourceRules: rulesOf(kinds, operations, subresource),
      ...(objectSelector && { objectSelector }),
      ...(namespaceSelector && { namespaceSelector }),
    },
    ...(matchConditions.length > 0 && { matchConditions }),
    ...(Object.keys(variables).length > 0 && {
      variables: Object.entries(variables).map(([name, expression]) => ({ name, expression })),
    }),
  };
}

function boundTo(policyName: string, { params }: PolicyDeclaration): object {
  if (!params) return { policyName };
  const { name, labels, namespace, missing = "deny" } = params;
  return {
    policyName,
    paramRef: {
      ...(name !== undefined ? { name } : { selector: { matchLabels: labels } }),
      ...(namespace !== undefined && { namespace }),
      parameterNotFoundAction: missing === "deny" ? "Deny" : "Allow",
    },
  };
}

function objectOf(apiVersion: string, kind: string, name: string, operator: string, spec: object): KubeBody {
  return { apiVersion, kind, metadata: { name, labels: { ...registeredLabels(operator) } }, spec } as KubeBody;
}
