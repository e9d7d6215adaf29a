import { ConfigMap } from "@lotse/client";
import { expect, it } from "vitest";
import { describeOn, withCluster } from "../fixture.ts";

describeOn(["embedded", "real"], "the fixture", (cluster) => {
  it("has a client and kubectl that see the same objects", async () => {
    const client = await cluster().connect();
    await client.create(ConfigMap.gen({ name: "seen", namespace: "default", data: { by: "both" } }));
    const { stdout, exitCode } = await cluster().kubectl(["get", "configmap", "seen", "-o", "jsonpath={.data.by}"]);
    expect({ stdout, exitCode }).toEqual({ stdout: "both", exitCode: 0 });
  });

  it("tells the writes, and neither reads nor refusals", async () => {
    const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "written", namespace: "default" } };
    const before = await cluster().writes();
    const created = await cluster().kubectl(["create", "-f", "-"], { stdin: JSON.stringify(manifest) });
    const again = await cluster().kubectl(["create", "-f", "-"], { stdin: JSON.stringify(manifest) });
    await cluster().kubectl(["get", "configmaps"]);
    await cluster().kubectl(["label", "configmap", "written", "a=b"]);
    await cluster().kubectl(["delete", "configmap", "written"]);
    expect([created.exitCode, again.exitCode]).toEqual([0, 1]);
    const writes = (await cluster().writes()).slice(before.length);
    const about = { resource: "configmaps", namespace: "default", name: "written" };
    expect(writes).toMatchObject([
      { ...about, verb: "create" },
      { ...about, verb: "patch" },
      { ...about, verb: "delete" },
    ]);
    expect(writes.every((write) => write.userAgent.startsWith("kubectl"))).toBe(true);
  });
});

it("stops the cluster when the test fails", async () => {
  let url = "";
  const failed = withCluster("embedded", async (cluster) => {
    url = cluster.url;
    throw new Error("the test failed");
  });
  await expect(failed).rejects.toThrow("the test failed");
  await expect(fetch(`${url}/readyz`)).rejects.toThrow();
});
