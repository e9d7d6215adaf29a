/**
 * The same operator as in tests/cli/deploy.test.ts, on a real server: what its code asks for is what such a server wants to
 * see allowed, no more and no less.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, ConfigMap, Pod } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { untilFurnished } from "../../packages/client/src/test-namespace.ts";
import { deploy, HANDLER_RIGHTS, KERNEL_TS, OPERATOR_TS, rightsIn, withhold } from "../deployed-handlers.ts";
import { run, startCluster, type TestCluster } from "../fixture.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOTSE = path.join(ROOT, "packages/lotse/bin/lotse.js");

const probe = (name: string) => {
  return { apiVersion: "probes.example.com/v1", kind: "Probe", metadata: { name }, spec: { pod: "lamp" } };
};

/** There is no kubelet, hence somebody else has to say that it runs; the server then looks for its node in vain. */
async function createRunning(admin: Client): Promise<void> {
  await untilFurnished(admin);
  const pod = Pod.gen({ name: "lamp", image: "busybox" });
  Object.assign(pod.body.spec ?? {}, { nodeName: "nowhere" });
  await admin.create(pod);
  const startedAt = new Date().toISOString().replace(/\.\d+/, "");
  const running = {
    name: "lamp",
    ready: true,
    restartCount: 0,
    image: "busybox",
    imageID: "",
    state: { running: { startedAt } },
  };
  await pod.patchStatus({ phase: "Running", containerStatuses: [running] });
}

describe("handlers that nobody has recorded, deployed to a real cluster", () => {
  let folder: string;
  let cluster: TestCluster;
  let admin: Client;
  let kubeconfig: string;

  beforeAll(async () => {
    // Inside the repository, whose TypeScript and packages it finds.
    mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
    folder = mkdtempSync(path.join(ROOT, ".lotse", "deploy-"));
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(path.join(folder, "operator.ts"), OPERATOR_TS);
    writeFileSync(path.join(folder, "kernel.ts"), KERNEL_TS);
    cluster = await startCluster("real");
    admin = await cluster.connect();
    await createRunning(admin);
    const { stdout, stderr } = await run(process.execPath, [LOTSE, "generate", "deploy", "operator.ts"], {
      cwd: folder,
    });
    expect(stderr).toBe("");
    expect(rightsIn(stdout)).toEqual(expect.arrayContaining(HANDLER_RIGHTS));
    await deploy(admin, stdout);
    const { stdout: token } = await cluster.kubectl(["create", "token", "probes"]);
    const config = structuredClone(cluster.kubeconfig) as { users: { user: object }[] };
    for (const one of config.users) one.user = { token: token.trim() };
    kubeconfig = path.join(folder, "kubeconfig");
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  }, 180_000);

  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the operator for as long as `work` takes; gives what it logged. */
  async function withOperator(work: (log: () => string) => Promise<void>): Promise<string> {
    const child = spawn(process.execPath, [LOTSE, "run", "operator.ts", "--log-format", "json"], {
      cwd: folder,
      env: { ...process.env, KUBECONFIG: kubeconfig, LOTSE_RUN_INSTALL_CRDS: "false" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    try {
      await work(() => log);
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
    return log;
  }

  it("do their whole job with the generated role", async () => {
    const log = await withOperator(async () => {
      await admin.create(probe("one"));
      await admin.wait("probes.probes.example.com", "one", ({ labels }) => labels.looked === "yes", {
        timeout: "60s",
      });
      await vi.waitFor(
        async () => expect((await admin.get(ConfigMap, "one")).data).toEqual({ said: "nobody" }),
        60_000,
      );
    });
    expect(log).not.toMatch(/forbidden|permission/i);
  }, 120_000);

  it.each([
    ["create", "configmaps", /cannot create resource \\"configmaps\\"/],
    ["get", "pods", /cannot get resource \\"pods\\"/],
    // A real server asks about this one late, and has few words for it.
    ["create", "pods/exec", /pods \\"lamp\\" is forbidden/],
  ])(
    "do not without the right to %s %s, and say so",
    async (verb, resource, refused) => {
      const giveBack = await withhold(admin, resource, verb);
      const name = `without-${verb}-${resource.replace("/", "-")}`;
      try {
        await withOperator(async (log) => {
          await admin.create(probe(name));
          await vi.waitFor(() => expect(log()).toMatch(refused), 60_000);
        });
      } finally {
        await giveBack();
        await admin.delete("probes.probes.example.com", name);
      }
    },
    120_000,
  );
});
