import { ConfigMap } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resource } from "../declare/index.ts";
import { Operator } from "../operator/index.ts";
import { accessManifests } from "./access.ts";
import { rolesOf } from "./certificates.ts";
import type { Need } from "./rbac.ts";
import { needsOfWebhooks, USUAL_ROLES, type WebhookRoles } from "./webhook-needs.ts";

const Shop = resource({
  group: "example.com",
  kind: "Shop",
  versions: { v1beta1: { spec: z.object({ size: z.string() }) }, v1: { spec: z.object({}), storage: true } },
  convert: { v1beta1: { to: () => ({ spec: {} }), from: () => ({ spec: { size: "" } }) } },
});

const told = (needs: readonly Need[]) =>
  needs.map(
    ({ resource: what, verbs, names }) => `${what}: ${verbs.join(" ")}${names ? ` of ${names.join(" ")}` : ""}`,
  );

function needs(declare: (operator: Operator) => unknown, roles: WebhookRoles = USUAL_ROLES, installs = false) {
  const operator = new Operator({ name: "shops" });
  declare(operator);
  return needsOfWebhooks(operator, roles, installs);
}

describe("what an operator has to be allowed so that the API server asks it", () => {
  it("is nothing for one that is not asked", () => {
    expect(needs(({ on }) => on.create(ConfigMap, function open() {}))).toEqual([]);
  });

  it("is its Secret and its definition for one that only converts", () => {
    const converts = (operator: Operator) => operator.on.create(Shop, function open() {});
    expect(told(needs(converts))).toEqual([
      "secrets: get update of shops-webhooks",
      "secrets: create",
      "customresourcedefinitions: list patch watch of shops.example.com",
    ]);
    // It may write its definitions anyway.
    expect(told(needs(converts, USUAL_ROLES, true))).not.toContain(
      "customresourcedefinitions: list patch watch of shops.example.com",
    );
    expect(needs(converts, rolesOf("manifests", "cert-manager"))).toEqual([]);
  });

  it("is no Secret for policies, which need no server", () => {
    const rules = (operator: Operator) => {
      operator.policy(ConfigMap, { id: "small", rules: [{ expression: "true" }] });
      operator.policy(ConfigMap, { id: "filled", mutate: [{ apply: "Object{}" }] });
    };
    expect(told(needs(rules))).toEqual([
      "mutatingadmissionpolicies: list watch",
      "mutatingadmissionpolicies: delete patch of filled.shops.lotse.dev",
      "mutatingadmissionpolicies: create",
      "mutatingadmissionpolicybindings: list watch",
      "mutatingadmissionpolicybindings: delete patch of filled.shops.lotse.dev",
      "mutatingadmissionpolicybindings: create",
      "validatingadmissionpolicies: list watch",
      "validatingadmissionpolicies: delete patch of small.shops.lotse.dev",
      "validatingadmissionpolicies: create",
      "validatingadmissionpolicybindings: list watch",
      "validatingadmissionpolicybindings: delete patch of small.shops.lotse.dev",
      "validatingadmissionpolicybindings: create",
      "leases: delete get patch of shops-registered",
      "leases: create",
    ]);
    expect(
      told(needs(rules, rolesOf("manifests", "own"))).filter((one) => /policies.*(create|delete)/.test(one)),
    ).toEqual([]);
  });

  it("is to delete its configurations also as manifests where a handler says that they go with the operator", () => {
    const manifests = rolesOf("manifests", { secret: "tls" });
    const judges = (persistent: boolean) => (operator: Operator) =>
      operator.on.validate(ConfigMap, { persistent }, function check() {});
    expect(told(needs(judges(false), manifests))).toContain(
      "validatingwebhookconfigurations: delete get patch of shops.lotse.dev",
    );
    expect(told(needs(judges(true), manifests))).toContain("validatingwebhookconfigurations: patch of shops.lotse.dev");
  });

  it("is to notice kinds that are named by other means than classes, whose policies have no names yet", () => {
    const found = told(
      needs((operator) => operator.policy("things", { id: "small", rules: [{ expression: "true" }] })),
    );
    expect(found).toContain("customresourcedefinitions: list watch");
    expect(found).toContain("validatingadmissionpolicies: delete patch");
  });

  it("is given where the operator runs, whichever namespaces it serves", () => {
    const given = (serves: readonly string[] | undefined) =>
      accessManifests({
        name: "shops",
        namespace: "ops",
        needs: needs(({ on }) => on.create(Shop, function open() {})),
        serves,
      })
        .map((one) => one as { kind: string; metadata: { name: string; namespace?: string } })
        .filter(({ kind }) => kind === "Role")
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(given(undefined)).toEqual(["ops/shops-own"]);
    expect(given(["ops"])).toEqual(["ops/shops-own"]);
    expect(given(["team-a"])).toEqual(["ops/shops-own"]);
  });
});
