/** Whether what an operator registers is in the cluster already: then it needs no right to create it. */
import {
  type Client,
  type KubeBody,
  KubeError,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "@lotse/client";
import { planWebhooks, type WebhookDeclarations, type WebhookRoles } from "../../generate/index.ts";

const CLASSES = [
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
];

/** Who registers what the operator declares. What cannot be looked at counts as not there. */
export async function rolesOfOperator(
  client: Client,
  operator: WebhookDeclarations,
  roles: WebhookRoles,
  signal?: AbortSignal,
): Promise<WebhookRoles> {
  if (roles.registers !== "operator") return roles;
  const { configurations, policies, undiscovered } = planWebhooks(operator, { namespace: "default" });
  const planned = [...configurations, ...policies];
  if (planned.length === 0 || undiscovered.length > 0) return roles;
  const there = await Promise.all(planned.map((body) => isThere(client, body, signal)));
  return there.every(Boolean) ? { ...roles, registers: "manifests" } : roles;
}

/** By a list, which the operator may ask for: it watches these objects. */
async function isThere(client: Client, { kind, metadata }: KubeBody, signal?: AbortSignal): Promise<boolean> {
  const kindClass = CLASSES.find(({ description }) => description.kind === kind);
  if (!kindClass) return false;
  try {
    const fieldSelector = { "metadata.name": metadata?.name ?? "" };
    const found = await client.list(kindClass.description, { fieldSelector, ...(signal && { signal }) }).toArray();
    return found.length > 0;
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
}
