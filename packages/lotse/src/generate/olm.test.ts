import { toYaml } from "@lotse/client/meta";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resource } from "../declare/index.ts";
import { aboutOf } from "./about.ts";
import type { GeneratedFile } from "./helm.ts";
import { type BundleInput, olmBundle } from "./olm.ts";
import type { Need } from "./rbac.ts";
import { type BundleObject, validateBundle } from "./test-olm-rules.ts";

const Rate = resource({
  group: "rates.example.com",
  version: "v1",
  kind: "ExchangeRate",
  spec: z.object({ currency: z.enum(["EUR", "USD"]), every: z.int().min(5), note: z.string().optional() }),
});

const need = (resource: string, clusterWide: boolean): Need => ({
  group: "",
  resource,
  verbs: ["get"],
  by: "handler h",
  clusterWide,
});

const INPUT: BundleInput = {
  name: "exchange-rates",
  about: aboutOf({
    version: "1.2.3",
    description: "Rates for all",
    author: "Jo Doe <jo@example.com>",
    homepage: "https://example.com",
    repository: "github:example/rates",
    keywords: ["money"],
  }),
  definitions: [Rate.crd()],
  needs: [need("configmaps", false), need("nodes", true)],
  image: "example.com/rates:1.2.3",
  stopMs: 15_000,
  examples: [],
};

const CSV = "manifests/exchange-rates.clusterserviceversion.yaml";
const CRD = "manifests/exchangerates.rates.example.com.yaml";

function parsed<T = BundleObject>(files: readonly GeneratedFile[], name: string): T {
  return load(files.find((file) => file.name === name)?.text ?? "") as T;
}

/** The bundle with one file changed. */
function spoilt(name: string, change: (object: Record<string, never>) => unknown): GeneratedFile[] {
  return olmBundle(INPUT).map((file) => {
    if (file.name !== name) return file;
    const object = load(file.text) as Record<string, never>;
    return { name, text: toYaml(change(object) ?? object) };
  });
}

describe("a bundle", () => {
  it("passes the rules of the lifecycle manager; only the icon is left to its owner", () => {
    expect(validateBundle(olmBundle(INPUT))).toEqual({ errors: [], warnings: ["there is no icon"] });
  });

  it("of a project that says nothing about itself passes them too", () => {
    const bundle = olmBundle({ ...INPUT, about: aboutOf({}), image: undefined });
    expect(validateBundle(bundle)).toEqual({ errors: [], warnings: ["there is no icon"] });
    expect(parsed(bundle, CSV)).toMatchObject({
      metadata: { name: "exchange-rates.v0.1.0", annotations: { containerImage: "exchange-rates:0.1.0" } },
      spec: { maturity: "alpha", provider: { name: "Exchange Rates" } },
    });
  });

  it("of an operator without kinds of its own passes them too", () => {
    expect(validateBundle(olmBundle({ ...INPUT, definitions: [] }))).toMatchObject({ errors: [] });
  });

  it("gives rights where the operator works, and in the cluster what has no namespace", () => {
    const { spec } = parsed(olmBundle(INPUT), CSV);
    const rule = (resource: string) => [
      { serviceAccountName: "exchange-rates", rules: [{ apiGroups: [""], resources: [resource], verbs: ["get"] }] },
    ];
    expect(spec?.install).toMatchObject({
      spec: { permissions: rule("configmaps"), clusterPermissions: rule("nodes") },
    });
  });

  it("tells the operator which namespaces to serve, and that its definitions are there", () => {
    expect(olmBundle(INPUT).find(({ name }) => name === CSV)?.text).toMatch(
      /LOTSE_RUN_NAMESPACE\n\s+valueFrom:\n\s+fieldRef:\n\s+fieldPath: metadata.annotations\['olm.targetNamespaces'\]\n\s+- name: LOTSE_RUN_INSTALL_CRDS\n\s+value: "false"/,
    );
  });

  it("shows an example of each kind: one that somebody wrote, else one from the schema", () => {
    const examples = (input: BundleInput) =>
      JSON.parse(parsed(olmBundle(input), CSV).metadata?.annotations?.["alm-examples"] ?? "");
    const header = { apiVersion: "rates.example.com/v1", kind: "ExchangeRate" };
    expect(examples(INPUT)).toEqual([
      { ...header, metadata: { name: "example-exchangerate" }, spec: { currency: "EUR", every: 5 } },
    ]);
    const own = { ...header, metadata: { name: "euro" }, spec: { currency: "EUR", every: 60 } };
    const other = { ...own, kind: "Other" };
    expect(examples({ ...INPUT, examples: [other, own] })).toEqual([own]);
  });

  it("refuses a name that is too long, before a catalogue does", () => {
    expect(() => olmBundle({ ...INPUT, name: "x".repeat(60) })).toThrow(/longer than the 63 characters/);
  });

  it("is the same each time", () => {
    expect(olmBundle(INPUT)).toEqual(olmBundle(INPUT));
  });
});

