/** Deployed with what `lotse generate deploy` makes of its code, an operator that nobody has recorded does its job. */
import { Cluster } from "@lotse/cluster";
import { type Client, ConfigMap, Pod } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deploy, HANDLER_RIGHTS, KERNEL_TS, OPERATOR_TS, rightsIn, withhold } from "../deployed-handlers.ts";
import { Project, type Running } from "./project.ts";

const probe = (name: string) => {
  return { apiVersion: "probes.example.com/v1", kind: "Probe", metadata: { name }, spec: { pod: "lamp" } };
};

describe("an operator whose handlers create ConfigMaps and exec into pods", { timeout: 300_000 }, () => {
  let project: Project;
  let cluster: Cluster;
  let admin: Client;

  beforeAll(async () => {
    project = new Project();
    project.writeSettings();
    project.write("operator.ts", OPERATOR_TS);
    project.write("kernel.ts", KERNEL_TS);
    cluster = await Cluster.start({ rbac: true, kubelet: "simulate" });
    cluster.pods.program("lamp", { exec: { exitCode: 0, stdout: "Linux\n" } });
    admin = await cluster.connect();
    await admin.create(Pod.gen({ name: "lamp", image: "busybox" }));
    await admin.wait(Pod, "lamp", "condition=Ready");
    const { code, out, err } = await project.lotse(["generate", "deploy", "operator.ts"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(rightsIn(out)).toEqual(expect.arrayContaining(HANDLER_RIGHTS));
    await deploy(admin, out);
    const account = cluster.kubeconfigFor({ serviceAccount: "default/probes" });
    project.write("account.yaml", JSON.stringify(account));
  }, 300_000);

  afterAll(async () => {
    await admin?.close();
    await cluster?.stop();
    await project?.remove();
  });

  async function start(): Promise<Running> {
    const running = project.begin(["run", "operator.ts", "--kubeconfig", "account.yaml", "--log-format", "pretty"], {
      LOTSE_RUN_INSTALL_CRDS: "false",
    });
    await running.says("the operator is ready");
    return running;
  }

  async function end(running: Running): Promise<void> {
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  }

  it("does its whole job with the generated role and nothing else", async () => {
    const running = await start();
    await admin.create(probe("one"));
    await running.says(/\[default\/one\] handler succeeded .*handler=probe/);
    expect((await admin.get(ConfigMap, "one")).data).toEqual({ said: "Linux" });
    await admin.wait("probes.probes.example.com", "one", ({ labels }) => labels.looked === "yes");
    expect(running.err()).not.toMatch(/forbidden|permission/i);
    await end(running);
  });

  it.each([
    ["create", "configmaps"],
    ["get", "pods"],
    ["create", "pods/exec"],
  ])("does not without the right to %s %s, and says so", async (verb, resource) => {
    const giveBack = await withhold(admin, resource, verb);
    const running = await start();
    const name = `without-${verb}-${resource.replace("/", "-")}`;
    try {
      await admin.create(probe(name));
      await running.says(new RegExp(`\\[default/${name}\\] .*cannot ${verb} resource \\\\?"${resource}`));
    } finally {
      await giveBack();
      await end(running);
      await admin.delete("probes.probes.example.com", name);
    }
  });
});
