/** What `lotse generate` makes for an operator that judges, rules and converts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { load, loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { validateBundle } from "../../generate/test-olm-rules.ts";
import { main } from "../main.ts";
import { rememberedCode, testIo } from "../terminal/test-io.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

const FILES: Readonly<Record<string, string>> = {
  "package.json": '{"type":"module","version":"1.0.0"}',
  "shops.ts": `
import { Operator, resource } from "lotse";
import { ConfigMap } from "lotse/client";
import { z } from "zod";
export const Shop = resource({
  group: "example.com",
  kind: "Shop",
  versions: {
    v1beta1: { spec: z.object({ size: z.string() }) },
    v1: { spec: z.object({ size: z.number() }), storage: true },
  },
  convert: {
    v1beta1: {
      to: (old) => ({ spec: { size: Number(old.spec.size) } }),
      from: (stored) => ({ spec: { size: String(stored.spec.size) } }),
    },
  },
});
const operator = new Operator({ name: "shops", crds: "install" });
operator.on.create(Shop, async function open() {});
operator.on.validate(Shop, async function checkSize({ client, spec }) {
  await client.get(ConfigMap, "limits");
  if (spec.size > 100) throw new Error("too large");
});
operator.on.mutate(Shop, function fillIn({ patch }) {
  patch.spec.size = 1;
});
operator.policy(Shop, { id: "positive", rules: [{ expression: "object.spec.size > 0", message: "a shop has a size" }] });
export default operator;
`,
  "open.ts": `
import { Operator } from "lotse";
const operator = new Operator({ name: "open" });
operator.on.validate("things", function check() {});
export default operator;
`,
  "judges.ts": `
import { Operator } from "lotse";
import { Shop } from "./shops.ts";
const operator = new Operator({ name: "judges" });
operator.on.validate(Shop, function checkSize() {});
operator.on.mutate(Shop, { labels: { tier: "gold" }, ignoreFailures: true }, function fillIn() {});
export default operator;
`,
  "picky.ts": `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "picky" });
operator.on.validate(ConfigMap, { matchConditions: ["size(object.data) > 1"] }, function check() {});
export default operator;
`,
  "rules.ts": `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "rules" });
operator.policy(ConfigMap, { id: "small", rules: [{ expression: "size(object.data) < 10" }] });
export default operator;
`,
};

let cwd: string;
const code = rememberedCode();

beforeAll(async () => {
  mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
  cwd = mkdtempSync(path.join(ROOT, ".lotse", "generate-"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(cwd, name), text);
  await main(["generate", "crd", "shops.ts"], testIo({ cwd, code }));
}, 300_000);

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; annotations?: Record<string, string> };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  // biome-ignore lint/suspicious/noExplicitAny: manifests of all kinds
  readonly spec?: any;
  // biome-ignore lint/suspicious/noExplicitAny: manifests of all kinds
  readonly webhooks?: any[];
}

async function call(...argv: string[]) {
  const io = testIo({ cwd, code });
  const exitCode = await main(["generate", ...argv], io);
  return {
    code: exitCode,
    err: io.err(),
    out: io.out(),
    get manifests(): Manifest[] {
      return exitCode === 0 ? (loadAll(io.out()) as Manifest[]) : [];
    },
  };
}

// What is only here for webhooks: nothing about Leases.
const deploy = (...argv: string[]) => call("deploy", "shops.ts", "-n", "shopping", "--coordination", "alone", ...argv);

const rights = (manifests: readonly Manifest[], kind: string) =>
  manifests
    .filter((one) => one.kind === kind)
    .flatMap(({ rules = [] }) =>
      rules.flatMap(({ resources, verbs, resourceNames }) =>
        resources.map((one) => `${one}: ${verbs.join(" ")}${resourceNames ? ` of ${resourceNames.join(" ")}` : ""}`),
      ),
    );

/** What a later version of the operator goes by. */
const NOTE = ["leases: delete get patch of shops-registered", "leases: create"];

const variables = (manifests: readonly Manifest[]) =>
  Object.fromEntries(
    (
      manifests.find(({ kind }) => kind === "Deployment")?.spec.template.spec.containers[0].env as
        | { name: string; value?: string }[]
        | undefined
    )
      ?.filter(({ name }) => /WEBHOOK|CERTIFICATES|REGISTER/.test(name))
      .map(({ name, value }) => [name, value]) ?? [],
  );

