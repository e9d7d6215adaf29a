import { type Client, ConfigMap } from "@lotse/client";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Bell = resource({ group: "bells.example.com", version: "v1", kind: "Bell", spec: z.object({}) });

describeOn(clustersUnderTest(), "Events that handlers post", (cluster) => {
  const stage = useStage(cluster, "events");
  const { start, eventually } = stage;
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
});
