/**
 * `lotse generate deploy | kubectl apply -f -` of an operator that judges, rules and converts: on an empty cluster, and
 * where its kind has had one version so far. It has nothing but the token of its ServiceAccount, and the API server reaches
 * it by its Service.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { type Client, CustomResourceDefinition, Secret, Service } from "lotse/client";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type ClusterKind, run, startCluster, type TestCluster } from "../fixture.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOTSE = path.join(ROOT, "packages/lotse/bin/lotse.js");
const NAMESPACE = "shopping";

const beginning = (kind: string) => `
import { Operator, resource } from "lotse";
import { z } from "zod";
const old = z.object({ size: z.string() });
const operator = new Operator({ name: "${kind.toLowerCase()}s", crds: "install" });
export default operator;
`;

/** As it was: one version, nothing judged. */
const oneVersion = (kind: string) => `${beginning(kind)}
const Kind = resource({ group: "example.com", version: "v1beta1", kind: "${kind}", spec: old });
operator.on.create(Kind, async function open() {});
`;

/** As it is: two versions, and requests are judged. */
const twoVersions = (kind: string) => `${beginning(kind)}
const Kind = resource({
  group: "example.com",
  kind: "${kind}",
  versions: {
    v1beta1: { spec: old },
    v1: { spec: z.object({ size: z.number(), colour: z.string().optional() }), storage: true },
  },
  convert: {
    v1beta1: {
      to: (stored) => ({ spec: { size: Number(stored.spec.size) } }),
      from: (stored) => ({ spec: { size: String(stored.spec.size) } }),
    },
  },
});
operator.on.create(Kind, async function open() {});
operator.on.validate(Kind, function checkSize({ spec, warn }) {
  if (spec.size > 100) throw new Error("never told");
  if (spec.size > 50) warn("that is large");
});
operator.on.mutate(Kind, function fillIn({ spec, patch }) {
  if (spec.colour === undefined) patch.spec.colour = "red";
});
operator.policy(Kind, { id: "positive", rules: [{ expression: "object.spec.size > 0", message: "a shop has a size" }] });
`;

interface Manifest {
  readonly kind: string;
  readonly spec?: { template?: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

describe.each<ClusterKind>(["embedded", "real"])("an operator with webhooks, deployed to the %s cluster", (kind) => {
  let folder: string;
  let cluster: TestCluster;
  let admin: Client;
  const running: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = [];

  beforeAll(async () => {
    // Inside the repository, whose packages it finds.
    mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
    folder = mkdtempSync(path.join(ROOT, ".lotse", "webhooks-"));
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    cluster = await startCluster(kind, { tls: true });
    admin = await cluster.connect();
    await kubectl(["create", "namespace", NAMESPACE]);
  }, 180_000);

  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill("SIGTERM");
      await ended;
    }
  }, 60_000);

  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function kubectl(args: readonly string[], stdin = ""): Promise<string> {
    const outcome = await cluster.kubectl(args, { stdin });
    expect(outcome, `kubectl ${args.join(" ")}`).toMatchObject({ exitCode: 0 });
    return outcome.stdout;
  }

  const tried = (manifest: object) =>
    cluster.kubectl(["apply", "--dry-run=server", "-o", "json", "-f", "-"], { stdin: JSON.stringify(manifest) });

  /** An API server takes a moment until it goes by new webhooks and policies, and by each of them in its own time. */
  async function inForce(kind: string): Promise<void> {
    await vi.waitFor(
      async () => {
        expect((await tried(object(kind, "v1", "huge", 101))).stderr).toContain("denied the request");
        expect((await tried(object(kind, "v1", "none", -1))).stderr).toContain("a shop has a size");
        expect((await tried(object(kind, "v1", "some", 7))).stdout).toContain('"red"');
      },
      { timeout: 170_000, interval: 200 },
    );
  }

