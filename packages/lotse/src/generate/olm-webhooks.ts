/**
 * Webhooks as the lifecycle manager takes them: it makes the configurations, the Service and the certificate, writes the
 * authority wherever it has to be, and mounts the certificate into the operator's pod. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { KubeError } from "@lotse/client/meta";
import { conversionPath } from "../admission/index.ts";
import type { PodWebhooks } from "./deployment.ts";
import { SERVICE_PORT, WEBHOOK_PORT, type WebhookPlan } from "./webhooks.ts";

/** Where the lifecycle manager mounts the certificate: tls.crt and tls.key. */
const DIR = "/tmp/k8s-webhook-server/serving-certs";

/** What the operator's pod is told: it registers nothing, and finds its certificate there. */
export const OLM_WEBHOOKS: PodWebhooks = {
  port: WEBHOOK_PORT,
  env: [
    { name: "LOTSE_RUN_WEBHOOK_PORT", value: String(WEBHOOK_PORT) },
    { name: "LOTSE_RUN_CERTIFICATES", value: DIR },
    { name: "LOTSE_RUN_REGISTER", value: "false" },
  ],
};

interface WebhookEntry {
  readonly name: string;
  readonly clientConfig: { readonly service?: { readonly path?: string } };
  readonly rules: readonly object[];
  readonly matchPolicy: string;
  readonly failurePolicy: string;
  readonly sideEffects: string;
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly objectSelector?: object;
  readonly matchConditions?: readonly object[];
}

/** The entries of the ClusterServiceVersion. Throws for what it has no words for: it would judge too much, or nothing. */
export function webhookDefinitions(name: string, plan: WebhookPlan): object[] {
  const [unknown] = plan.undiscovered;
  if (unknown !== undefined) {
    throw new KubeError(`a bundle cannot hold ${JSON.stringify(unknown)}, whose kinds only a cluster can tell`, {
      hint: "name its kinds by classes",
    });
  }
  const [policy] = plan.policies;
  if (policy) {
    throw new KubeError(`a bundle cannot hold admission policies, and the operator has ${policy.metadata?.name}`, {
      hint: "write it as a rule of the kind's schema or as on.validate, or use lotse generate helm",
    });
  }
  const common = { deploymentName: name, containerPort: SERVICE_PORT, targetPort: WEBHOOK_PORT };
  return [
    ...plan.configurations.flatMap((configuration) =>
      entriesOf(configuration).map((entry) => ({
        type:
          configuration.kind === "MutatingWebhookConfiguration"
            ? "MutatingAdmissionWebhook"
            : "ValidatingAdmissionWebhook",
        ...admissionEntry(entry),
        ...common,
      })),
    ),
    ...plan.converted.map((crd) => ({
      type: "ConversionWebhook",
      generateName: `convert.${crd}`,
      webhookPath: conversionPath({ metadata: { name: crd } } as never),
      conversionCRDs: [crd],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      ...common,
    })),
  ];
}

function entriesOf(configuration: KubeBody): readonly WebhookEntry[] {
  return (configuration as unknown as { readonly webhooks: readonly WebhookEntry[] }).webhooks;
}

/** Which namespaces are judged is the lifecycle manager's business: those that the operator serves. */
function admissionEntry(entry: WebhookEntry): object {
  if (entry.matchConditions) {
    throw new KubeError(`a bundle cannot hold the conditions of the webhook ${entry.name}`, {
      hint: "look at the object in the handler itself instead of matchConditions, field, value or annotations",
    });
  }
  const { name: generateName, clientConfig, objectSelector, reinvocationPolicy } = entry;
  const { rules, matchPolicy, failurePolicy, sideEffects, timeoutSeconds, admissionReviewVersions } = entry;
  return {
    generateName,
    webhookPath: clientConfig.service?.path,
    rules,
    ...(objectSelector && { objectSelector }),
    matchPolicy,
    failurePolicy,
    sideEffects,
    timeoutSeconds,
    ...(reinvocationPolicy !== undefined && { reinvocationPolicy }),
    admissionReviewVersions,
  };
}
