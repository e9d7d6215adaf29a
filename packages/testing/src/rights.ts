/** The operator as it is deployed: with its account, its role, and nothing else. */
import { type Client, ClusterRole, ClusterRoleBinding, ConfigError } from "@lotse/client";
import { Logger, type LogSink, type Operator } from "lotse";
import { Refusals } from "./refusals.ts";

/** A rule as it stands in a role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** What the operator may do besides. */
export interface RbacOptions {
  /** For the whole cluster: what you add by hand to the role that `lotse generate` makes. */
  readonly rules?: readonly PolicyRule[];
}

/** An operator that has its rights. */
export interface Deployed {
  /** Its service account, as `namespace/name`. */
  readonly account: string;
  readonly refusals: Refusals;
}

/** What {@link deployOperator} needs. */
export interface DeployInput {
  readonly operator: Operator;
  readonly rbac: RbacOptions;
  readonly namespaces: readonly string[] | undefined;
  /** The administrator. */
  readonly admin: Client;
  readonly log: LogSink;
  /** The file that requests are recorded to, if they are. */
  readonly recording: string | undefined;
}

const FIELD_MANAGER = "lotse-harness";

/** Gives the operator its account and its role. Rejects when it is not known what it needs. */
export async function deployOperator(input: DeployInput): Promise<Deployed> {
  const { operator, rbac, namespaces, admin, recording } = input;
  // It can load a compiler: only tests that ask for rights pay for it.
  const { rightsOf, missingRight } = await import("lotse/rights");
  const { account, manifests, unseen, todo } = await rightsOf(operator, { namespaces });
  const logger = new Logger(input.log, () => Date.now());
  const unknown = unseen.length > 0 && rbac.rules === undefined;
  if (unknown && recording === undefined) {
    throw new ConfigError(`${unseen.join("; ")}. To do: ${todo}; or give it rights by hand: rbac: { rules: [...] }`, {
      hint: todo,
    });
  }
  for (const text of unseen) {
    logger.warn(text, unknown ? { hint: `for now it may do everything, and ${recording} is written` } : {});
  }
  for (const manifest of manifests) await admin.apply(manifest, { fieldManager: FIELD_MANAGER });
  if (unknown) await bind(admin, operator.name, account, "cluster-admin");
  if (rbac.rules && rbac.rules.length > 0) {
    const name = `${operator.name}-by-hand`;
    const rules = rbac.rules.map((rule) => structuredClone(rule) as NonNullable<ClusterRole["body"]["rules"]>[number]);
    await admin.apply(new ClusterRole({ metadata: { name }, rules }), { fieldManager: FIELD_MANAGER });
    await bind(admin, operator.name, account, name);
  }
  const refusals = new Refusals(missingRight, ({ text, rule, handler }) => {
    logger.warn("the operator's role does not allow what it asks for", {
      ...(handler !== undefined && { handler }),
      missing: text,
      rule,
      hint: "if it shall be allowed: rbac: { rules: [...] } here, and the rule in the role that you deploy",
    });
  });
  return { account, refusals };
}

async function bind(admin: Client, operator: string, account: string, role: string): Promise<void> {
  const [namespace = "", name = ""] = account.split("/");
  const binding = new ClusterRoleBinding({
    metadata: { name: `${operator}-has-${role}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
  await admin.apply(binding, { fieldManager: FIELD_MANAGER });
}