/** So that the rules are known to find something. */
describe("the rules refuse a bundle", () => {
  const put = (object: Record<string, never>, path: string, value: unknown) => {
    const keys = path.split("/");
    const last = keys.pop() ?? "";
    const parent = keys.reduce<Record<string, unknown>>((one, key) => one[key] as Record<string, unknown>, object);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  };

  it.each<[string, string, string, unknown, string]>([
    ["without install modes", CSV, "spec/installModes", [], "there are no install modes"],
    ["with a mode twice", CSV, "spec/installModes/0/type", "AllNamespaces", "an install mode is there twice"],
    ["with a name in capitals", CSV, "metadata/name", "Rates.v1.2.3", 'metadata.name "Rates.v1.2.3" is no name'],
    ["without a name to show", CSV, "spec/displayName", undefined, "spec.displayName is missing"],
    ["without a version", CSV, "spec/version", "1.2", "spec.version is no semantic version"],
    ["for a strange Kubernetes", CSV, "spec/minKubeVersion", "v1.31", "spec.minKubeVersion is no semantic version"],
    ["of nobody", CSV, "spec/provider", {}, "spec.provider.name is missing"],
    ["with half a link", CSV, "spec/links/0/url", "example", "a link has a name and an address"],
    ["with half a maintainer", CSV, "spec/maintainers/0/email", "jo", "a maintainer has a name and an address"],
    ["with examples that are not JSON", CSV, "metadata/annotations/alm-examples", "[", "the examples are not JSON"],
    [
      "with an example of another kind",
      CSV,
      "metadata/annotations/alm-examples",
      '[{"kind":"X"}]',
      "which is not provided",
    ],
    ["with a capability of its own", CSV, "metadata/annotations/capabilities", "All", "All is no capability"],
    ["with an annotation in wrong case", CSV, "metadata/annotations/olm.skiprange", "<1", "has to be olm.skipRange"],
    ["without a deployment", CSV, "spec/install/spec/deployments", [], "there is no deployment to install"],
    ["with another strategy", CSV, "spec/install/strategy", "helm", "spec.install.strategy has to be deployment"],
    ["with an image that is none", CSV, "spec/relatedImages/0/image", "A b", 'the related image "A b" is no image'],
    ["with two icons", CSV, "spec/icon", [], "there is one icon"],
    ["that owns what it lacks", CSV, "spec/customresourcedefinitions/owned/0/version", "v2", "is not in the bundle"],
    [
      "that has what it does not own",
      CSV,
      "spec/customresourcedefinitions/owned",
      [],
      "is in the bundle and not owned",
    ],
    ["with an old definition", CRD, "apiVersion", "apiextensions.k8s.io/v1beta1", "is not served any more"],
    ["with a misnamed definition", CRD, "metadata/name", "rates.example.com", "has to be <plural>.<group>"],
    ["with nothing stored", CRD, "spec/versions/0/storage", false, "exactly one version is stored"],
  ])("%s", (_how, file, path, value, message) => {
    const { errors } = validateBundle(spoilt(file, (object) => put(object, path, value)));
    expect(errors.join("\n")).toContain(message);
  });

  it.each<[string, (key: string) => string, string]>([
    ["without channels", (key) => (key.endsWith("channels.v1") ? "" : "x"), "channels.v1 is empty"],
    ["with another media type", () => "plain", "mediatype.v1 has to be registry+v1"],
    ["whose image is labelled otherwise", (key) => (key.endsWith("package.v1") ? "y" : "x"), "the image has no label"],
  ])("%s", (_how, value, message) => {
    const changed = spoilt("metadata/annotations.yaml", ({ annotations }) => ({
      annotations: Object.fromEntries(Object.keys(annotations ?? {}).map((key) => [key, value(key)])),
    }));
    expect(validateBundle(changed).errors.join("\n")).toContain(message);
  });

  it.each<[string, GeneratedFile, string]>([
    ["an account that is made anyway", file("ServiceAccount", {}), "is made by the ClusterServiceVersion already"],
    ["a budget that allows nothing", file("PodDisruptionBudget", { spec: { maxUnavailable: 0 } }), "maxUnavailable"],
    ["a class for all", file("PriorityClass", { globalDefault: true }), "cannot be the default of all"],
    ["a second version", file("ClusterServiceVersion", {}), "this one has 2"],
    ["two objects in a file", { name: "manifests/two.yaml", text: "a: 1\n---\nb: 1\n" }, "cannot be decoded"],
    ["a folder", { name: "manifests/more/one.yaml", text: "kind: Service\n" }, "contains another folder"],
    ["far too much", { name: "manifests/big.yaml", text: toYaml({ data: noise(2_000_000) }) }, "bytes when compressed"],
  ])("with %s", (_what, more, message) => {
    expect(validateBundle([...olmBundle(INPUT), more]).errors.join("\n")).toContain(message);
  });

  it.each([
    [{ type: "Webhook" }, "there is no webhook of the type Webhook"],
    [{ deploymentName: "other" }, "has no deployment"],
    [{ webhookPath: "check" }, "has no path"],
    [{ sideEffects: "Some" }, "has side effects"],
    [
      { type: "ConversionWebhook", conversionCRDs: ["other.example.com"] },
      "other.example.com is converted and not owned",
    ],
    [{ type: "ConversionWebhook", conversionCRDs: [] }, "converts nothing"],
  ])("with a webhook that is wrong: %j", (change, message) => {
    const webhook = {
      type: "ValidatingAdmissionWebhook",
      generateName: "check.rates.lotse.dev",
      deploymentName: "exchange-rates",
      webhookPath: "/validate/check",
      containerPort: 443,
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    const withWebhook = (more: object) =>
      spoilt(CSV, (object) => put(object, "spec/webhookdefinitions", [{ ...webhook, ...more }]));
    expect(validateBundle(withWebhook({})).errors).toEqual([]);
    expect(validateBundle(withWebhook(change)).errors.join("\n")).toContain(message);
  });

  it("with rights to write definitions, as far as to warn", () => {
    const needs = [{ ...need("customresourcedefinitions", true), group: "apiextensions.k8s.io", verbs: ["create"] }];
    expect(validateBundle(olmBundle({ ...INPUT, needs })).warnings).toContain(
      "the operator may write definitions, which is the lifecycle manager's business",
    );
  });
});

function file(kind: string, more: object): GeneratedFile {
  return { name: `manifests/${kind}.yaml`, text: toYaml({ kind, metadata: { name: "exchange-rates" }, ...more }) };
}

/** Text that cannot be compressed much, the same each time. */
function noise(length: number): string {
  let seed = 1;
  let text = "";
  while (text.length < length) {
    seed = (seed * 48_271) % 0x7f_ff_ff_ff;
    text += seed.toString(36);
  }
  return text;
}
