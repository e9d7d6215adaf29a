/** A definition that tells the API server where its objects are converted. Pure. */
import type { CustomResourceDefinition } from "@lotse/client";

type Definition = CustomResourceDefinition["body"];

/** Where the API server reaches the operator, without the path of a definition. */
export type ConversionTarget =
  | { readonly url: string }
  | {
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        readonly port?: number;
        /** Below which the operator is asked. */
        readonly path?: string;
      };
    };

/** The path that objects of a definition are converted at: `/convert/shops.example.com`. */
export function conversionPath(crd: Definition): string {
  return `/convert/${crd.metadata?.name ?? ""}`;
}

/**
 * `crd` with its objects converted by the operator at `target`. The API server trusts what the certificates in
 * `caBundle` (PEM) have signed; without one it trusts what its machine does, or what cert-manager will put there.
 */
export function withConversion(crd: Definition, target: ConversionTarget, caBundle: string | undefined): Definition {
  const { spec } = crd;
  if (!spec) return crd;
  const path = conversionPath(crd);
  const where =
    "url" in target
      ? { url: `${target.url.replace(/\/+$/, "")}${path}` }
      : { service: { ...target.service, path: `${target.service.path ?? ""}${path}` } };
  const trust = caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle, "utf8").toString("base64") };
  const webhook = { clientConfig: { ...where, ...trust }, conversionReviewVersions: ["v1"] };
  return { ...crd, spec: { ...spec, conversion: { strategy: "Webhook", webhook } } };
}
