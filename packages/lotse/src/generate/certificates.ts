/** Who makes the certificate of the webhook server, as manifests say it. Pure. */

import type { KubeBody } from "@lotse/client";
import { CERTIFICATES_DIR } from "../admission/index.ts";
import { labelsOf, type PodWebhooks, type Variable } from "./deployment.ts";
import type { WebhookRoles } from "./webhook-needs.ts";
import { SERVICE_PORT, WEBHOOK_PORT, webhooksName } from "./webhooks.ts";

/** The operator itself, cert-manager, or another program that fills a Secret of that name. */
export type Certificates = "own" | "cert-manager" | { readonly secret: string };

/** Where an operator is, by name. */
export interface Place {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Who does what at run time. cert-manager writes the authority into configurations and definitions that its annotation is
 * on: then the operator needs no right on any of them. In all other cases the operator alone knows its authority.
 */
export function rolesOf(by: "operator" | "manifests", certificates: Certificates): WebhookRoles {
  const keepsSecret = certificates === "own";
  if (certificates === "cert-manager") return { registers: "nobody", keepsSecret };
  return { registers: by, keepsSecret };
}

/** What the operator's pod needs. */
export function podWebhooks({ name, namespace }: Place, certificates: Certificates): PodWebhooks {
  const env: Variable[] = [
    { name: "LOTSE_RUN_WEBHOOK_SERVICE", value: `${namespace}/${webhooksName(name)}:${SERVICE_PORT}` },
    { name: "LOTSE_RUN_WEBHOOK_PORT", value: String(WEBHOOK_PORT) },
  ];
  if (certificates === "own") return { port: WEBHOOK_PORT, env };
  const isManaged = certificates === "cert-manager";
  env.push({ name: "LOTSE_RUN_CERTIFICATES", value: isManaged ? certificates : CERTIFICATES_DIR });
  const secret = isManaged ? webhooksName(name) : certificates.secret;
  return { port: WEBHOOK_PORT, env, certificates: { secret, dir: CERTIFICATES_DIR } };
}

/** Tells the operator that all of it is there, and has its authority from cert-manager. */
export const REGISTERED: Variable = { name: "LOTSE_RUN_REGISTER", value: "false" };

/** The names by which API servers call the Service, which the certificate has to be for. */
export function serviceNames({ name, namespace }: Place): string[] {
  const service = `${webhooksName(name)}.${namespace}.svc`;
  return [service, `${service}.cluster.local`];
}

/** `manifest` with the authority that cert-manager writes into it. */
export function withInjection<B extends Pick<KubeBody, "metadata">>(manifest: B, { name, namespace }: Place): B {
  const annotations = {
    ...manifest.metadata?.annotations,
    "cert-manager.io/inject-ca-from": `${namespace}/${webhooksName(name)}`,
  };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

/**
 * An authority of the operator's own and a certificate of it. The authority outlives its certificates: if the certificate
 * had signed itself, each renewal would be one that API servers do not believe yet.
 */
export function certManagerManifests(place: Place): object[] {
  const { name, namespace } = place;
  const labels = labelsOf(name);
  const [own, authority, leaf] = [`${name}-self-signed`, `${name}-authority`, webhooksName(name)];
  const object = (kind: string, called: string, spec: object) => ({
    apiVersion: "cert-manager.io/v1",
    kind,
    metadata: { name: called, namespace, labels },
    spec,
  });
  const privateKey = { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" };
  const issuer = (called: string) => ({ group: "cert-manager.io", kind: "Issuer", name: called });
  return [
    object("Issuer", own, { selfSigned: {} }),
    object("Certificate", authority, {
      isCA: true,
      commonName: authority.slice(0, LONGEST_COMMON_NAME),
      secretName: authority,
      duration: "17520h",
      privateKey,
      issuerRef: issuer(own),
    }),
    object("Issuer", authority, { ca: { secretName: authority } }),
    object("Certificate", leaf, {
      secretName: leaf,
      dnsNames: serviceNames(place),
      duration: "2160h",
      privateKey,
      usages: ["digital signature", "server auth"],
      issuerRef: issuer(authority),
    }),
  ];
}

/** The most that X.509 has room for. */
const LONGEST_COMMON_NAME = 64;
