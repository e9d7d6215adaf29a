/** What the flags about webhooks mean for one operator, and which of them do not go together. */
import type { CustomResourceDefinition, KubeBody } from "@lotse/client";
import { isDns1123Label } from "@lotse/client/meta";
import {
  type Certificates,
  definitionsOf,
  definitionWithService,
  type Place,
  planWebhooks,
  rolesOf,
  type WebhookDeclarations,
  type WebhookPlan,
  type WebhookRoles,
  withInjection,
} from "../../generate/index.ts";
import { Problem } from "../terminal/index.ts";

/** The flags. */
export interface WebhookGenerateOptions {
  readonly namespace?: string | undefined;
  readonly serve?: readonly string[] | undefined;
  /** Who tells the API server of webhooks and policies. */
  readonly webhooks?: "operator" | "manifests" | undefined;
  /** `own`, `cert-manager`, or the name of a Secret. */
  readonly certificates?: string | undefined;
}

/** See the module comment. */
export interface WebhookChoices {
  readonly operator: WebhookDeclarations;
  readonly place: Place;
  readonly plan: WebhookPlan;
  readonly certificates: Certificates;
  readonly roles: WebhookRoles;
  /** Configurations and policies that are applied with the operator; none where it registers them itself. */
  readonly manifests: readonly KubeBody[];
}

/** Reads the flags; a {@link Problem} for those that contradict each other, or what is declared. */
export function webhookChoices(operator: WebhookDeclarations, options: WebhookGenerateOptions): WebhookChoices {
  const place = { name: operator.name, namespace: options.namespace ?? "default" };
  const certificates = certificatesOf(options.certificates);
  const plan = planWebhooks(operator, { namespace: place.namespace, serves: options.serve });
  if (certificates === "cert-manager" && options.webhooks === "operator") {
    throw wrong(
      "--certificates cert-manager and --webhooks operator exclude each other",
      "cert-manager writes its authority into manifests alone, where an annotation asks for it",
      "leave --webhooks out, or write --webhooks manifests",
    );
  }
  const by = options.webhooks ?? (certificates === "cert-manager" ? "manifests" : "operator");
  const [unknown] = plan.undiscovered;
  if (by === "manifests" && unknown !== undefined) {
    throw wrong(
      `there is no manifest for ${JSON.stringify(unknown)}`,
      "which kinds it is for is known only where the operator runs, because they are not named by classes",
      "name them by classes, or let the operator register it: --webhooks operator, with its own certificates",
    );
  }
  const inject = <B extends Pick<KubeBody, "metadata">>(body: B) =>
    certificates === "cert-manager" ? withInjection(body, place) : body;
  const manifests = by === "manifests" ? [...plan.configurations.map(inject), ...plan.policies] : [];
  return { operator, place, plan, certificates, roles: rolesOf(by, certificates), manifests };
}

/**
 * The definitions, with where their objects are converted. From the first moment on: a definition of several versions
 * without a converter would be one whose objects the API server relabels and never converts. Until the operator has said
 * whom to believe there, requests that need a conversion fail, and no object is harmed.
 */
export function placedDefinitions(choices: WebhookChoices): CustomResourceDefinition["body"][] {
  const { operator, place, plan, certificates } = choices;
  return definitionsOf(operator).map((crd) => {
    const placed = definitionWithService(crd, place.name, place.namespace);
    const isConverted = plan.converted.includes(crd.metadata?.name ?? "");
    return isConverted && certificates === "cert-manager" ? withInjection(placed, place) : placed;
  });
}

function certificatesOf(text = "own"): Certificates {
  if (text === "own" || text === "cert-manager") return text;
  if (isDns1123Label(text)) return { secret: text };
  throw wrong(
    `--certificates ${text} is no name of a Secret`,
    "in a pod certificates come from a Secret with tls.crt, tls.key and ca.crt, which is mounted",
    "write own, cert-manager, or the Secret's name",
  );
}

function wrong(what: string, why: string, todo: string): Problem {
  return new Problem({ what, why, todo }, { exitCode: 2 });
}
