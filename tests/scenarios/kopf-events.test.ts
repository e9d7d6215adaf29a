import { type Client, ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { type Call, Wire, type WireFault } from "./wire.ts";

const Bell = resource({ group: "bells.example.com", version: "v1", kind: "Bell", spec: z.object({}) });

describeOn(clustersUnderTest(), "Events that handlers post", (cluster) => {
  const stage = useStage(cluster, "events");
  const { start, eventually, inTime } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  /** What is posted in the test's namespace, without what the operator says by itself. */
  async function posted(): Promise<string[]> {
    const events = (await client.list("events").toArray()).map(({ body }) => body);
    return events
      .filter(({ reason }) => reason !== "HandlerSucceeded")
      .map(({ type, reason, message, involvedObject }) => {
        const { kind, name } = involvedObject as { kind: string; name: string };
        return `${type} ${reason} ${kind}/${name}: ${message}`;
      })
      .sort();
  }

  it("inform or warn, about the object or about others, and tell an error in its own words", async () => {
    const operator = new Operator({ name: "op", events: "all" });
    operator.on.create(Bell, async function ring({ info, warn, adopt, client: own }) {
      const [left, right] = ["left", "right"].map((name) => ConfigMap.gen({ name }));
      const children = [await own.create(adopt(left as ConfigMap)), await own.create(adopt(right as ConfigMap))];
      info("Rung", "it is noon");
      info("Heard", "they know", children);
      warn("Cracked", new Error("the bell is thin"));
      warn("Deaf", "nobody listens", children[0]);
    });
    await start(operator);
    await client.create(new Bell({ metadata: { name: "one" }, spec: {} }));
    await eventually(async () =>
      expect(await posted()).toEqual([
        "Normal Heard ConfigMap/left: they know",
        "Normal Heard ConfigMap/right: they know",
        "Normal Rung Bell/one: it is noon",
        expect.stringMatching(/^Warning Cracked Bell\/one: .*the bell is thin$/),
        "Warning Deaf ConfigMap/left: nobody listens",
      ]),
    );
  });

  // What is forbidden is given up, and told once; everything else is tried until it is posted.
  it.each<[what: string, fault: WireFault, end: { told: number; late: boolean }]>([
    ["is forbidden", { type: "answer", status: 403 }, { told: 1, late: false }],
    ["fails", { type: "answer", status: 500 }, { told: 0, late: true }],
    ["breaks off", { type: "reset" }, { told: 0, late: true }],
  ])("fail no handler when posting %s, and are posted again when that is over", async (_what, fault, end) => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const isPost = ({ verb, path }: Call) => verb === "write" && /\/events(\/|$)/.test(path);
    wire.fault = (call) => (isPost(call) ? fault : undefined);
    const operator = new Operator({ name: "op", events: "all" });
    const calls: string[] = [];
    operator.on(["create", "update"], Bell, { id: "ring" }, ({ info, patch, reason }) => {
      calls.push(reason);
      info("Rung", `for the ${reason}`);
      patch.status[reason] = "done";
    });
    await start(operator, { client: wire.client, clock });
    const bell = await client.create(new Bell({ metadata: { name: "one" }, spec: {} }));
    const done = () => stage.logs.filter(({ message }) => message === "handler succeeded").length;
    await eventually(() => expect(done()).toBe(1));
    await eventually(async () => expect((await bell.refresh()).status).toMatchObject({ create: "done" }));
    await eventually(() => expect(wire.calls.filter(isPost).length).toBeGreaterThan(0));
    expect(await posted()).toEqual([]);
    wire.fault = () => undefined;
    await bell.annotate({ polished: "yes" });
    await inTime(clock, async () => expect(await posted()).toContain("Normal Rung Bell/one: for the update"));
    expect(calls).toEqual(["create", "update"]);
    expect(stage.logs.filter(({ message }) => message === "handler failed")).toEqual([]);
    const told = stage.logs.filter(({ level, message }) => level === "warn" && message.includes("Events"));
    expect({ told: told.length, late: (await posted()).includes("Normal Rung Bell/one: for the create") }).toEqual(end);
  });
});
