/** What goes wrong beside an operator's work ends neither the operator nor a stream, and costs nobody else anything. */
import { type Client, ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const Crew = resource({ group: "survival.example.com", version: "v1", kind: "Crew", spec: z.object({}) });

describeOn(clustersUnderTest(), "an operator survives", (cluster) => {
  const stage = useStage(cluster, "survival");
  const { start, eventually, quiet, logs, running } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const mine = { labels: { mine: "yes" } } as const;
  const put = (name: string) => client.create(ConfigMap.gen({ name, ...mine }));
  const told = (message: string) => logs.filter((line) => line.message === message);

  it("a mapping function that throws: it is named, and the next object is mapped", async () => {
    const operator = new Operator({ name: "op" });
    const runs: string[] = [];
    const crewOf = (map: ConfigMap) => {
      if (map.name === "broken") throw new Error("no crew is known", { cause: new Error("the list is empty") });
      return map.labels.crew;
    };
    operator.reconcile(Crew, { watches: [[ConfigMap, crewOf]] }, async function count({ name }) {
      runs.push(name);
    });
    await start(operator);
    await client.create(new Crew({ metadata: { name: "a" }, spec: {} }));
    await eventually(() => expect(runs).toEqual(["a"]));
    await client.create(ConfigMap.gen({ name: "broken" }));
    const message = "whom an object concerns could not be found out, nobody is woken by its change";
    await eventually(() => expect(told(message)).toHaveLength(1));
    expect(told(message)[0]?.fields).toMatchObject({
      handler: "count",
      concerning: `ConfigMap ${stage.namespace}/broken`,
      error: "no crew is known: the list is empty",
    });
    await client.create(ConfigMap.gen({ name: "whole", labels: { crew: "a" } }));
    await eventually(() => expect(runs).toEqual(["a", "a"]));
    expect(running[0]?.health().phase).toBe("ready");
  });

  it("a stop while a write waits for its next try: it is made before the end, and nothing is done twice", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client, { clock });
    const seen: string[] = [];
    const make = () => {
      const operator = new Operator({ name: "op", events: "none" });
      operator.on.create(ConfigMap, { id: "build", ...mine }, ({ name }) => void seen.push(name));
      return operator;
    };
    const one = await start(make(), { client: wire.client, clock, crds: "wait" });
    wire.fault = ({ verb }) => (verb === "write" ? { type: "answer", status: 503 } : undefined);
    await put("one");
    await eventually(() => expect(told("could not work on the object, will be tried again")).toHaveLength(1));
    wire.fault = () => undefined;
    await one.stop();
    expect(told("what handlers have done could not be written down before the end, they will run again")).toEqual([]);
    await start(make(), { crds: "wait" });
    await quiet();
    expect(seen).toEqual(["one"]);
  });

  it("a stop while the server hangs: within `graceful` and five seconds, and what is lost is said once", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client, { clock });
    const operator = new Operator({ name: "op", graceful: "3s" });
    const seen: string[] = [];
    operator.on.create(ConfigMap, { id: "build", ...mine }, ({ name }) => {
      wire.fault = () => ({ type: "hang" });
      seen.push(name);
    });
    const one = await start(operator, { client: wire.client, clock, crds: "wait" });
    running.length = 0;
    await put("one");
    await eventually(() => expect(seen).toEqual(["one"]));
    const from = clock.monotonic();
    let ended: number | undefined;
    const stopped = one.stop().finally(() => {
      ended = clock.monotonic() - from;
    });
    stopped.catch(() => {});
    for (let step = 0; step < 100 && ended === undefined; step++) await clock.advance(100);
    await stopped;
    expect(ended).toBeLessThanOrEqual(8_000);
    const lost = told("what handlers have done could not be written down before the end, they will run again");
    expect(lost.map(({ fields }) => fields.objects)).toEqual([`ConfigMap ${stage.namespace}/one (build)`]);
    expect(logs.filter(({ level }) => level === "error")).toEqual([]);
  });
});