describe("lotse generate deploy", { timeout: 300_000 }, () => {
  it("lets an operator register itself: a Service, a port, a Secret, and rights by name", async () => {
    const { manifests, err } = await deploy();
    expect(err).toBe("");
    expect(manifests.map(({ kind }) => kind)).toEqual([
      "CustomResourceDefinition",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "Service",
      "NetworkPolicy",
      "Deployment",
    ]);
    expect(rights(manifests, "Role")).toEqual(["secrets: get update of shops-webhooks", "secrets: create", ...NOTE]);
    expect(manifests.find(({ kind }) => kind === "Role")?.metadata.namespace).toBe("shopping");
    expect(
      rights(manifests, "ClusterRole")
        .filter((one) => /webhook|polic|definition|configmaps/.test(one))
        .sort(),
    ).toEqual([
      "configmaps: get",
      "customresourcedefinitions: list patch watch of shops.example.com",
      "mutatingwebhookconfigurations: create list watch",
      "mutatingwebhookconfigurations: delete get patch of shops.lotse.dev",
      "validatingadmissionpolicies: create list watch",
      "validatingadmissionpolicies: delete patch of positive.shops.lotse.dev",
      "validatingadmissionpolicybindings: create list watch",
      "validatingadmissionpolicybindings: delete patch of positive.shops.lotse.dev",
      "validatingwebhookconfigurations: create list watch",
      "validatingwebhookconfigurations: delete get patch of shops.lotse.dev",
    ]);
    expect(rights(manifests, "ClusterRole")).not.toContain("shops: patch");
    expect(manifests.find(({ kind }) => kind === "Service")).toMatchObject({
      metadata: { name: "shops-webhooks", namespace: "shopping" },
      spec: {
        publishNotReadyAddresses: true,
        selector: { "app.kubernetes.io/name": "shops" },
        ports: [{ port: 443, targetPort: "webhooks" }],
      },
    });
    const [container] = manifests.find(({ kind }) => kind === "Deployment")?.spec.template.spec.containers ?? [];
    expect(container.ports).toContainEqual({ name: "webhooks", containerPort: 9443 });
    expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "health" });
    expect(variables(manifests)).toEqual({
      LOTSE_RUN_WEBHOOK_SERVICE: "shopping/shops-webhooks:443",
      LOTSE_RUN_WEBHOOK_PORT: "9443",
    });
    const policy = manifests.find(({ kind }) => kind === "NetworkPolicy");
    expect(policy?.spec.ingress[0].ports.map(({ port }: { port: number }) => port)).toEqual([8080, 9443]);
  });

  it("names the converter in the definition from the first moment on", async () => {
    const { manifests } = await deploy();
    const conversion = {
      strategy: "Webhook",
      webhook: {
        clientConfig: {
          service: { namespace: "shopping", name: "shops-webhooks", port: 443, path: "/convert/shops.example.com" },
        },
        conversionReviewVersions: ["v1"],
      },
    };
    expect(manifests[0]?.spec.conversion).toEqual(conversion);
    const { manifests: crds } = await call("crd", "shops.ts", "-n", "shopping");
    expect(crds).toEqual([manifests[0]]);
  });

  it("makes manifests of webhooks and policies, applied last; then no right to create any of them is given", async () => {
    const { manifests } = await deploy("--webhooks", "manifests");
    expect(manifests.slice(-5).map(({ kind }) => kind)).toEqual([
      "Deployment",
      "ValidatingWebhookConfiguration",
      "MutatingWebhookConfiguration",
      "ValidatingAdmissionPolicy",
      "ValidatingAdmissionPolicyBinding",
    ]);
    const validating = manifests.find(({ kind }) => kind === "ValidatingWebhookConfiguration");
    expect(validating?.webhooks).toMatchObject([
      {
        name: "check-size.shops.lotse.dev",
        clientConfig: {
          service: { namespace: "shopping", name: "shops-webhooks", port: 443, path: "/validate/check-size" },
        },
        namespaceSelector: {
          matchExpressions: [
            { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "shopping"] },
          ],
        },
      },
    ]);
    expect(validating?.webhooks?.[0].clientConfig).not.toHaveProperty("caBundle");
    expect(
      rights(manifests, "ClusterRole").filter((one) => /webhook|polic/.test(one) && /create|delete/.test(one)),
    ).toEqual([]);
    expect(rights(manifests, "ClusterRole")).toContain("validatingwebhookconfigurations: patch of shops.lotse.dev");
    expect(variables(manifests)).not.toHaveProperty("LOTSE_RUN_REGISTER");
  });

  it("leaves certificates to cert-manager, with an authority that outlives them, and gives the operator no right at all", async () => {
    const { manifests } = await deploy("--certificates", "cert-manager");
    expect(rights(manifests, "ClusterRole").filter((one) => /webhook|polic|definition/.test(one))).toEqual([]);
    expect(rights(manifests, "Role")).toEqual([]);
    const managed = manifests.filter(({ apiVersion }) => apiVersion === "cert-manager.io/v1");
    expect(managed.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
      "Issuer shopping/shops-self-signed",
      "Certificate shopping/shops-authority",
      "Issuer shopping/shops-authority",
      "Certificate shopping/shops-webhooks",
    ]);
    expect(managed[1]?.spec).toMatchObject({
      isCA: true,
      secretName: "shops-authority",
      issuerRef: { name: "shops-self-signed" },
    });
    expect(managed[2]?.spec).toEqual({ ca: { secretName: "shops-authority" } });
    expect(managed[3]?.spec).toMatchObject({
      secretName: "shops-webhooks",
      dnsNames: ["shops-webhooks.shopping.svc", "shops-webhooks.shopping.svc.cluster.local"],
      issuerRef: { name: "shops-authority", kind: "Issuer" },
    });
    const injected = manifests.filter(({ metadata }) => metadata.annotations?.["cert-manager.io/inject-ca-from"]);
    expect(injected.map(({ kind }) => kind)).toEqual([
      "CustomResourceDefinition",
      "ValidatingWebhookConfiguration",
      "MutatingWebhookConfiguration",
    ]);
    expect(injected[0]?.metadata.annotations?.["cert-manager.io/inject-ca-from"]).toBe("shopping/shops-webhooks");
    expect(variables(manifests)).toMatchObject({ LOTSE_RUN_CERTIFICATES: "cert-manager", LOTSE_RUN_REGISTER: "false" });
    const pod = manifests.find(({ kind }) => kind === "Deployment")?.spec.template.spec;
    expect(pod.volumes).toEqual([{ name: "certificates", secret: { secretName: "shops-webhooks" } }]);
    expect(pod.containers[0].volumeMounts).toEqual([
      { name: "certificates", mountPath: "/var/run/secrets/lotse/webhooks", readOnly: true },
    ]);
  });

  it("mounts a Secret that another program fills", async () => {
    const { manifests } = await deploy("--certificates", "shops-tls");
    expect(rights(manifests, "Role")).toEqual(NOTE);
    expect(variables(manifests)).toMatchObject({ LOTSE_RUN_CERTIFICATES: "/var/run/secrets/lotse/webhooks" });
    const pod = manifests.find(({ kind }) => kind === "Deployment")?.spec.template.spec;
    expect(pod.volumes).toEqual([{ name: "certificates", secret: { secretName: "shops-tls" } }]);
  });

  it("needs no server for policies", async () => {
    const { manifests } = await call("deploy", "rules.ts", "--coordination", "alone");
    expect(manifests.map(({ kind }) => kind)).toEqual([
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "NetworkPolicy",
      "Deployment",
    ]);
    expect(variables(manifests)).toEqual({});
  });

  it("says in the comments of rules what they are for", async () => {
    const { out } = await call("rbac", "shops.ts");
    for (const by of [
      "# the framework: keeps the certificate of its webhook server\n",
      "# the framework: tells the API server of its webhooks\n",
      "# the framework: tells the API server of its policies\n",
    ])
      expect(out).toContain(by);
    const { out: waiting } = await deploy();
    expect(waiting).toContain("# the framework: tells the API server where objects are converted\n");
  });

  it.each([
    [
      ["shops.ts", "--certificates", "cert-manager", "--webhooks", "operator"],
      "--certificates cert-manager and --webhooks operator exclude each other",
    ],
    [["open.ts", "--webhooks", "manifests"], 'there is no manifest for "check"'],
    [["shops.ts", "--certificates", "/etc/certificates"], "--certificates /etc/certificates is no name of a Secret"],
  ])("refuses %j in three lines", async (argv, what) => {
    const { code: exitCode, err } = await call("deploy", ...argv);
    expect(exitCode).toBe(2);
    const lines = err
      .trimEnd()
      .split("\n")
      .filter((line) => !/^(Warning|Do: {6}|Note):/.test(line));
    expect(lines.slice(-3).map((line) => line.slice(0, 7))).toEqual(["Error: ", "Why:   ", "Do:    "]);
    expect(err).toContain(`Error: ${what}\n`);
  });
});