  async function deploy(source: string, ...flags: string[]): Promise<Manifest[]> {
    writeFileSync(path.join(folder, "operator.ts"), source);
    const args = [LOTSE, "generate", "deploy", "operator.ts", "-n", NAMESPACE, ...flags];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder });
    expect(stderr).toBe("");
    await kubectl(["apply", "-f", "-"], stdout);
    return loadAll(stdout) as Manifest[];
  }

  /** As its Deployment starts it. The cluster has no network: its Service leads to this machine instead of a pod. */
  async function start(name: string, manifests: readonly Manifest[]): Promise<() => string> {
    const port = await freePort();
    await admin.delete(Service, `${name}-webhooks`, { namespace: NAMESPACE });
    const metadata = { name: `${name}-webhooks`, namespace: NAMESPACE };
    await admin.create(new Service({ metadata, spec: { type: "ExternalName", externalName: "localhost" } }));
    const token = await kubectl(["create", "token", name, "-n", NAMESPACE]);
    const config = structuredClone(cluster.kubeconfig) as { users: { user: object }[] };
    for (const one of config.users) one.user = { token: token.trim() };
    const kubeconfig = path.join(folder, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    const { env = [] } = manifests.find((one) => one.kind === "Deployment")?.spec?.template?.spec.containers[0] ?? {};
    const child = spawn(process.execPath, [LOTSE, "run", "operator.ts", "--log-format", "json"], {
      cwd: folder,
      env: {
        ...process.env,
        ...Object.fromEntries(env.flatMap((one) => (one.value === undefined ? [] : [[one.name, one.value]]))),
        // What the downward API would say.
        POD_NAMESPACE: NAMESPACE,
        LOTSE_RUN_LIVENESS: "http://127.0.0.1:0/healthz",
        LOTSE_RUN_EXPLAIN: "http://127.0.0.1:0",
        LOTSE_RUN_WEBHOOK_SERVICE: `${NAMESPACE}/${name}-webhooks:${port}`,
        LOTSE_RUN_WEBHOOK_PORT: String(port),
        LOTSE_RUN_WEBHOOK_HOST: "127.0.0.1",
        KUBECONFIG: kubeconfig,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    running.push({ child, ended });
    const early = ended.then((code) => Promise.reject(new Error(`the operator ended with ${code}:\n${log}`)));
    // Also when it ends later, as it is asked to.
    early.catch(() => {});
    const ready = vi.waitFor(() => expect(log).toContain("the operator is ready"), { timeout: 90_000, interval: 50 });
    await Promise.race([ready, early]);
    return () => log;
  }

  const object = (kindName: string, version: string, name: string, size: unknown) => ({
    apiVersion: `example.com/${version}`,
    kind: kindName,
    metadata: { name, namespace: "default" },
    spec: { size },
  });

  const sizeOf = async (resource: string, name: string) =>
    kubectl(["get", resource, name, "-n", "default", "-o", "jsonpath={.spec.size} {.spec.colour}"]);

  it("works on a cluster that has never seen it, with the rights of its role", { timeout: 240_000 }, async () => {
    const manifests = await deploy(twoVersions("Shop"));
    const log = await start("shops", manifests);
    await inForce("Shop");
    await kubectl(["apply", "-f", "-"], JSON.stringify(object("Shop", "v1", "new", 7)));
    await kubectl(["apply", "-f", "-"], JSON.stringify(object("Shop", "v1beta1", "old", "8")));
    expect(await sizeOf("shops.v1.example.com", "new")).toBe("7 red");
    expect(await sizeOf("shops.v1beta1.example.com", "new")).toBe("7 ");
    expect(await sizeOf("shops.v1.example.com", "old")).toBe("8 red");
    const secret = await admin.get(Secret, "shops-webhooks", { namespace: NAMESPACE });
    expect(secret.labels["app.kubernetes.io/managed-by"]).toBe("lotse");
    expect(log()).not.toMatch(/forbidden|permissions are missing|cannot be watched/i);
  });

  it("takes over a kind that has had one version, and its objects", { timeout: 240_000 }, async () => {
    await deploy(oneVersion("Stall"));
    await kubectl(["wait", "--for=condition=Established", "crd/stalls.example.com"]);
    await vi.waitFor(() => kubectl(["apply", "-f", "-"], JSON.stringify(object("Stall", "v1beta1", "first", "3"))), {
      timeout: 170_000,
      interval: 200,
    });
    const manifests = await deploy(twoVersions("Stall"));
    // Nothing is relabelled meanwhile: what would have to be converted fails until the operator is there.
    const { stderr } = await cluster.kubectl(["get", "stalls.v1.example.com", "-A"], {});
    expect(stderr).toContain("conversion webhook");
    await start("stalls", manifests);
    expect(await sizeOf("stalls.v1.example.com", "first")).toBe("3 ");
    expect(await sizeOf("stalls.v1beta1.example.com", "first")).toBe("3 ");
    const { body } = await admin.get(CustomResourceDefinition, "stalls.example.com");
    expect(body.spec.conversion?.webhook?.clientConfig?.caBundle).toBeTypeOf("string");
  });

  it("keeps its authority in manifests that others apply, without a right to create any", {
    timeout: 240_000,
  }, async () => {
    const manifests = await deploy(twoVersions("Booth"), "--webhooks", "manifests");
    const log = await start("booths", manifests);
    await inForce("Booth");
    await kubectl(["apply", "-f", "-"], JSON.stringify(object("Booth", "v1", "new", 7)));
    expect(await sizeOf("booths.v1beta1.example.com", "new")).toBe("7 ");
    expect(log()).not.toMatch(/forbidden|permissions are missing|cannot be watched/i);
  });
});
