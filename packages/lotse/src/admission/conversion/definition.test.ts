import type { CustomResourceDefinition } from "@lotse/client";
import { expect, it } from "vitest";
import { withConversion } from "./definition.ts";

const CRD = {
  metadata: { name: "shops.example.com" },
  spec: { group: "example.com", names: { kind: "Shop", plural: "shops" }, scope: "Namespaced", versions: [] },
} as CustomResourceDefinition["body"];

it("a definition names the operator's URL, with the path of the kind", () => {
  expect(withConversion(CRD, { url: "https://127.0.0.1:9443/" }, "PEM").spec?.conversion).toEqual({
    strategy: "Webhook",
    webhook: {
      clientConfig: { url: "https://127.0.0.1:9443/convert/shops.example.com", caBundle: "UEVN" },
      conversionReviewVersions: ["v1"],
    },
  });
});

it("or its Service, whose certificates others may vouch for", () => {
  const service = { namespace: "shops", name: "webhooks", port: 443 };
  expect(withConversion(CRD, { service }, undefined).spec?.conversion?.webhook?.clientConfig).toEqual({
    service: { ...service, path: "/convert/shops.example.com" },
  });
  expect(CRD.spec?.conversion).toBeUndefined();
});
