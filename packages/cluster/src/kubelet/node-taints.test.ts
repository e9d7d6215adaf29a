import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, MERGE } from "../test-requests.ts";

const NODES = "/api/v1/nodes";
const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

describe("a node", () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await Cluster.start({ clock: new VirtualClock(), tls: false, kubelet: "simulate" });
  });

  afterEach(() => cluster.stop());

  const ready = (status: string) => ({ status: { conditions: [{ type: "Ready", status }] } });
  const taints = async (name: string) => {
    await cluster.settle();
    return (await call(cluster, "GET", `${NODES}/${name}`)).body.spec.taints;
  };
  const report = (name: string, status: string) =>
    call(cluster, "PATCH", `${NODES}/${name}/status`, { type: MERGE, body: ready(status) });

  it("is tainted when it is new, until it is seen to be ready", async () => {
    const { body } = await call(cluster, "POST", NODES, { body: { metadata: { name: "new" }, ...ready("True") } });
    expect(body.spec.taints).toEqual([NOT_READY]);
    expect(await taints("new")).toBeUndefined();
  });

  it("keeps pods away while it is not ready, and while nobody knows", async () => {
    const own = { key: "example.com/own", effect: "NoSchedule" };
    const spec = { taints: [own] };
    await call(cluster, "POST", NODES, { body: { metadata: { name: "sick" }, spec, ...ready("False") } });
    expect(await taints("sick")).toEqual([own, NOT_READY]);
    await report("sick", "Unknown");
    expect(await taints("sick")).toEqual([own, { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" }]);
    await report("sick", "True");
    expect(await taints("sick")).toEqual([own]);
  });

  it("of the cluster's own kubelet is free from the beginning", async () => {
    const { items } = (await call(cluster, "GET", NODES)).body;
    expect(items.map(({ spec }: { spec: { taints?: unknown } }) => spec.taints)).toEqual([undefined]);
  });
});
