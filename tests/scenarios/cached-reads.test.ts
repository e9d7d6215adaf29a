import { type Client, ConfigMap, Secret } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, type RecordedRequest, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Desk = resource({
  group: "reads.example.com",
  version: "v1",
  kind: "Desk",
  spec: z.object({ drawers: z.number().default(1) }),
  status: z.object({ maps: z.string().optional(), runs: z.number().optional() }),
});

describeOn(
  clustersUnderTest(),
  "handlers, timers and daemons read the operator's own copy of the cluster",
  (cluster) => {
    const stage = useStage(cluster, "reads");
    const { start, eventually, quiet } = stage;
    let client: Client;

    beforeEach(() => {
      ({ client } = stage);
    });

    const desk = (name: string) => client.create(new Desk({ metadata: { name }, spec: {} }));
    const map = (name: string, app: string) => client.create(ConfigMap.gen({ name, labels: { app } }));

    it("with what they have just written, without a request for each read, and without being woken", async () => {
      const clock = new VirtualClock();
      const operator = new Operator({ name: "op" });
      const seen: string[] = [];
      operator.on.create(Desk, async function furnish({ name, client: own, adopt, list, get, exists, patch }) {
        await own.create(adopt(ConfigMap.gen({ name: `${name}-own`, labels: { app: name } })));
        const maps = await list(ConfigMap, { labelSelector: { app: name } });
        patch.status.maps = maps.map((one) => one.name).join(" ");
        seen.push(`handler ${(await get(ConfigMap, `${name}-own`))?.name} ${await exists(Secret, "none")}`);
        expect(() => {
          (maps[0]?.body as { data?: unknown }).data = {};
        }).toThrow(TypeError);
      });
      operator.timer(Desk, { interval: "1m" }, async function count({ list }) {
        seen.push(`timer ${(await list(ConfigMap, { labelSelector: { app: "one" } })).length}`);
      });
      operator.daemon(Desk, async function watch({ list, sleep, signal }) {
        while (!signal.aborted) {
          seen.push(`daemon ${(await list(ConfigMap, { labelSelector: { app: "one" } })).length}`);
          await sleep("1m");
        }
      });
      const requests: RecordedRequest[] = [];
      await start(operator, { clock, record: (request) => void requests.push(request) });
      await map("before", "one");
      await desk("one");
      await eventually(async () => expect((await client.get(Desk, "one")).status?.maps).toBe("before one-own"));
      await eventually(() => expect([...seen].sort()).toEqual(["daemon 2", "handler one-own false", "timer 2"]));
      await map("after", "one");
      await quiet();
      expect(seen).toHaveLength(3);
      await eventually(async () => {
        await clock.advance(60_000);
        expect(seen.slice(3)).toEqual(expect.arrayContaining(["timer 3", "daemon 3"]));
      });
      // What was read is part of what the handler needs permission for.
      const read = requests.filter(({ method, path }) => method === "GET" && path.endsWith("/configmaps"));
      expect(new Set(read.map(({ handler, watch }) => `${handler} ${watch ? "watch" : "list"}`))).toEqual(
        new Set(["furnish list", "furnish watch", "count list", "count watch", "watch list", "watch watch"]),
      );
    });
  },
);
