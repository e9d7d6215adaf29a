import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Client } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { accessContract } from "../../packages/client/src/objects/access.contract.ts";
import { objectsContract } from "../../packages/client/src/objects/objects.contract.ts";
import { podsContract } from "../../packages/client/src/objects/pods.contract.ts";
import { workloadsContract } from "../../packages/client/src/objects/workloads.contract.ts";
import { clustersUnderTest, describeOn } from "../fixture.ts";

const embedded = clustersUnderTest().includes("embedded");

describeOn(clustersUnderTest(), "the client", (cluster) => {
  const connect = () => cluster().connect();
  objectsContract(connect);
  accessContract(connect);
  if (!embedded) workloadsContract(connect);
});

describe.runIf(embedded)("the client on a cluster that leaves workloads alone", () => {
  let cluster: Cluster;
  let client: Client;
  beforeAll(async () => {
    // The suite plays the controllers itself, as it has to where there are none.
    cluster = await Cluster.start({ controllers: { workloads: false } });
    client = await cluster.connect();
  });
  afterAll(() => cluster?.stop());
  workloadsContract(async () => client);
});

describe.runIf(embedded)("the client on a cluster that runs pods", () => {
  let cluster: Cluster;
  let client: Client;
  const web = createServer(async (request, response) => {
    const status = Number(/(\d+)(\?|$)/.exec(request.url ?? "")?.[1] ?? 200);
    response.writeHead(status).end(`${request.method} ${request.url} ${await text(request)}`);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    cluster = await Cluster.start({ kubelet: "simulate" });
    cluster.pods.program(() => true, {
      exec: ({ pod, command }) => (command[0] === "whoami" ? pod.name : 127),
      run: ({ pod, log }) => log(`hello from ${pod.name}`),
      ports: { 8080: (web.address() as AddressInfo).port },
    });
    client = await cluster.connect();
  });
  afterAll(async () => {
    await cluster?.stop();
    web.close();
  });
  podsContract(async () => client);
});

/** The checker of the page, which has no types. */
interface Checker {
  provingFiles(page: string): string[];
  testsIn(source: string): { readonly titles: string[] };
}

describe("docs/client.md", async () => {
  const load = (name: string) => import(new URL(`../../scripts/docs/${name}`, import.meta.url).href);
  const { provingFiles, testsIn }: Checker = { ...(await load("checklist.mjs")), ...(await load("client.mjs")) };
  const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  const contracts = provingFiles(text("docs/client.md")).filter((file) => file.endsWith(".contract.ts"));

  it("names contracts", () => expect(contracts.length).toBeGreaterThan(0));

  // There is no kubelet beside the real server.
  it.for(contracts.filter((file) => embedded || !file.endsWith("/pods.contract.ts")))(
    "names %s, whose every test is run here",
    (contract, { task }) => {
      const run = titlesOf(task.file.tasks);
      expect(testsIn(text(contract)).titles.filter((title) => !run.has(title))).toEqual([]);
    },
  );
});

/** The tests of this file that are not skipped. */
function titlesOf(tasks: TestContext["task"]["file"]["tasks"]): Set<string> {
  return new Set(
    tasks
      .filter(({ mode }) => mode !== "skip" && mode !== "todo")
      .flatMap((task) => ("tasks" in task ? [...titlesOf(task.tasks)] : [task.name])),
  );
}
