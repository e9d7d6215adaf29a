import { type ApiObject, listAt, objectAt, type RequestUser, storeKey } from "../registry/index.ts";
import type { Store } from "../store/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { BindingIndex } from "./policy-index.ts";
import { type PolicyRule, ruleAllows, rulesOf } from "./rules.ts";
import { accountUsername, isMaster } from "./users.ts";

/** The API group of roles and bindings, which roleRefs and subjects name too. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";
const table = (plural: string): string => `${plural}.${RBAC_GROUP}`;

/** Which role a binding gives. */
export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** The role that a binding names, read from an object that may not be valid yet. */
export function roleRefOf(binding: unknown): RoleRef {
  const { apiGroup, kind, name } = objectAt(binding, "roleRef");
  return { apiGroup: String(apiGroup ?? ""), kind: String(kind ?? ""), name: String(name ?? "") };
}

/** The rules of a role, undefined when there is no such role. */
export function rulesOfRole(store: Store, ref: RoleRef, namespace: string): PolicyRule[] | undefined {
  const entry = roleEntry(store, ref, namespace);
  return entry && rulesOf(entry.object);
}

function roleEntry(store: Store, { kind, name }: RoleRef, namespace: string) {
  return kind === "ClusterRole"
    ? store.get(table("clusterroles"), name)
    : store.get(table("roles"), storeKey(namespace, name));
}

/** A rule with the words that say where it comes from, or what kept the rules of a binding from being read. */
type Found = { readonly rule: PolicyRule; readonly source: () => string } | { readonly error: string };

type ReadRules = (ref: RoleRef, namespace: string) => readonly PolicyRule[] | undefined;

function* rulesOfBinding(read: ReadRules, binding: ApiObject, user: RequestUser, namespace: string): Generator<Found> {
  const subject = listAt(binding, "subjects").find((one) => appliesTo(one, user, namespace));
  if (!subject) return;
  const ref = roleRefOf(binding);
  const rules = read(ref, namespace);
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

/** Role-based access control over the roles and bindings in the store: a change counts at once. */
export function createRbac(store: Store): Authorizer {
  const clusterBindings = new BindingIndex(store, table("clusterrolebindings"));
  const bindings = new BindingIndex(store, table("rolebindings"));
  // Stored objects never change, so what was read of one once holds for as long as it is there.
  const known = new WeakMap<object, readonly PolicyRule[]>();
  const read: ReadRules = (ref, namespace) => {
    const entry = roleEntry(store, ref, namespace);
    if (!entry) return undefined;
    const rules = known.get(entry.object) ?? rulesOf(entry.object);
    known.set(entry.object, rules);
    return rules;
  };
  /** Every rule that applies to a user in a namespace: those of the whole cluster first. No namespace, no roles. */
  function* rulesFor(user: RequestUser, namespace: string): Generator<Found> {
    for (const binding of clusterBindings.of(user, "")) yield* rulesOfBinding(read, binding, user, "");
    if (namespace === "") return;
    for (const binding of bindings.of(user, namespace)) yield* rulesOfBinding(read, binding, user, namespace);
  }
  return {
    decide(user, attempt) {
      // Who belongs to the masters can repair a cluster whose roles are gone.
      if (isMaster(user)) return { allowed: true, reason: "" };
      const errors: string[] = [];
      const namespace = attempt.type === "resource" ? attempt.namespace : "";
      for (const found of rulesFor(user, namespace)) {
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
      for (const found of rulesFor(user, namespace)) {
        if ("error" in found) errors.push(found.error);
        else rules.push(found.rule);
      }
      return { rules, errors };
    },
  };
}
