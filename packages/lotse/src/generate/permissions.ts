/** What an operator has to be allowed to do by itself: its framework's part, from what it declares. */
import type { KindDescription } from "@lotse/client";
import {
  type CoordinationPlan,
  type Declarations,
  type Handler,
  isResourceClass,
  type KindPlan,
  leaseOf,
  needsDiscovery,
  type OperatorOptions,
  parseNamespaces,
  planCoordination,
  planKinds,
  selects,
  settingsFor,
} from "../declare/index.ts";
import { needsOfCoordination } from "./coordination.ts";
import { needsOfMetricsAuth } from "./metrics-auth.ts";
import type { Need } from "./rbac.ts";
import { needsOfWebhooks, USUAL_ROLES, type WebhookRoles } from "./webhook-needs.ts";
import { definitionsOf, type WebhookDeclarations } from "./webhooks.ts";

/** Where the operator will run. */
export interface PermissionScope {
  /** The namespaces that it will serve; all of them unless told. */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * The handlers that are taken to patch metadata and spec of their objects, because no recording shows what they do.
   * Default: none, only what the framework writes by itself.
   */
  readonly handlersPatch?: ((handler: Handler) => boolean) | undefined;
  /** Who brings the definitions; default: what the operator says. */
  readonly crds?: "install" | "wait" | undefined;
  /** The kinds of the cluster, for operators that name kinds by other means than classes. */
  readonly discovered?: readonly KindDescription[] | undefined;
  /** Who registers webhooks and makes certificates; default: the operator itself. */
  readonly webhooks?: WebhookRoles | undefined;
  /** How its processes share the work; default: what the operator says. */
  readonly coordination?: CoordinationPlan | undefined;
  /** Whether those who read metrics are asked who they are; default: no. */
  readonly metricsAuth?: boolean | undefined;
}

/** See the module comment. */
export function permissionsOf(
  operator: Pick<Declarations, "resources"> &
    Partial<Pick<Declarations, "schedules">> &
    Omit<WebhookDeclarations, "name"> & { readonly options: OperatorOptions },
  scope: PermissionScope = {},
): Need[] {
  const { namespaces, discovered = [], handlersPatch = () => false, crds, webhooks = USUAL_ROLES } = scope;
  const { kinds } = planKinds(operator.resources, discovered);
  const { options } = operator;
  const settings = settingsFor(options);
  const { storage } = settings.persistence;
  const needs = [...kinds.values()].flatMap(({ kind, kindClass, handlers }) => {
    // Another storage may write to both places.
    const recordInStatus = storage === undefined && isResourceClass(kindClass);
    return needsOfKind(kind, handlers, recordInStatus, handlersPatch);
  });
  needs.push(...needsOfChildren([...kinds.values()]));
  if (settings.posting.events !== "none") {
    needs.push(need("", "events", ["create", "patch"], "the framework: posts Events", false));
  }
  needs.push(...needsOfSchedules(operator.schedules ?? [], options.name));
  const plan = scope.coordination ?? planCoordination(options.coordination);
  needs.push(...needsOfCoordination(plan, options.name, namespaces));
  if (scope.metricsAuth) needs.push(...needsOfMetricsAuth());
  const installs = (crds ?? options.crds) === "install";
  needs.push(...needsOfDefinitions(operator, installs));
  needs.push(...needsOfWebhooks({ ...webhookPart(operator), name: options.name }, webhooks, installs));
  if (namespaces && !parseNamespaces(namespaces).exact) {
    needs.push(need("", "namespaces", ["list", "watch"], "the framework: follows the namespaces that it serves", true));
  }
  return needs;
}

