/** What an operator has to be allowed to do by itself: its framework's part, from what it declares. */
import type { KindDescription } from "@lotse/client";
import { type Declarations, type Handler, isResourceClass } from "../declare/index.ts";
import type { Need } from "../generate/index.ts";
import { parseNamespaces } from "../informers/index.ts";
import { type OperatorOptions, settingsFor } from "./options.ts";
import { needsDiscovery, planKinds } from "./plan.ts";

/** Where the operator will run. */
export interface PermissionScope {
  /** The namespaces that it will serve; all of them unless told. */
  readonly namespaces?: readonly string[] | undefined;
  /** The kinds of the cluster, for operators that name kinds by other means than classes. */
  readonly discovered?: readonly KindDescription[] | undefined;
}

/** See the module comment. */
export function permissionsOf(
  operator: Pick<Declarations, "resources"> & { readonly options: OperatorOptions },
  { namespaces, discovered = [] }: PermissionScope = {},
): Need[] {
  const { kinds } = planKinds(operator.resources, discovered);
  const needs = [...kinds.values()].flatMap(({ kind, handlers }) => needsOfKind(kind, handlers));
  const { options } = operator;
  const settings = settingsFor(options);
  if (settings.posting.events !== "none") {
    needs.push(need("", "events", ["create", "patch"], "the framework: posts Events", false));
  }
  needs.push(...needsOfDefinitions(operator, options.crds === "install"));
  if (namespaces && !parseNamespaces(namespaces).exact) {
    needs.push(need("", "namespaces", ["list", "watch"], "the framework: follows the namespaces that it serves", true));
  }
  return needs;
}

function needsOfKind(kind: KindDescription, handlers: readonly Handler[]): Need[] {
  const clusterWide = !kind.namespaced;
  const found = [need(kind.group, kind.plural, ["list", "watch"], `the framework: follows ${kind.kind}`, clusterWide)];
  if (handlers.every(({ type }) => type === "event" || type === "index")) return found;
  const written = `the framework: writes down what was done for each ${kind.kind}`;
  found.push(need(kind.group, kind.plural, ["get", "patch"], written, clusterWide));
  if (kind.subresources.includes("status")) {
    found.push(need(kind.group, `${kind.plural}/status`, ["patch"], written, clusterWide));
  }
  return found;
}

function needsOfDefinitions({ resources }: Pick<Declarations, "resources">, install: boolean): Need[] {
  const group = "apiextensions.k8s.io";
  const plural = "customresourcedefinitions";
  const names = resources.flatMap(({ resource }) =>
    isResourceClass(resource) ? [resource.crd().metadata?.name ?? ""] : [],
  );
  const found: Need[] = [];
  if (names.length > 0) {
    found.push({ ...need(group, plural, ["get"], "the framework: reads what its kinds keep", true), names });
    if (install) {
      // A watch of one object carries its name as a field selector, which a rule with names allows.
      const by = "the framework: installs its kinds";
      found.push({ ...need(group, plural, ["get", "list", "patch", "watch"], by, true), names });
      found.push(need(group, plural, ["create"], by, true));
    }
  }
  if (needsDiscovery(resources)) {
    found.push(need(group, plural, ["list", "watch"], "the framework: notices kinds that appear", true));
  }
  return found;
}

function need(group: string, resource: string, verbs: readonly string[], by: string, clusterWide: boolean): Need {
  return { group, resource, verbs, by, clusterWide };
}
