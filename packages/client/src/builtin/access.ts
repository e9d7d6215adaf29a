/** Who may do what: service accounts, roles and their bindings. */
import { builtinDescription, type corev1, type rbacv1 } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import { defined, type GenMeta, headerOf, KubeObject, splitMeta } from "../objects/index.ts";

/** What `ServiceAccount.gen` takes. */
export interface ServiceAccountGen extends GenMeta {
  automountServiceAccountToken?: boolean | undefined;
  imagePullSecrets?: corev1.LocalObjectReference[] | undefined;
}

/** A ServiceAccount. */
export class ServiceAccount extends KubeObject<corev1.ServiceAccount> {
  static override readonly description = builtinDescription("", "v1", "ServiceAccount");

  static gen(o: ServiceAccountGen): ServiceAccount {
    const { meta, rest } = splitMeta(o);
    const header = headerOf(ServiceAccount.description);
    return new ServiceAccount({ ...header, metadata: meta, ...defined(rest) } as corev1.ServiceAccount);
  }
}

/** What `Role.gen` takes. */
export interface RoleGen extends GenMeta {
  rules: rbacv1.PolicyRule[];
}

/** A Role: what may be done in one namespace. */
export class Role extends KubeObject<rbacv1.Role> {
  static override readonly description = builtinDescription("rbac.authorization.k8s.io", "v1", "Role");

  /**
   * @example
   * ```ts
   * Role.gen({ name: "reader", rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] }] });
   * ```
   */
  static gen(o: RoleGen): Role {
    const { meta, rest } = splitMeta(o);
    return new Role({ ...headerOf(Role.description), metadata: meta, rules: rest.rules } as rbacv1.Role);
  }
}

/** What `ClusterRole.gen` takes. */
export interface ClusterRoleGen extends Omit<GenMeta, "namespace"> {
  rules?: rbacv1.PolicyRule[] | undefined;
  aggregationRule?: rbacv1.AggregationRule | undefined;
}

/** A ClusterRole: what may be done anywhere. */
export class ClusterRole extends KubeObject<rbacv1.ClusterRole> {
  static override readonly description = builtinDescription("rbac.authorization.k8s.io", "v1", "ClusterRole");

  static gen(o: ClusterRoleGen): ClusterRole {
    const { meta, rest } = splitMeta(o);
    return new ClusterRole({
      ...headerOf(ClusterRole.description),
      metadata: meta,
      ...defined(rest),
    } as rbacv1.ClusterRole);
  }
}

/** Who a role is given to: `"ServiceAccount:team-a/robot"`, `"User:jane"`, `"Group:devs"`, or the API's form. */
export type GenSubject = `ServiceAccount:${string}` | `User:${string}` | `Group:${string}` | rbacv1.Subject;

/** What `RoleBinding.gen` takes. */
export interface RoleBindingGen extends GenMeta {
  /** `"Role:reader"` or `"ClusterRole:view"`. */
  role: `Role:${string}` | `ClusterRole:${string}`;
  subjects: readonly GenSubject[];
}

/** A RoleBinding: gives a role to users, groups or service accounts in one namespace. */
export class RoleBinding extends KubeObject<rbacv1.RoleBinding> {
  static override readonly description = builtinDescription("rbac.authorization.k8s.io", "v1", "RoleBinding");

  /**
   * @example
   * ```ts
   * RoleBinding.gen({ name: "robot", namespace: "team-a", role: "ClusterRole:view", subjects: ["ServiceAccount:robot"] });
   * ```
   */
  static gen(o: RoleBindingGen): RoleBinding {
    return new RoleBinding(bindingOf(RoleBinding, o) as rbacv1.RoleBinding);
  }
}

/** What `ClusterRoleBinding.gen` takes. */
export interface ClusterRoleBindingGen extends Omit<GenMeta, "namespace"> {
  role: `ClusterRole:${string}`;
  subjects: readonly GenSubject[];
}

/** A ClusterRoleBinding: gives a role to users, groups or service accounts everywhere. */
export class ClusterRoleBinding extends KubeObject<rbacv1.ClusterRoleBinding> {
  static override readonly description = builtinDescription("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding");

  static gen(o: ClusterRoleBindingGen): ClusterRoleBinding {
    return new ClusterRoleBinding(bindingOf(ClusterRoleBinding, o) as rbacv1.ClusterRoleBinding);
  }
}

const RBAC = "rbac.authorization.k8s.io";

function bindingOf({ description }: typeof RoleBinding | typeof ClusterRoleBinding, o: RoleBindingGen): object {
  const { meta, rest } = splitMeta(o);
  const { kind, name } = splitWord(rest.role);
  return {
    ...headerOf(description),
    metadata: meta,
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: rest.subjects.map((subject) => readSubject(subject, meta.namespace)),
  };
}

function readSubject(subject: GenSubject, namespace: string | undefined): rbacv1.Subject {
  if (typeof subject !== "string") return subject;
  const { kind, name } = splitWord(subject);
  if (kind !== "ServiceAccount") return { apiGroup: RBAC, kind, name };
  const [first = "", second] = name.split("/", 2);
  const at = second === undefined ? namespace : first;
  if (at === undefined) {
    throw new ConfigError(`in which namespace is the service account "${name}"?`, {
      hint: `write "ServiceAccount:<namespace>/${name}", or give the binding a namespace`,
    });
  }
  return { kind, name: second ?? first, namespace: at };
}

function splitWord(word: string): { kind: string; name: string } {
  const colon = word.indexOf(":");
  return { kind: word.slice(0, colon), name: word.slice(colon + 1) };
}
