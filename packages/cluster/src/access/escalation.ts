import { deepEqual } from "@lotse/client/meta";
import type { AdmissionPlugin } from "../admission/index.ts";
import {
  type AdmissionAttributes,
  type ApiObject,
  forbidden,
  notFound,
  objectAt,
  type RequestUser,
} from "../registry/index.ts";
import type { Store } from "../store/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { aggregate, RBAC_GROUP, type RoleRef, roleRefOf, rulesOfRole } from "./rbac.ts";
import {
  type Attempt,
  compactRules,
  describeRule,
  missingRights,
  type PolicyRule,
  quotedList,
  rulesOf,
} from "./rules.ts";
import { isMaster } from "./users.ts";

const ROLES: ReadonlySet<string> = new Set(["roles", "clusterroles"]);
const BINDINGS: ReadonlySet<string> = new Set(["rolebindings", "clusterrolebindings"]);

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * No user gives away rights that it does not have: neither by writing them into a role nor by binding such a role.
 * Must be the last to look at a change, because what the others make of it counts.
 */
export function escalationChecks(store: Store, authorizer: Authorizer): AdmissionPlugin {
  return {
    mutate(attributes) {
      const { endpoint, object, oldObject, user } = attributes;
      const { group, plural } = endpoint.resource;
      if (group !== RBAC_GROUP || !object || isMaster(user)) return object;
      if (oldObject && changesOnlyBookkeeping(object, oldObject)) return object;
      if (ROLES.has(plural)) checkRole(authorizer, attributes, object);
      else if (BINDINGS.has(plural)) checkBinding(store, authorizer, attributes, roleRefOf(object));
      return object;
    },
  };
}

/** Garbage collection must be able to let go of roles that it could not write. */
function changesOnlyBookkeeping(object: ApiObject, old: ApiObject): boolean {
  const { ownerReferences: _, finalizers: __, managedFields: ___, ...metadata } = object.metadata;
  const { ownerReferences: _o, finalizers: __o, managedFields: ___o, ...oldMetadata } = old.metadata;
  return deepEqual({ ...object, metadata }, { ...old, metadata: oldMetadata });
}

function checkRole(authorizer: Authorizer, attributes: AdmissionAttributes, role: ApiObject): void {
  const { endpoint, user, operation, namespace = "", oldObject } = attributes;
  const { group, plural } = endpoint.resource;
  // A role that does not exist yet cannot be named by a user who is permitted to escalate this one only.
  const name = operation === "CREATE" ? "" : attributes.name;
  const attempt: Attempt = {
    type: "resource",
    verb: "escalate",
    group,
    resource: plural,
    subresource: "",
    namespace,
    name,
  };
  if (authorizer.decide(user, attempt).allowed) return;
  confirm(authorizer, attributes, role.metadata.name ?? "", rulesOf(role));
  if (!aggregates(role) && !aggregates(oldObject)) return;
  if (missingRights(authorizer.permissionsOf(user, namespace).rules, EVERYTHING).length > 0) {
    const text = "must have cluster-admin privileges to use the aggregationRule";
    throw forbidden(endpoint.resource, role.metadata.name ?? "", text);
  }
}

function aggregates(role: ApiObject | undefined): boolean {
  const { clusterRoleSelectors } = objectAt(role, "aggregationRule");
  return Array.isArray(clusterRoleSelectors) && clusterRoleSelectors.length > 0;
}

function checkBinding(store: Store, authorizer: Authorizer, attributes: AdmissionAttributes, ref: RoleRef): void {
  const { endpoint, user, object, namespace = "" } = attributes;
  const plural = ref.kind === "ClusterRole" ? "clusterroles" : "roles";
  const known = ref.kind === "ClusterRole" || ref.kind === "Role";
  if (known && mayBind(authorizer, user, plural, ref, namespace)) return;
  const rules = rulesOfRole(store, ref, namespace);
  // A real server looks for the role in the binding's name, and says so.
  if (!rules) throw notFound(endpoint.resource, ref.name);
  confirm(authorizer, attributes, object?.metadata.name ?? "", rules);
}

function mayBind(authorizer: Authorizer, user: RequestUser, plural: string, ref: RoleRef, namespace: string): boolean {
  return authorizer.decide(user, {
    type: "resource",
    verb: "bind",
    group: ref.apiGroup,
    resource: plural,
    subresource: "",
    namespace,
    name: ref.name,
  }).allowed;
}

function confirm(
  authorizer: Authorizer,
  { endpoint, user, namespace = "" }: AdmissionAttributes,
  name: string,
  wanted: readonly PolicyRule[],
): void {
  const { rules, errors } = authorizer.permissionsOf(user, namespace);
  const missing = missingRights(rules, wanted);
  if (missing.length === 0) return;
  const lines = [...new Set(compactRules(missing).map(describeRule))].sort();
  const who = `user ${JSON.stringify(user.username)} (groups=${quotedList(user.groups)})`;
  const more = errors.length === 0 ? "" : `; resolution errors: [${aggregate(errors)}]`;
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}${more}`;
  throw forbidden(endpoint.resource, name, text);
}