function needsOfKind(
  kind: KindDescription,
  handlers: readonly Handler[],
  recordInStatus: boolean,
  handlersPatch: (handler: Handler) => boolean,
): Need[] {
  const clusterWide = !kind.namespaced;
  const found = [need(kind.group, kind.plural, ["list", "watch"], `the framework: follows ${kind.kind}`, clusterWide)];
  if (handlers.some(handlersPatch)) {
    const by = `handlers of ${kind.kind}: may patch metadata and spec (nobody has seen what they do)`;
    found.push(need(kind.group, kind.plural, ["patch"], by, clusterWide));
  }
  if (handlers.every(({ type }) => type === "event" || type === "index")) return found;
  const written = `the framework: writes down what was done for each ${kind.kind}`;
  found.push(need(kind.group, kind.plural, ["get"], written, clusterWide));
  const hasStatus = kind.subresources.includes("status");
  if (hasStatus) found.push(need(kind.group, `${kind.plural}/status`, ["patch"], written, clusterWide));
  if (!hasStatus || !recordInStatus) found.push(need(kind.group, kind.plural, ["patch"], written, clusterWide));
  if (handlers.some((one) => one.type === "change" && one.reasons.has("delete") && !one.optional)) {
    const held = `the framework: holds each ${kind.kind} until its deletion is handled`;
    found.push(need(kind.group, kind.plural, ["patch"], held, clusterWide));
  }
  return found;
}

/** Children of kinds that were named; the others are known by what was recorded. */
function needsOfChildren(plans: readonly KindPlan[]): Need[] {
  return plans.flatMap(({ kind: parent, handlers }) =>
    handlers.flatMap((handler) => {
      if (handler.type !== "reconcile" || !handler.children) return [];
      const by = `the framework: keeps the children of each ${parent.kind} (${handler.id})`;
      const owned = plans.filter(({ kind }) => handler.owns.some((resource) => selects(resource, kind)));
      return [
        need(parent.group, parent.plural, ["patch"], by, !parent.namespaced),
        ...owned.map(({ kind: { group, plural, namespaced } }) =>
          need(group, plural, ["create", "delete", "get", "patch"], by, !namespaced),
        ),
      ];
    }),
  );
}

/** What makes up for runs that were missed has to know when the last one was. */
function needsOfSchedules(schedules: Declarations["schedules"], operator: string): Need[] {
  const names = schedules.filter(({ schedule }) => schedule.missed === "once").map(({ id }) => leaseOf(operator, id));
  if (names.length === 0) return [];
  const by = "the framework: remembers when its schedules ran";
  const lease = (verbs: readonly string[]): Need => ({
    ...need("coordination.k8s.io", "leases", verbs, by, false),
    inOwnNamespace: true,
  });
  // No rule can allow to create by name.
  return [{ ...lease(["get", "patch"]), names }, lease(["create"])];
}

/** Its members are getters, which a copy by spreading would lose. */
function webhookPart(operator: Omit<WebhookDeclarations, "name">): Omit<WebhookDeclarations, "name"> {
  const { admission, policies, kinds, conversions, resources } = operator;
  return {
    ...(admission && { admission }),
    ...(policies && { policies }),
    ...(kinds && { kinds }),
    ...(conversions && { conversions }),
    ...(resources && { resources }),
  };
}

function needsOfDefinitions(operator: Pick<Declarations, "resources">, install: boolean): Need[] {
  const group = "apiextensions.k8s.io";
  const plural = "customresourcedefinitions";
  const names = definitionsOf({ name: "", ...webhookPart(operator) }).map(({ metadata }) => metadata?.name ?? "");
  const found: Need[] = [];
  // Without installing there is nothing to ask for: where the operator may not look, kinds keep what was declared.
  if (names.length > 0 && install) {
    // A watch of one object carries its name as a field selector, which a rule with names allows.
    const by = "the framework: installs its kinds";
    found.push({ ...need(group, plural, ["get", "list", "patch", "watch"], by, true), names });
    found.push(need(group, plural, ["create"], by, true));
  }
  if (needsDiscovery(operator.resources)) {
    found.push(need(group, plural, ["list", "watch"], "the framework: notices kinds that appear", true));
  }
  return found;
}

function need(group: string, resource: string, verbs: readonly string[], by: string, clusterWide: boolean): Need {
  return { group, resource, verbs, by, clusterWide };
}
