import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { decide, type Standing, YIELD_MS } from "./decide.ts";
import { bodyToApply, digestOfWanted, isAsWanted, lastManagerOf, replacedEntries, type Wanted } from "./wanted.ts";

const configuration = (more: object = {}, ...others: object[]): KubeBody =>
  ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "shops.lotse.dev", labels: { "lotse.dev/operator": "shops" } },
    webhooks: [
      {
        name: "check.shops.lotse.dev",
        clientConfig: { caBundle: "QQ==" },
        rules: [{ operations: ["CREATE"] }],
        ...more,
      },
      ...others,
    ],
  }) as KubeBody;

const wanted: Wanted = { body: configuration(), title: "the webhooks" };
const digest = digestOfWanted(wanted.body);

/** As an API server keeps it, with the defaults that it fills in. */
function stored(body: KubeBody, mark: string | undefined = digest): KubeBody {
  const copy = structuredClone(body) as KubeBody & { webhooks: Record<string, unknown>[] };
  for (const webhook of copy.webhooks) Object.assign(webhook, { objectSelector: {}, timeoutSeconds: 10, ...webhook });
  copy.metadata = {
    ...copy.metadata,
    uid: "u",
    ...(mark !== undefined && { annotations: { "shops.lotse.dev/registered": mark } }),
  };
  return copy;
}

const decided = (standing: Partial<Standing>, one = wanted, now = 0) =>
  decide(one, { live: undefined, written: undefined, yieldedAt: undefined, ...standing }, "shops", now);

describe("what is registered", () => {
  it("is written when it is not there", () => {
    expect(decided({})).toEqual({ type: "write" });
  });

  it("is left alone when it is as wanted", () => {
    expect(decided({ live: stored(wanted.body) })).toEqual({ type: "nothing" });
    expect(decided({ live: stored(wanted.body), written: digest })).toEqual({ type: "nothing" });
  });

  it("is written at the start whatever another version has left", () => {
    expect(decided({ live: stored(configuration({ rules: [] }), "other") })).toEqual({ type: "write" });
  });

  it("is written when something else is wanted", () => {
    const next: Wanted = { ...wanted, body: configuration({ clientConfig: { caBundle: "QUI=" } }) };
    expect(decided({ live: stored(wanted.body), written: digest }, next)).toEqual({ type: "write" });
  });

  it.each<[string, KubeBody]>([
    ["another authority", configuration({ clientConfig: { caBundle: "QUI=" } })],
    ["fewer operations", configuration({ rules: [{ operations: [] }] })],
    ["a selector that nobody asked for", configuration({ objectSelector: { matchLabels: { a: "b" } } })],
    ["a condition that nobody asked for", configuration({ matchConditions: [{ name: "x", expression: "false" }] })],
  ])("is put back when another client has changed it: %s", (_, edited) => {
    expect(decided({ live: stored(edited), written: digest })).toEqual({ type: "put back", deleted: false });
  });

  it("is put back when another client has deleted it", () => {
    expect(decided({ written: digest })).toEqual({ type: "put back", deleted: true });
  });

  it("is not fought for with another version of the operator, until that should be gone", () => {
    const live = stored(configuration({ rules: [] }), "other");
    expect(decided({ live, written: digest }, wanted, 1_000)).toEqual({ type: "yield", until: 1_000 + YIELD_MS });
    expect(decided({ live, written: digest, yieldedAt: 0 }, wanted, YIELD_MS)).toEqual({ type: "write" });
  });

  it("is written when less is wanted than this process has written", () => {
    const more = { ...wanted, body: configuration({}, { name: "more.shops.lotse.dev" }) };
    const written = digestOfWanted(more.body);
    expect(decided({ live: stored(more.body, written), written })).toEqual({ type: "write" });
    expect(decided({ live: stored(more.body, "other"), written })).toEqual({ type: "nothing" });
  });

  it("has room for entries of others", () => {
    const others = stored(configuration({}, { name: "theirs.example.com" }));
    expect(isAsWanted(others, wanted)).toBe(true);
    expect(replacedEntries(others, wanted.body)).toMatchObject([
      { name: "check.shops.lotse.dev" },
      { name: "theirs.example.com" },
    ]);
  });

  it("is only a part of an object that others make: then it waits for them", () => {
    expect(decided({}, { ...wanted, partial: true })).toEqual({ type: "nothing" });
    expect(decided({ written: digest }, { ...wanted, partial: true })).toEqual({ type: "nothing" });
  });

  it("says what it is, and that selectors which are not there mean everything", () => {
    expect(bodyToApply(wanted, "shops")).toMatchObject({
      metadata: { annotations: { "shops.lotse.dev/registered": digest } },
      webhooks: [{ namespaceSelector: {}, objectSelector: {} }],
    });
  });

  it("knows who has changed it", () => {
    const managedFields = [
      { manager: "shops-admission", time: "2026-01-03T00:00:00Z" },
      { manager: "helm", time: "2026-01-01T00:00:00Z" },
      { manager: "kubectl-edit", time: "2026-01-02T00:00:00Z" },
    ];
    expect(lastManagerOf({ metadata: { managedFields } } as KubeBody, "shops-admission")).toBe("kubectl-edit");
  });
});
