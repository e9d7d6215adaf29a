/** `lotse migrate` on an embedded cluster, in this process. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Client, CustomResourceDefinition, defineKind, type KubeBody } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, expect, it } from "vitest";
import { main } from "./main.ts";
import { runCommand, testIo } from "./terminal/test-io.ts";

let cluster: Cluster;
let client: Client;
let folder: string;
let kubeconfig: string;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lotse-migrate-"));
  kubeconfig = path.join(folder, "kubeconfig");
  cluster = await Cluster.start({ kubelet: false });
  await cluster.writeKubeconfig(kubeconfig);
  client = await cluster.connect();
  await define("shops.example.com", "Shop", "v1beta1");
  const Shop = defineKind<KubeBody>({ group: "example.com", version: "v1beta1", kind: "Shop", plural: "shops" });
  for (const name of ["a", "b"]) await client.create(new Shop({ metadata: { name } }));
  await define("shops.example.com", "Shop", "v1beta1", "v1");
});

afterEach(async () => {
  await client.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function define(name: string, kind: string, ...names: readonly string[]): Promise<void> {
  const [plural = "", ...group] = name.split(".");
  const versions = names.map((version, i) => ({
    name: version,
    served: true,
    storage: i === names.length - 1,
    schema: { openAPIV3Schema: { type: "object" } },
  }));
  const spec = { group: group.join("."), scope: "Namespaced", names: { kind, plural }, versions };
  const crd = new CustomResourceDefinition({ metadata: { name }, spec }, client);
  await (await crd.apply({ force: true })).wait("condition=Established", { timeout: "30s" });
}

const migrate = (...argv: string[]) => runCommand(["migrate", ...argv, "--kubeconfig", kubeconfig], {});

it("rewrites the objects of a kind by any of its names, and says what can go", async () => {
  expect(await migrate("Shop", "--concurrency", "1")).toEqual({
    code: 0,
    out: "shops.example.com: 2 objects rewritten into v1, storedVersions is without v1beta1, which can be dropped now\n",
    err: "",
  });
  expect(await migrate("shops.example.com")).toMatchObject({
    code: 0,
    out: "shops.example.com: nothing to do, all objects are stored in v1\n",
  });
});

it("names what cannot be written, and ends with 1", async () => {
  cluster.faults.add({ match: { verb: "patch", resource: "shops.example.com", name: "b" }, status: 403 });
  const { code, out } = await migrate("shops");
  expect(code).toBe(1);
  expect(out.split("\n")).toEqual([
    expect.stringMatching(/^shops\.example\.com default\/b: cannot be written: ./),
    "shops.example.com: 1 of 2 objects cannot be written, v1beta1 stays in storedVersions; mend them and run it again",
    "",
  ]);
});

it("stops at Ctrl-C, and says that it can go on", async () => {
  const io = testIo();
  const when = () => {
    io.send("SIGINT");
    return true;
  };
  cluster.faults.add({ match: { verb: "patch", resource: "shops.example.com", when }, status: 503, retryAfter: 600 });
  expect(await main(["migrate", "shops", "--kubeconfig", kubeconfig], io)).toBe(1);
  expect(io.out()).toBe(
    "shops.example.com: stopped after 0 objects; run it again to go on, what is rewritten costs no second write\n",
  );
  expect((await client.get(CustomResourceDefinition, "shops.example.com")).body.status?.storedVersions).toEqual([
    "v1beta1",
    "v1",
  ]);
});

it.each([
  [["shop5"], 'the cluster has no custom resource definition of "shop5"', "did you mean shops?"],
  [["pods"], 'the cluster has no custom resource definition of "pods"', "kubectl get crds shows what there is"],
])("does not know what is not there: %j", async (argv, what, todo) => {
  expect(await migrate(...argv)).toMatchObject({ code: 2, out: "", err: `Error: ${what}\nDo:    ${todo}\n` });
});

it("asks for the group where two kinds have one name", async () => {
  await define("shops.other.com", "Shop", "v1");
  expect(await migrate("shops")).toMatchObject({
    code: 2,
    err: 'Error: "shops" can be shops.example.com or shops.other.com\nDo:    name its group too\n',
  });
  expect(await migrate("shops.other.com")).toMatchObject({ code: 0 });
});

it.each(["0", "x", "1001"])("does not take %s objects at a time", async (number) => {
  expect(await migrate("shops", "--concurrency", number)).toMatchObject({ code: 2 });
});
