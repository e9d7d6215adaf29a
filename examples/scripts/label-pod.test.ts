import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, ConfigMap, type corev1, Pod } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** The file of a distribution, with everything that may not stand in a label as it is. */
const OS_RELEASE = `# what the container is made of
PRETTY_NAME="Lotse GNU/Linux 7 (pilot)"
NAME='Lotse GNU/Linux'

VERSION_ID="7"
VERSION="7 (pilot)"
_VERSION_CODENAME_=pilot
ID=lotse
HOME_URL="https://lotse.example.com/"
BUG_REPORT_URL=https://bugs.example.com/report?product=lotse&version=7&component=${"x".repeat(40)}
VARIANT=""
`;

const LABELS = {
  "os-release/PRETTY_NAME": "Lotse_GNU_Linux_7_pilot",
  "os-release/NAME": "Lotse_GNU_Linux",
  "os-release/VERSION_ID": "7",
  "os-release/VERSION": "7_pilot",
  "os-release/VERSION_CODENAME": "pilot",
  "os-release/ID": "lotse",
  "os-release/HOME_URL": "https_lotse.example.com",
  "os-release/BUG_REPORT_URL": "https_bugs.example.com_report_product_lotse_version_7_component",
  "os-release/VARIANT": "",
};

describe("the script that labels a pod", () => {
  let cluster: Cluster;
  let client: Client;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "lotse-script-"));
    await build({
      entryPoints: [fileURLToPath(new URL("label-pod.ts", import.meta.url))],
      outfile: path.join(folder, "label-pod.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      conditions: ["@lotse/source"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      logLevel: "silent",
    });
    cluster = await Cluster.start({ kubelet: "process" });
    await cluster.writeKubeconfig(path.join(folder, "kubeconfig"));
    client = await cluster.connect();
    await client.create(ConfigMap.gen({ name: "distribution", data: { "os-release": OS_RELEASE } }));
  });

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const pod = (name: string, container: Partial<corev1.Container> = {}) =>
    client.create(
      new Pod({
        metadata: { name, labels: { app: "web" } },
        spec: {
          terminationGracePeriodSeconds: 0,
          volumes: [{ name: "distribution", configMap: { name: "distribution" } }],
          containers: [
            {
              name: "main",
              image: "lotse",
              command: ["sleep", "1000"],
              volumeMounts: [{ name: "distribution", mountPath: "/etc/os-release", subPath: "os-release" }],
              ...container,
            },
          ],
        },
      }),
    );

  const script = (...args: string[]) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const env = { ...process.env, KUBECONFIG: path.join(folder, "kubeconfig") };
      execFile(process.execPath, [path.join(folder, "label-pod.mjs"), ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });

  it("prints the nine labels that the pod has afterwards", async () => {
    const web = await pod("web");
    await web.waitReady();
    const lines = Object.entries(LABELS).map(([key, value]) => `${key}=${value}\n`);
    expect(lines).toHaveLength(9);
    expect(await script("web")).toEqual({ code: 0, stdout: lines.join(""), stderr: "" });
    expect((await client.get(Pod, "web")).labels).toEqual({ app: "web", ...LABELS });
  });

  it("says that there is no such pod, or that it is not ready, and labels nothing", async () => {
    expect(await script("absent")).toEqual({
      code: 1,
      stdout: "",
      stderr: "there is no pod absent in the namespace default\n",
    });
    const slow = await pod("slow", { readinessProbe: { exec: { command: ["false"] } } });
    await slow.wait("jsonpath={.status.phase}=Running");
    expect(await script("slow")).toEqual({
      code: 1,
      stdout: "",
      stderr: "the pod slow is not ready\nkubectl describe pod slow\n",
    });
    expect((await client.get(Pod, "slow")).labels).toEqual({ app: "web" });
    expect(await script()).toMatchObject({ code: 2, stderr: "usage: label-pod NAME\n" });
  });

  it("says what the command said when it fails", async () => {
    const bare = await pod("bare", {
      volumeMounts: [{ name: "distribution", mountPath: "/etc/os-release", subPath: "x" }],
    });
    await bare.waitReady();
    const { code, stderr } = await script("bare");
    expect(code).toBe(1);
    expect(stderr).toContain("in container main of pod default/bare ended with code 1");
  });
});
