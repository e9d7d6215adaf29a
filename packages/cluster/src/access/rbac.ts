import { type ApiObject, fromStore, listAt, objectAt, type RequestUser } from "../registry/index.ts";
import type { Store } from "../store/index.ts";
import type { Authority } from "./authority.ts";
import { type PolicyRule, ruleAllows, rulesOf } from "./rules.ts";
import { accountUsername, isMaster } from "./users.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";
const table = (plural: string): string => `${plural}.${RBAC_GROUP}`;

/** Which role a binding gives. */
export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export function roleRefOf(binding: unknown): RoleRef {
  const { apiGroup, kind, name } = objectAt(binding, "roleRef");
  return { apiGroup: String(apiGroup ?? ""), kind: String(kind ?? ""), name: String(name ?? "") };
}

/** The rules of a role, undefined when there is no such role. */
export function rulesOfRole(store: Store, { kind, name }: RoleRef, namespace: string): PolicyRule[] | undefined {
  const entry =
    kind === "ClusterRole" ? store.get(table("clusterroles"), name) : store.get(table("roles"), `${namespace}/${name}`);
  return entry && rulesOf(entry.object);
}

/** A rule with the words that say where it comes from, or what kept the rules of a binding from being read. */
type Found = { readonly rule: PolicyRule; readonly source: () => string } | { readonly error: string };

/** Every rule that applies to a user in a namespace: those of the whole cluster first. An empty namespace has no roles. */
function* rulesFor(store: Store, user: RequestUser, namespace: string): Generator<Found> {
  for (const entry of store.list(table("clusterrolebindings"))) {
    yield* rulesOfBinding(store, fromStore(entry.object), user, "");
  }
  if (namespace === "") return;
  for (const entry of store.list(table("rolebindings"), `${namespace}/`)) {
    yield* rulesOfBinding(store, fromStore(entry.object), user, namespace);
  }
}

function* rulesOfBinding(store: Store, binding: ApiObject, user: RequestUser, namespace: string): Generator<Found> {
  const subject = listAt(binding, "subjects").find((one) => appliesTo(one, user, namespace));
  if (!subject) return;
  const ref = roleRefOf(binding);
  const rules = rulesOfRole(store, ref, namespace);
  if (!rules) {
    const kind = ref.kind === "ClusterRole" ? "clusterrole" : "role";
    yield { error: `${kind}.${RBAC_GROUP} ${JSON.stringify(ref.name)} not found` };
    return;
  }
  const source = () => describeBinding(binding, ref, subject, namespace);
  for (const rule of rules) yield { rule, source };
}

function appliesTo(subject: Record<string, unknown>, user: RequestUser, bindingNamespace: string): boolean {
  switch (subject.kind) {
    case "User":
      return subject.name === user.username;
    case "Group":
      return user.groups.includes(String(subject.name));
    case "ServiceAccount": {
      const namespace = String(subject.namespace || bindingNamespace);
      return namespace !== "" && user.username === accountUsername(namespace, String(subject.name));
    }
    default:
      return false;
  }
}

function describeBinding(
  binding: ApiObject,
  ref: RoleRef,
  subject: Record<string, unknown>,
  namespace: string,
): string {
  const { name } = binding.metadata;
  const title =
    namespace === ""
      ? `ClusterRoleBinding ${JSON.stringify(name)}`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
  const who =
    subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace || namespace}` : String(subject.name);
  return `${title} of ${ref.kind} ${JSON.stringify(ref.name)} to ${subject.kind} ${JSON.stringify(who)}`;
}

/** Several mistakes in one sentence, each once. */
export function aggregate(errors: readonly string[]): string {
  const unique = [...new Set(errors)];
  return unique.length === 1 ? (unique[0] as string) : `[${unique.join(", ")}]`;
}

/** Role-based access control over the roles and bindings in the store. Nothing is remembered: a change counts at once. */
export function createRbac(store: Store): Authority {
  return {
    decide(user, attempt) {
      // Who belongs to the masters can repair a cluster whose roles are gone.
      if (isMaster(user)) return { allowed: true, reason: "" };
      const errors: string[] = [];
      const namespace = attempt.type === "resource" ? attempt.namespace : "";
      for (const found of rulesFor(store, user, namespace)) {
        if ("error" in found) errors.push(found.error);
        else if (ruleAllows(found.rule, attempt)) {
          return { allowed: true, reason: `RBAC: allowed by ${found.source()}` };
        }
      }
      return { allowed: false, reason: errors.length === 0 ? "" : `RBAC: ${aggregate(errors)}` };
    },
    permissionsOf(user, namespace) {
      const rules: PolicyRule[] = [];
      const errors: string[] = [];
      for (const found of rulesFor(store, user, namespace)) {
        if ("error" in found) errors.push(found.error);
        else rules.push(found.rule);
      }
      return { rules, errors };
    },
  };
}
