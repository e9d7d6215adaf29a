/** An API server that was away for a while, and what an operator does when it is back. */
import { type Client, ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire, type WireFault } from "./wire.ts";

const OUTAGES: readonly (readonly [title: string, fault: WireFault, seconds: number])[] = [20, 40].flatMap(
  (seconds) => [
    [`reset connections for ${seconds} s`, { type: "reset" }, seconds] as const,
    [`answered 503 for ${seconds} s`, { type: "answer", status: 503 }, seconds] as const,
  ],
);

describeOn(clustersUnderTest(), "when an API server is back that", (cluster) => {
  const stage = useStage(cluster, "outage");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const mine = { labels: { mine: "yes" } } as const;
  const put = (name: string) => client.create(ConfigMap.gen({ name, ...mine }));

  it.each(OUTAGES)("%s, objects are handled within three seconds", async (_, fault, seconds) => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client, { clock });
    const operator = new Operator({ name: "op", events: "none" });
    const seen: string[] = [];
    let work = () => {};
    operator.on.create(ConfigMap, { id: "build", ...mine }, ({ name }) => {
      seen.push(name);
      work();
    });
    // Whatever is left to chance takes as long as it can.
    await start(operator, { client: wire.client, clock, crds: "wait", random: () => 0.999 });
    await put("before");
    await eventually(() => expect(seen).toEqual(["before"]));
    await quiet();

    // One is handled when the server goes, and what was done for it cannot be written down.
    work = () => {
      wire.fault = () => fault;
      wire.cut();
    };
    await put("during");
    await eventually(() => expect(seen).toEqual(["before", "during"]));
    await clock.advance(seconds * 1_000);
    await quiet();
    await put("after");
    work = () => {};
    wire.fault = () => undefined;
    const writes = wire.count("write", "during");
    // Three seconds for the operator; requests take their real time in between.
    for (let step = 0; step < 30; step++) {
      await clock.advance(100);
      if (step % 10 === 9) await quiet();
    }
    await eventually(() => expect(seen).toEqual(["before", "during", "after"]));
    await eventually(() => expect(wire.count("write", "during")).toBeGreaterThan(writes));
    await quiet();
    // What was done is written, and not done again.
    expect(seen).toEqual(["before", "during", "after"]);
    expect(logs.filter(({ message }) => message === "the stream is interrupted, it will be opened again")).toHaveLength(
      1,
    );
  });
});
