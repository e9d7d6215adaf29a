/** What an operator has to be allowed to do so that the API server asks it. Pure. */
import { domainOf, needsDiscovery, type ResourceDeclaration, registeredLease } from "../declare/index.ts";
import type { Need } from "./rbac.ts";
import { planWebhooks, type WebhookDeclarations, webhooksName } from "./webhooks.ts";

/** Who does what. */
export interface WebhookRoles {
  /**
   * Who tells the API server of webhooks, policies and conversions: the operator itself, or manifests. With manifests the
   * operator still says whom the API server shall believe (`"manifests"`), unless another program does (`"nobody"`).
   *
   * A right to create a configuration cannot be bound to a name, and whoever has it can have every request of the cluster
   * sent to itself: with manifests the operator can do no more than change those that are its own.
   */
  readonly registers: "operator" | "manifests" | "nobody";
  /** Whether the operator makes its certificate itself, and keeps it in a Secret. */
  readonly keepsSecret: boolean;
}

/** As an operator runs whose manifests say nothing else. */
export const USUAL_ROLES: WebhookRoles = { registers: "operator", keepsSecret: true };

const GROUP = "admissionregistration.k8s.io";
const DEFINITIONS = { group: "apiextensions.k8s.io", plurals: ["customresourcedefinitions"] } as const;
const LEASES = { group: "coordination.k8s.io", plural: "leases" } as const;
const CONFIGURATIONS = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];

/** See the module comment. `installs`: the operator may write its definitions anyway. */
export function needsOfWebhooks(operator: WebhookDeclarations, roles: WebhookRoles, installs: boolean): Need[] {
  const { name } = operator;
  const plan = planWebhooks(operator, { namespace: "default" });
  const needs: Need[] = plan.asked && roles.keepsSecret ? needsOfSecret(name) : [];
  needs.push(...needsOfDiscovery(operator));
  if (roles.registers === "nobody") return needs;
  const judges = (operator.admission ?? []).length > 0;
  if (judges || (plan.asked && (operator.policies ?? []).length > 0)) {
    const by = "the framework: tells the API server of its webhooks";
    // What a former version has left is looked for in both.
    needs.push(...inCluster(GROUP, CONFIGURATIONS, ["list", "watch"], by));
    // Before it takes back what it has registered, it looks whether another process has taken over.
    const deletes = roles.registers === "operator" || plan.withdraws ? ["delete", "get"] : [];
    needs.push(...inCluster(GROUP, CONFIGURATIONS, [...deletes, "patch"], by, [domainOf(name)]));
    if (roles.registers === "operator") needs.push(...inCluster(GROUP, CONFIGURATIONS, ["create"], by));
  }
  needs.push(...needsOfPolicies(operator, plan.policies, roles));
  if (judges || (operator.policies ?? []).length > 0) needs.push(...needsOfNote(name));
  if (plan.converted.length > 0 && !installs) {
    const by = "the framework: tells the API server where objects are converted";
    // A watch of one object carries its name as a field selector, which a rule with names allows.
    needs.push(...inCluster(DEFINITIONS.group, DEFINITIONS.plurals, ["list", "patch", "watch"], by, plan.converted));
  }
  return needs;
}

/** The note by which a later version knows what this one has registered. */
function needsOfNote(operator: string): Need[] {
  const common = {
    group: LEASES.group,
    resource: LEASES.plural,
    by: "the framework: notes what it has registered, for its next version",
    clusterWide: false,
    inOwnNamespace: true,
  };
  // No rule can allow to create by name.
  return [
    { ...common, verbs: ["delete", "get", "patch"], names: [registeredLease(operator)] },
    { ...common, verbs: ["create"] },
  ];
}

function needsOfSecret(operator: string): Need[] {
  const common = {
    group: "",
    resource: "secrets",
    by: "the framework: keeps the certificate of its webhook server",
    clusterWide: false,
    inOwnNamespace: true,
  };
  // No rule can allow to create by name.
  return [
    { ...common, verbs: ["get", "update"], names: [webhooksName(operator)] },
    { ...common, verbs: ["create"] },
  ];
}

function needsOfPolicies(
  { policies = [] }: WebhookDeclarations,
  objects: ReturnType<typeof planWebhooks>["policies"],
  { registers }: WebhookRoles,
): Need[] {
  const by = "the framework: tells the API server of its policies";
  // Those whose kinds only the cluster tells are of these kinds, too.
  const wanted = new Set(
    policies.flatMap(({ rules, mutate }) => [
      ...(rules.length > 0 ? ["validatingadmissionpolicies", "validatingadmissionpolicybindings"] : []),
      ...(mutate.length > 0 ? ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"] : []),
    ]),
  );
  return [...wanted].sort().flatMap((plural) => {
    const names = objects
      .filter(({ kind = "" }) => pluralOf(kind) === plural)
      .map(({ metadata }) => metadata?.name ?? "");
    const declared = policies.filter(({ rules, mutate }) => (plural.startsWith("v") ? rules : mutate).length > 0);
    // The name of a policy whose kind is not known yet may depend on that kind.
    const complete = names.length === declared.length;
    const verbs = registers === "operator" ? ["delete", "patch"] : ["patch"];
    return [
      ...inCluster(GROUP, [plural], ["list", "watch"], by),
      ...inCluster(GROUP, [plural], verbs, by, complete ? names : undefined),
      ...(registers === "operator" ? inCluster(GROUP, [plural], ["create"], by) : []),
    ];
  });
}

function pluralOf(kind: string): string {
  return kind
    .toLowerCase()
    .replace(/policy$/, "policies")
    .replace(/binding$/, "bindings");
}

/** Kinds that are named by other means than classes are looked up, and followed as they come and go. */
function needsOfDiscovery({ admission = [], policies = [] }: WebhookDeclarations): Need[] {
  const declared: ResourceDeclaration[] = [...admission, ...policies].map(({ resource }) => ({
    resource,
    handlers: [],
  }));
  if (!needsDiscovery(declared)) return [];
  const by = "the framework: notices kinds that appear";
  return inCluster(DEFINITIONS.group, DEFINITIONS.plurals, ["list", "watch"], by);
}

function inCluster(
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  by: string,
  names?: readonly string[],
): Need[] {
  return resources.map((resource) => ({ group, resource, verbs, by, clusterWide: true, ...(names && { names }) }));
}
