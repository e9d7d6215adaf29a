/** Profiles of operators at work: real processes, real signals, and what tools would read in the files. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { type Client, Pod, Role, RoleBinding } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Project, type Running } from "./project.ts";

/** Has something to do all the time, and a class of its own in its memory. */
const OPERATOR = `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
class Cargo { load = 1; }
const hold = [new Cargo()];
function crunch() { let sum = 0; for (let i = 0; i < 2e6; i++) sum += Math.sqrt(i) * hold[0].load; return sum; }
setInterval(crunch, 20).unref();
const operator = new Operator({ name: "busy" });
operator.on.event(ConfigMap, function look() {});
export default operator;
`;

interface CpuProfile {
  readonly nodes: readonly { readonly callFrame: { readonly functionName: string; readonly url: string } }[];
  readonly samples: readonly number[];
  readonly startTime: number;
  readonly endTime: number;
}

const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as unknown;
const functionsIn = ({ nodes }: CpuProfile) => nodes.map(({ callFrame }) => callFrame.functionName);

let project: Project;
let cluster: Cluster;
let client: Client;

beforeAll(async () => {
  project = new Project();
  project.write("busy.ts", OPERATOR);
  cluster = await Cluster.start({ kubelet: "process", rbac: true });
  client = await cluster.connect();
  await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
}, 300_000);

afterAll(async () => {
  await project.remove();
  await cluster.stop();
});

describe("an operator of this machine", () => {
  let running: Running;
  let pid: string;

  beforeAll(async () => {
    running = project.begin(["run", "busy.ts", "--kubeconfig", "kubeconfig", "--profile-folder", "."]);
    await running.says("the operator is ready");
    pid = String(running.child.pid);
  });

  afterAll(async () => {
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  });

  it("writes a CPU profile at SIGUSR2, says where, and goes on", async () => {
    running.child.kill("SIGUSR2");
    await running.says("the profile is written");
    const file = readdirSync(project.folder).find((name) => name.startsWith(`lotse-${pid}-`)) ?? "";
    expect(file).toMatch(/^lotse-\d+-\d{8}T\d{6}\.cpuprofile$/);
    expect(running.err()).toContain(file);
    const profile = read(path.join(project.folder, file)) as CpuProfile;
    expect(functionsIn(profile)).toContain("crunch");
    expect((profile.endTime - profile.startTime) / 1e6).toBeGreaterThanOrEqual(9);
    expect(statSync(path.join(project.folder, file)).mode & 0o777).toBe(0o600);
    expect(running.child.exitCode).toBeNull();
  });

  it("is recorded by its number, for as long as it is asked for", async () => {
    const { code, out } = await project.lotse(["profile", pid, "--cpu", "500ms", "--out", "one.cpuprofile"]);
    expect({ code, out }).toEqual({ code: 0, out: "one.cpuprofile\n" });
    const profile = read(path.join(project.folder, "one.cpuprofile")) as CpuProfile;
    expect(functionsIn(profile)).toContain("crunch");
    expect(profile.samples.length).toBeGreaterThan(0);
    expect(statSync(path.join(project.folder, "one.cpuprofile")).mode & 0o777).toBe(0o600);
  });

  it("is found without its number, and shows what is in its memory", async () => {
    const { code, out } = await project.lotse(["profile", "--heap", "--out", "one.heapsnapshot", "-o", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ type: "heap", bytes: expect.any(Number) });
    const snapshot = read(path.join(project.folder, "one.heapsnapshot")) as { nodes: number[]; strings: string[] };
    expect(snapshot.nodes.length).toBeGreaterThan(1_000);
    expect(snapshot.strings).toContain("Cargo");
  });

  it("makes one profile at a time, and is at once free when nobody waits any more", async () => {
    const before = running.err().split("a CPU profile is made").length;
    const first = project.begin(["profile", pid, "--cpu", "10m", "--out", "never.cpuprofile"]);
    await running.says(() => running.err().split("a CPU profile is made").length > before);
    expect(await project.lotse(["profile", pid])).toEqual({
      code: 1,
      out: "",
      err: [
        `Profiling the process ${pid}, it takes 10s`,
        `Error: a profile of the process ${pid} is being made already`,
        "Why:   one at a time, by this command or by SIGUSR2",
        "Do:    try again when that one is done",
        "",
      ].join("\n"),
    });
    first.child.kill("SIGINT");
    expect(await first.ended).toBe(0);
    await running.says("nobody waits for the profile any more");
    expect(await project.lotse(["profile", pid, "--cpu", "10ms", "--out", "two.cpuprofile"])).toMatchObject({
      code: 0,
    });
    expect(readdirSync(project.folder).filter((name) => name.includes("never") || name.endsWith(".part"))).toEqual([]);
  });
});

