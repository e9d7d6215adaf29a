/** The chart of an operator that judges and converts, in the hands of Helm. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../run.ts";
import { useHelm } from "./helm-session.ts";
import { helmVersions } from "./kubectl.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const OPERATOR = `
import { Operator, resource } from "lotse";
import { z } from "zod";
const Shop = resource({
  group: "example.com",
  kind: "Shop",
  versions: { v1beta1: { spec: z.object({ size: z.string() }) }, v1: { spec: z.object({ size: z.number() }), storage: true } },
  convert: {
    v1beta1: {
      to: (old) => ({ spec: { size: Number(old.spec.size) } }),
      from: (stored) => ({ spec: { size: String(stored.spec.size) } }),
    },
  },
});
const operator = new Operator({ name: "shops", crds: "install" });
operator.on.create(Shop, async function open() {});
operator.on.validate(Shop, function checkSize() {});
export default operator;
`;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: manifests of all kinds
  readonly spec?: any;
}

let folder: string;

beforeAll(async () => {
  mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
  folder = mkdtempSync(path.join(ROOT, ".lotse", "chart-"));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(folder, "operator.ts"), OPERATOR);
  const lotse = path.join(ROOT, "packages/lotse/bin/lotse.js");
  const made = await run(process.execPath, [lotse, "generate", "helm", "operator.ts", "-o", "chart"], { cwd: folder });
  expect(made).toMatchObject({ exitCode: 0, stderr: "" });
});

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

describe.each(helmVersions())("Helm %s", (version) => {
  const { helm, ok } = useHelm(version);
  const chart = () => path.join(folder, "chart");
  const rendered = async (more = "") =>
    (loadAll(await ok(`template shops ${chart()} --namespace ops${more}`)) as (Manifest | null)[]).flatMap(
      (one) => one ?? [],
    );
  const named = (manifests: readonly Manifest[]) =>
    manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`).sort();
  const pod = (manifests: readonly Manifest[]) =>
    manifests.find(({ kind }) => kind === "Deployment")?.spec.template.spec;

  it("finds nothing to complain about, whoever makes the certificate", async () => {
    for (const mode of ["own", "cert-manager", "secret,webhooks.certificates.secretName=tls"]) {
      const said = await ok(`lint ${chart()} --strict --set webhooks.certificates.mode=${mode}`);
      expect(said, mode).toContain("0 chart(s) failed");
    }
  });

  it("has a Service and a role beside the operator by default", async () => {
    const manifests = await rendered();
    expect(named(manifests)).toEqual([
      "ClusterRole /shops",
      "ClusterRoleBinding /shops",
      "Deployment ops/shops",
      "NetworkPolicy ops/shops",
      "Role ops/shops-own",
      "RoleBinding ops/shops-own",
      "Service ops/shops-webhooks",
      "ServiceAccount ops/shops",
    ]);
    const [container] = pod(manifests).containers;
    expect(container.env).toContainEqual({ name: "LOTSE_RUN_WEBHOOK_SERVICE", value: "ops/shops-webhooks:443" });
    expect(container.ports).toContainEqual({ name: "webhooks", containerPort: 9443 });
    expect(pod(manifests)).not.toHaveProperty("volumes");
  });

  it("leaves the certificate to cert-manager", async () => {
    const manifests = await rendered(
      " --set webhooks.certificates.mode=cert-manager,coordination=alone,webhooks.port=8443",
    );
    expect(named(manifests).filter((one) => /^(Issuer|Certificate|Role) /.test(one))).toEqual([
      "Certificate ops/shops-webhooks",
      "Certificate ops/shops-webhooks-authority",
      "Issuer ops/shops-webhooks-authority",
      "Issuer ops/shops-webhooks-self-signed",
      "Role ops/shops-own", // for the Lease that says what is registered
    ]);
    expect(pod(manifests).volumes).toEqual([{ name: "certificates", secret: { secretName: "shops-webhooks" } }]);
    const [container] = pod(manifests).containers;
    expect(container.volumeMounts).toEqual([
      { name: "certificates", mountPath: "/var/run/secrets/lotse/webhooks", readOnly: true },
    ]);
    expect(container.env).toContainEqual({
      name: "LOTSE_RUN_CERTIFICATES",
      value: "/var/run/secrets/lotse/webhooks",
    });
    expect(container.ports).toContainEqual({ name: "webhooks", containerPort: 8443 });
    const { ports } = manifests.find(({ kind }) => kind === "NetworkPolicy")?.spec.ingress[0] ?? {};
    expect(ports).toContainEqual({ port: 8443, protocol: "TCP" });
  });

  it("mounts a Secret that is named, and asks for its name", async () => {
    const manifests = await rendered(" --set webhooks.certificates.mode=secret,webhooks.certificates.secretName=tls");
    expect(pod(manifests).volumes).toEqual([{ name: "certificates", secret: { secretName: "tls" } }]);
    const unnamed = await helm(`template shops ${chart()} --set webhooks.certificates.mode=secret`);
    expect(unnamed.exitCode).not.toBe(0);
    expect(unnamed.stderr).toContain("webhooks.certificates.secretName names the Secret with the certificate");
  });

  it("installs it", async () => {
    expect(await ok(`install shops ${chart()} --namespace ops --create-namespace`)).toContain("STATUS: deployed");
  });
});
