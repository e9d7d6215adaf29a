import type { Client } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe } from "vitest";
import { accessContract } from "../../packages/client/src/objects/access.contract.ts";
import { objectsContract } from "../../packages/client/src/objects/objects.contract.ts";
import { podsContract } from "../../packages/client/src/objects/pods.contract.ts";
import { workloadsContract } from "../../packages/client/src/objects/workloads.contract.ts";
import { clustersUnderTest, describeOn } from "../fixture.ts";

describeOn(clustersUnderTest(), "the client", (cluster) => {
  const connect = () => cluster().connect();
  objectsContract(connect);
  workloadsContract(connect);
  // The embedded cluster lets everybody do everything.
  if (clustersUnderTest().includes("real")) accessContract(connect);
});

describe.runIf(clustersUnderTest().includes("embedded"))("the client on a cluster that runs pods", () => {
  let cluster: Cluster;
  let client: Client;
  beforeAll(async () => {
    cluster = await Cluster.start({ kubelet: "simulate" });
    cluster.pods.program(() => true, {
      exec: ({ pod, command }) => (command[0] === "whoami" ? pod.name : 127),
      run: ({ pod, log }) => log(`hello from ${pod.name}`),
    });
    client = await cluster.connect();
  });
  afterAll(() => cluster.stop());
  podsContract(async () => client);
});