describe("what is no operator", () => {
  it("is a process of another program", async () => {
    const { code, err } = await project.lotse(["profile", String(process.pid)]);
    expect(code).toBe(1);
    expect(err).toContain(
      `Error: the process ${process.pid} is no operator of Lotse\nWhy:   it has no socket in PROJECT`,
    );
  });

  it("is a process that has ended", async () => {
    const ended = project.begin(["--version"]);
    await ended.ended;
    const { code, err } = await project.lotse(["profile", String(ended.child.pid)]);
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining(`Error: there is no process ${ended.child.pid}\nDo:    leave the number out`),
    });
  });

  it("is not found where none runs, and what is meant has to be said where it is not clear", async () => {
    const alone = { XDG_RUNTIME_DIR: path.join(project.folder, "nowhere") };
    expect(await project.lotse(["profile"], alone)).toMatchObject({
      code: 1,
      err: expect.stringContaining("Error: no operator runs on this machine"),
    });
    expect(await project.lotse(["profile", "a b"])).toMatchObject({ code: 2 });
    expect(await project.lotse(["profile", "1", "--cpu", "1s", "--heap"])).toMatchObject({ code: 2 });
    expect(await project.lotse(["profile", "1", "--cpu", "1d"])).toMatchObject({ code: 2 });
  });
});

describe("an operator in a pod", () => {
  beforeAll(async () => {
    const at = (file: string) => path.join(project.folder, file);
    const bin = at("node_modules/lotse/bin/lotse.js");
    const pod = new Pod({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "busy", namespace: "default" },
      spec: {
        terminationGracePeriodSeconds: 5,
        restartPolicy: "Never",
        containers: [
          {
            name: "operator",
            image: "program",
            command: [process.execPath, bin, "run", at("busy.ts"), "--kubeconfig", at("kubeconfig")],
            env: [
              { name: "HOME", value: project.folder },
              { name: "TMPDIR", value: at("pod") },
              { name: "PATH", value: path.dirname(process.execPath) },
            ],
          },
        ],
      },
    });
    project.write("pod/.keep", "");
    const created = await client.create(pod);
    for await (const line of created.logs({ follow: true })) {
      if (line.includes("the operator is ready")) break;
    }
  }, 170_000);

  it("is recorded through exec, and nothing is left there", async () => {
    const argv = ["profile", "busy", "-n", "default", "--kubeconfig", "kubeconfig", "--cpu", "500ms"];
    const { code, out } = await project.lotse([...argv, "--out", "pod.cpuprofile"]);
    expect({ code, out }).toEqual({ code: 0, out: "pod.cpuprofile\n" });
    expect(functionsIn(read(path.join(project.folder, "pod.cpuprofile")) as CpuProfile)).toContain("crunch");
    const files = readdirSync(path.join(project.folder, "pod"), { recursive: true }).map(String);
    expect(files.filter((name) => name.includes("profile"))).toEqual([]);
  });

  it("is not for those who may not exec there", async () => {
    const may = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
    await client.create(new Role({ metadata: { name: "look", namespace: "default" }, rules: [may] }));
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "look" };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }];
    await client.create(new RoleBinding({ metadata: { name: "look", namespace: "default" }, roleRef, subjects }));
    project.write("ann", JSON.stringify(cluster.kubeconfigFor({ user: "ann" })));
    const { code, err } = await project.lotse(["profile", "busy", "--kubeconfig", "ann"]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^Error: you may not run commands in default\/busy\nWhy: .*\nDo: {4}ask for the right to get pods and to create pods\/exec$/m,
    );
  });

  it("is not taken for another program that runs there", async () => {
    const command = [process.execPath, "-e", "setInterval(() => {}, 1000)"];
    const env = [
      { name: "PATH", value: path.dirname(process.execPath) },
      { name: "XDG_RUNTIME_DIR", value: path.join(project.folder, "nowhere") },
    ];
    const containers = [{ name: "c", image: "program", command, env }];
    await client.create(
      new Pod({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "other", namespace: "default" },
        spec: { terminationGracePeriodSeconds: 1, containers },
      }),
    );
    const { code, err } = await project.lotse(["profile", "pod/other", "--kubeconfig", "kubeconfig"]);
    expect(code).toBe(1);
    expect(err).toContain("Error: no operator of Lotse listens in default/other\n");
  });

  it("has to have Node.js, which is looked for where images without a shell have it, too", async () => {
    const command = [process.execPath, "-e", "setInterval(() => {}, 1000)"];
    const containers = [{ name: "c", image: "program", command, env: [{ name: "PATH", value: "/nowhere" }] }];
    await client.create(
      new Pod({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "bare", namespace: "default" },
        spec: { terminationGracePeriodSeconds: 1, containers },
      }),
    );
    const { code, err } = await project.lotse(["profile", "bare", "--kubeconfig", "kubeconfig"]);
    expect(code).toBe(1);
    expect(err).toContain(
      "Error: the container of default/bare has no Node.js that can be called\nWhy:   neither node nor",
    );
  });

  it("has to be there", async () => {
    const { code, err } = await project.lotse(["profile", "gone", "--kubeconfig", "kubeconfig"]);
    expect(code).toBe(1);
    expect(err).toContain("Error: there is no pod default/gone\nDo:    choose one of: kubectl get pods -n default\n");
  });
});
