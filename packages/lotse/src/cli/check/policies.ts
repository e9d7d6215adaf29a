/** What a server would say of the policies of operators: expressions are compiled against the types of their kinds. */
import { MutatingAdmissionPolicy } from "@lotse/client";
import type { LoadedOperator } from "../project/index.ts";
import { type OwnKind, optionalCluster } from "./definitions.ts";
import type { Finding } from "./findings.ts";

/** What was found, and what was looked at; undefined when there was nothing, or nothing that could look. */
export interface JudgedPolicies {
  readonly findings: readonly Finding[];
  readonly checked: string | undefined;
}

/** See the module comment. `kinds` are those whose definitions a server takes. */
export async function judgePolicies(
  operators: readonly LoadedOperator[],
  kinds: Iterable<OwnKind>,
): Promise<JudgedPolicies> {
  const declared = operators.filter(({ operator }) => (operator.policies ?? []).length > 0);
  const cluster = declared.length > 0 ? await optionalCluster() : undefined;
  if (!cluster) return { findings: [], checked: undefined };
  const { policyObjects } = await import("../../admission/index.ts");
  const definitions = [...kinds].map((kind) => kind.crd());
  const findings: Finding[] = [];
  const names: string[] = [];
  for (const { operator } of declared) {
    const made = policyObjects({
      operator: operator.name,
      policies: operator.policies,
      discovered: [],
      served: undefined,
      mutatingVersion: MutatingAdmissionPolicy.description.version,
    });
    for (const { declaration, policy } of made) {
      names.push(declaration.id);
      for (const { path, message } of await cluster.checkPolicy(policy, definitions)) {
        const where = [declaration.sourceLocation, `policy "${declaration.id}"`, path];
        const place = where.filter((part) => part !== undefined && part !== "").join(" ");
        findings.push({ level: "error", check: "policies", place, message });
      }
    }
  }
  return { findings, checked: names.length > 0 ? `policies (${names.join(", ")})` : undefined };
}
