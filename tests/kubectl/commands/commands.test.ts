/** What people do with kubectl, with every kubectl that they still have. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../real/server-process.ts";
import { run } from "../../run.ts";
import { kubectlPath, kubectlVersions } from "../kubectl.ts";
import { configMap, definition, deployment, pod, program, rate } from "./objects.ts";
import { Player, type Row, wordsOf } from "./player.ts";
import { reads } from "./read.ts";
import { streams } from "./streams.ts";
import { waitsAndAccess } from "./wait.ts";
import { writes } from "./write.ts";

const tables: Readonly<Record<string, readonly Row[]>> = {
  reads,
  writes,
  "waits and asks who may": waitsAndAccess,
  "opens streams": streams,
};

describe.each(kubectlVersions())("kubectl %s", (version) => {
  let cluster: Cluster;
  let folder: string;
  let player: Player;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-commands-"));
    const [port = 0] = await freePorts(1);
    cluster = await Cluster.start({ kubelet: "process", rbac: true });
    const env = { KUBECONFIG: path.join(folder, "kubeconfig"), KUBECACHEDIR: path.join(folder, "cache") };
    await cluster.writeKubeconfig(env.KUBECONFIG);
    writeFileSync(path.join(folder, "hello.txt"), "moin");
    const node = (
      await run(kubectlPath(version), ["get", "nodes", "-o", "jsonpath={.items[0].metadata.name}"], { env })
    ).stdout;
    player = new Player(kubectlPath(version), env, { folder, node, port: String(port) });
    const service = (name: string, targetPort: number) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { selector: { app: name }, ports: [{ port: 80, targetPort }] },
    });
    const command = [process.execPath, "-e", program(port)];
    await player.play(["apply -f -", /created/, { stdin: [definition] }]);
    await player.play(["wait --for=condition=Established crd --all --timeout=10s", /met/]);
    const objects = [
      configMap("settings", { colour: "blue", size: "3" }),
      deployment("web", 2),
      service("web", 80),
      service("main", port),
      pod("main", { command, stdin: true, ports: [{ containerPort: port }] }),
      rate("euro", { currency: "EUR", note: "common" }),
    ];
    await player.play(["apply -f -", /created/, { stdin: objects }]);
    await player.play(["rollout status deployment/web --timeout=60s", /successfully rolled out/]);
    await player.play(["wait --for=condition=Ready pod/main --timeout=60s", /met/]);
    await player.play(["logs main", /listening/, { again: true }]);
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  describe.each(Object.entries(tables))("%s", (_title, rows) => {
    it.each(rows.map(([title, ...steps]) => [title, steps] as const))("%s", async (_row, steps) => {
      for (const step of steps) await player.play(step);
    });
  });
});

it("words are separated as a shell does it", () => {
  expect(wordsOf("get  pods -l 'a in (b, c)' -o=jsonpath='{.x y}'")).toEqual([
    "get",
    "pods",
    "-l",
    "a in (b, c)",
    "-o=jsonpath={.x y}",
  ]);
});
