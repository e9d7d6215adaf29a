/** What an API server has to know of an operator that judges, rules or converts, and how it reaches it. Pure. */
import { type CustomResourceDefinition, type KubeBody, MutatingAdmissionPolicy } from "@lotse/client";
import { judgedKinds, kindsOf, policyObjects, webhookConfigurations, withConversion } from "../admission/index.ts";
import { type Declarations, isResourceClass, parseNamespaces } from "../declare/index.ts";
import { labelsOf } from "./deployment.ts";

/** What the operator declares, as far as it is about this; another copy of the package may not have all of it. */
export type WebhookDeclarations = { readonly name: string } & Partial<
  Pick<Declarations, "admission" | "policies" | "kinds" | "conversions" | "resources">
>;

/** Where the operator will run. */
export interface WebhookScope {
  readonly namespace: string;
  /** The namespaces that it will serve; undefined: all. */
  readonly serves?: readonly string[] | undefined;
}

/** See the module comment. */
export interface WebhookPlan {
  /** Whether the operator has to be reached: it has handlers of requests, or conversions. Policies need no server. */
  readonly asked: boolean;
  /** The names of the definitions whose objects the operator converts. */
  readonly converted: readonly string[];
  /** Webhook configurations, without the authorities that the API server shall believe. */
  readonly configurations: readonly KubeBody[];
  /** Policies, each before its binding. */
  readonly policies: readonly KubeBody[];
  /** Handlers and policies whose kinds only a cluster can tell. */
  readonly undiscovered: readonly string[];
  /** Whether some of the configurations go when the operator stops. */
  readonly withdraws: boolean;
}

/** Where the webhook server listens in its pod. */
export const WEBHOOK_PORT = 9_443;
/** Where its Service listens: API servers call no other port unless told. */
export const SERVICE_PORT = 443;

/** What the Service, the Secret and everything else about webhooks is called beside the operator's own name. */
export function webhooksName(operator: string): string {
  return `${operator}-webhooks`;
}

/** The definition with where its objects are converted; another one is as it was. */
export function definitionWithService(
  crd: CustomResourceDefinition["body"],
  operator: string,
  namespace: string,
): CustomResourceDefinition["body"] {
  if (!isConverted(crd)) return crd;
  return withConversion(crd, { service: { namespace, name: webhooksName(operator), port: SERVICE_PORT } }, undefined);
}

/** A definition of several versions that says nothing about conversion waits to be told who converts. */
function isConverted({ spec }: CustomResourceDefinition["body"]): boolean {
  // Of another copy of the package it may be of any form.
  return (spec?.versions?.length ?? 0) > 1 && spec.conversion === undefined;
}

/** The definitions of all kinds that anything is declared for. */
export function definitionsOf({ kinds = [], resources = [] }: WebhookDeclarations): CustomResourceDefinition["body"][] {
  const classes = [...kinds, ...resources.map(({ resource }) => resource)].filter(isResourceClass);
  const crds = classes.map((resource) => resource.crd());
  // All versions of a kind share one definition.
  return [...new Map(crds.map((crd) => [crd.metadata?.name, crd])).values()];
}

/** See the module comment. */
export function planWebhooks(operator: WebhookDeclarations, { namespace, serves }: WebhookScope): WebhookPlan {
  const { name, admission = [], policies = [] } = operator;
  const served = serves && parseNamespaces(serves).exact;
  const converted = definitionsOf(operator).filter(isConverted);
  const { validating, mutating } = webhookConfigurations({
    operator: name,
    kinds: judgedKinds(admission, []),
    address: { service: { namespace, name: webhooksName(name), port: SERVICE_PORT } },
    caBundle: undefined,
    // An operator that is down must not keep itself down.
    namespaces: { spared: ["kube-system", namespace], served },
  });
  const { version: mutatingVersion } = MutatingAdmissionPolicy.description;
  const made = policyObjects({ operator: name, policies, discovered: [], served, mutatingVersion });
  const isUnknown = ({ resource }: (typeof admission)[number] | (typeof policies)[number]) =>
    kindsOf(resource, []).length === 0;
  const handlers = admission.flatMap((one) => one.handlers);
  return {
    asked: admission.length > 0 || converted.length > 0,
    converted: converted.map(({ metadata }) => metadata?.name ?? ""),
    configurations: [validating, mutating].filter((one) => one !== undefined),
    policies: made.flatMap(({ policy, binding }) => [policy, binding]),
    undiscovered: [
      ...admission.filter(isUnknown).flatMap((one) => one.handlers.map(({ id }) => id)),
      ...policies.filter(isUnknown).map(({ id }) => id),
    ],
    withdraws: handlers.some(({ persistent }) => persistent === false),
  };
}

/**
 * The Service in front of the webhook server. Also of a pod that is not ready: an operator gets ready when it has listed
 * its objects, and the API server may have to ask it for conversions to list them.
 */
export function webhookServiceManifest({ name, namespace }: { name: string; namespace: string }): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: webhooksName(name), namespace, labels: labelsOf(name) },
    spec: {
      publishNotReadyAddresses: true,
      selector: { "app.kubernetes.io/name": name },
      ports: [{ name: "webhooks", port: SERVICE_PORT, targetPort: "webhooks", protocol: "TCP" }],
    },
  };
}