describe("lotse generate helm", { timeout: 300_000 }, () => {
  const files = async (...argv: string[]) => {
    const { out, err, code: exitCode } = await call("helm", "shops.ts", ...argv);
    const parts = out.split(/^# Source: (.*)$/m).slice(1);
    const texts = new Map<string, string>();
    for (let at = 0; at < parts.length; at += 2) texts.set(parts[at] ?? "", parts[at + 1] ?? "");
    return { err, exitCode, file: (name: string) => texts.get(name) ?? "", names: [...texts.keys()] };
  };

  it("has a Service, certificates by choice, and rights on the Secret for those who make their own", async () => {
    const { file, names } = await files();
    expect(names).toContain("templates/service.yaml");
    expect(names).toContain("templates/certificates.yaml");
    expect(load(file("values.yaml").replace(/\n---\s*$/, ""))).toMatchObject({
      webhooks: { port: 9443, certificates: { mode: "own", secretName: "" } },
    });
    expect(file("templates/service.yaml")).toContain("publishNotReadyAddresses: true");
    expect(file("templates/deployment.yaml")).toContain("containerPort: {{ .Values.webhooks.port }}");
    expect(file("templates/networkpolicy.yaml")).toContain("port: {{ .Values.webhooks.port }}");
    const rbac = file("templates/rbac.yaml");
    const [before = "", own = ""] = rbac.split('{{- if eq .Values.webhooks.certificates.mode "own" }}');
    expect(before).not.toContain("secrets");
    expect(before).toContain("validatingwebhookconfigurations");
    expect(own).toContain("secrets");
  });

  it("asks the user of the chart who makes the certificate, and takes the answer of the flag as a default", async () => {
    const { file } = await files("--certificates", "shops-tls");
    expect(file("values.yaml")).toContain("mode: secret\n    secretName: shops-tls");
    const { err, exitCode } = await files("--webhooks", "manifests");
    expect(exitCode).toBe(2);
    expect(err).toContain("Error: --webhooks manifests is not for helm\nWhy:   the namespace is known when a chart");
  });

  it("knows nothing of webhooks for an operator without any", async () => {
    const { out } = await call("helm", "rules.ts");
    expect(out).not.toMatch(/\.Values\.webhooks|certificates|kind: Service$/m);
    // A chart that reads values which it does not have fails when it is rendered.
    expect(out).toContain('  name: {{ include "rules.fullname" . }}-own\n');
  });
});

describe("lotse generate olm", { timeout: 300_000 }, () => {
  it("names webhooks and conversions, and leaves certificates and registration to the lifecycle manager", async () => {
    const { out, err } = await call("olm", "judges.ts");
    expect(err).toBe("");
    const parts = out.split(/^# Source: (.*)$/m).slice(1);
    const files = parts.flatMap((name, at) =>
      at % 2 === 0 ? [{ name, text: (parts[at + 1] ?? "").replace(/\n---\s*$/, "\n") }] : [],
    );
    expect(validateBundle(files)).toEqual({ errors: [], warnings: ["there is no icon"] });
    const csv = load(files.find(({ name }) => name.includes("clusterserviceversion"))?.text ?? "") as Manifest;
    expect(csv.spec.webhookdefinitions).toMatchObject([
      {
        type: "ValidatingAdmissionWebhook",
        generateName: "check-size.judges.lotse.dev",
        webhookPath: "/validate/check-size",
        deploymentName: "judges",
        containerPort: 443,
        targetPort: 9443,
        failurePolicy: "Fail",
        sideEffects: "None",
      },
      {
        type: "MutatingAdmissionWebhook",
        webhookPath: "/mutate/fill-in",
        failurePolicy: "Ignore",
        objectSelector: { matchLabels: { tier: "gold" } },
        reinvocationPolicy: "Never",
      },
      { type: "ConversionWebhook", webhookPath: "/convert/shops.example.com", conversionCRDs: ["shops.example.com"] },
    ]);
    expect(csv.spec.installModes.filter((one: { supported: boolean }) => one.supported)).toEqual([
      { type: "AllNamespaces", supported: true },
    ]);
    expect(JSON.stringify(csv.spec.install)).not.toMatch(/webhookconfigurations|secrets|customresourcedefinitions"/);
    expect(csv.spec.install.spec.deployments[0].spec.template.spec.containers[0].env).toEqual(
      expect.arrayContaining([
        { name: "LOTSE_RUN_CERTIFICATES", value: "/tmp/k8s-webhook-server/serving-certs" },
        { name: "LOTSE_RUN_REGISTER", value: "false" },
      ]),
    );
  });

  it.each([
    ["shops.ts", [], "a bundle cannot hold admission policies, and the operator has positive.shops.lotse.dev"],
    ["picky.ts", [], "a bundle cannot hold the conditions of the webhook check.picky.lotse.dev"],
    ["open.ts", [], 'a bundle cannot hold "check", whose kinds only a cluster can tell'],
    ["judges.ts", ["--certificates", "own"], "--certificates is not for olm"],
  ])("says what a bundle has no words for: %s", async (file, more, what) => {
    const { code: exitCode, err } = await call("olm", file, ...more);
    expect(exitCode).not.toBe(0);
    expect(err).toContain(what);
  });
});
