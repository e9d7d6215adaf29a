/** How commands end when somebody asks them to: by Ctrl-C, by Ctrl-C again, by a SIGTERM as the kubelet sends it. */
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ending, Project, type Running } from "./project.ts";

const operator = (cleanup: string) => `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "good", settings: { process: { graceful: "60s" } } });
operator.on.event(ConfigMap, function look() {});
operator.on.cleanup(async function tidy({ logger }) { logger.info("tidying up"); ${cleanup} });
export default operator;
`;

let project: Project;
let cluster: Cluster;

beforeAll(async () => {
  project = new Project();
  project.write("quick.ts", operator(""));
  project.write("stuck.ts", operator("await new Promise(() => {});"));
  cluster = await Cluster.start({ kubelet: false });
  await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
}, 120_000);

afterAll(async () => {
  await project.remove();
  await cluster.stop();
});

const COMMANDS = [
  ["run", ["run", "quick.ts", "--kubeconfig", "kubeconfig"], "the operator is ready"],
  ["dev", ["dev", "quick.ts", "--no-console", "--kubeconfig", "dev.yaml"], "the operator is ready"],
  ["cluster", ["cluster", "--kubeconfig", "cluster.yaml"], "KUBECONFIG="],
] as const;

/** Sends the signal until the process has ended: how soon the second one counts is the command's own business. */
async function insist({ child, ended }: Running, signal: NodeJS.Signals): Promise<Ending> {
  const timer = setInterval(() => child.kill(signal), 50);
  try {
    return await ended;
  } finally {
    clearInterval(timer);
  }
}

describe.each(COMMANDS)("lotse %s", (_name, argv, ready) => {
  it.each(["SIGINT", "SIGTERM"] as const)("ends in order at one %s, with 0", async (signal) => {
    const running = project.begin(argv);
    await running.says(ready);
    running.child.kill(signal);
    expect(await running.ended).toBe(0);
    expect(running.err()).not.toMatch(/^\s+at |Error:/m);
    if (argv[0] !== "cluster") expect(running.err()).toContain("tidying up");
  });
});

describe("an operator that does not come to its end", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("is ended at once by a second %s, with the code %i of a shell", async (signal, code) => {
    const running = project.begin(["run", "stuck.ts", "--kubeconfig", "kubeconfig"]);
    await running.says("the operator is ready");
    running.child.kill(signal);
    await running.says("tidying up");
    expect(await insist(running, signal)).toBe(code);
  });
});
