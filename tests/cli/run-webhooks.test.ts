/** `lotse run` with two operators that judge: one process, one port, and the API server asks each for its own. */
import { createServer } from "node:net";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { Client, ConfigMap } from "lotse/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Project } from "./project.ts";

const operator = (name: string) => `
import { AdmissionError, Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "${name}", settings: { posting: { events: "none" } } });
operator.on.validate(ConfigMap, { labels: { of: "${name}" } }, function check({ labels }) {
  if (labels.wrong) throw new AdmissionError("${name} says no");
});
export default operator;
`;

let project: Project;
let cluster: Cluster;

beforeAll(async () => {
  project = new Project();
  cluster = await Cluster.start();
  await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
}, 300_000);

afterAll(async () => {
  await project?.remove();
  await cluster?.stop();
});

it("asks each operator of the process at one port", { timeout: 300_000 }, async () => {
  for (const name of ["lions", "seals"]) project.write(`${name}.ts`, operator(name));
  const port = String(await freePort());
  const where = ["--kubeconfig", "kubeconfig", "--webhook-host", "127.0.0.1", "--webhook-port", port];
  const running = project.begin(["run", "lions.ts", "seals.ts", ...where]);
  await running.says(/the operator is ready[\s\S]*the operator is ready/);
  const client = await Client.connect({ kubeconfig: path.join(project.folder, "kubeconfig") });
  for (const name of ["lions", "seals"]) {
    const wrong = ConfigMap.gen({ name: `wrong-${name}`, labels: { of: name, wrong: "yes" } });
    await expect(client.create(wrong)).rejects.toThrow(`${name} says no`);
    await client.create(ConfigMap.gen({ name: `right-${name}`, labels: { of: name } }));
  }
  await client.close();
  running.child.kill("SIGTERM");
  expect(await running.ended).toBe(0);
  expect(running.err()).not.toMatch(/"level":"(warn|error)"/);
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
