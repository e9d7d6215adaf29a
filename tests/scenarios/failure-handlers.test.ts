import type { Client } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Parcel = resource({
  group: "parcels.example.com",
  version: "v1",
  kind: "Parcel",
  spec: z.object({ weight: z.number().default(1) }),
  status: z.object({ lost: z.string().optional(), seen: z.number().optional() }),
});

describeOn(clustersUnderTest(), "handlers of failures, and of noisy objects,", (cluster) => {
  const stage = useStage(cluster, "parcels");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const parcel = (name: string, weight = 1) => client.create(new Parcel({ metadata: { name }, spec: { weight } }));

  it("hear of everything that has failed for good, with its error, and may change the object", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Parcel, { retries: 1 }, function weigh() {
      throw new Error("the scales are broken");
    });
    operator.timer(Parcel, { interval: "1h" }, function check() {
      throw new PermanentError("nobody checks");
    });
    operator.daemon(Parcel, function follow() {
      throw new PermanentError("it is too fast");
    });
    operator.on.failure(Parcel, function lost({ handler, reason, error, attempts, patch, name }) {
      seen.push(`${name}: ${handler} (${reason}) ${error.message}, ${attempts}`);
      patch.status.lost = handler;
    });
    operator.on.failure(Parcel, function broken() {
      throw new Error("not even this");
    });
    await start(operator);
    const one = await parcel("one");
    await eventually(() => expect(seen).toHaveLength(3));
    expect([...seen].sort()).toEqual([
      "one: check (timer) nobody checks, 1",
      "one: follow (daemon) it is too fast, 1",
      "one: weigh (create) the scales are broken, 1",
    ]);
    await eventually(async () => expect((await client.get(Parcel, "one")).status?.lost).toBeDefined());
    await quiet();
    const failed = logs.filter(({ message }) => message === "failure handler failed, it is not tried again");
    expect(failed).toHaveLength(3);
    // Once for each time: a change lifts the failures, and they fail again.
    await one.patch({ spec: { weight: 2 } });
    await eventually(() => expect(seen).toHaveLength(6));
  });

  it("wait until nobody has changed the object for a while, and hear of all changes as one", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.update(Parcel, { debounce: "5s" }, function settled({ old, new: now }) {
      seen.push(`settled ${old?.spec?.weight} to ${now?.spec?.weight}`);
    });
    operator.on.update(Parcel, function each({ new: now }) {
      seen.push(`each ${now?.spec?.weight}`);
    });
    await start(operator, { clock });
    const one = await parcel("one");
    await quiet();
    for (const weight of [2, 3, 4]) {
      await one.patch({ spec: { weight } });
      await eventually(() => expect(seen.at(-1)).toContain(`each ${weight}`));
      await quiet();
      await clock.advance(4_000);
      await quiet();
    }
    expect(seen).toEqual(["each 2", "each 3", "each 4"]);
    await clock.advance(1_000);
    await eventually(() => expect(seen.at(-1)).toBe("settled 1 to 4"));
    await quiet();
    expect(seen).toHaveLength(4);
  });

  it("do not wait for ever for an object that is never left alone", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: (number | undefined)[] = [];
    operator.on.field(
      Parcel,
      { field: "spec.weight", debounce: { quiet: "5s", atMost: "12s" } },
      function settled(context) {
        seen.push(context.new);
      },
    );
    await start(operator, { clock });
    const one = await parcel("one");
    await eventually(() => expect(seen).toEqual([1]));
    await quiet();
    for (const weight of [2, 3, 4, 5]) {
      await one.patch({ spec: { weight } });
      await quiet();
      await clock.advance(3_000);
      await quiet();
    }
    await eventually(() => expect(seen).toEqual([1, 5]));
  });

  it("can be debounced only where changes are told", () => {
    const operator = new Operator({ name: "op" });
    expect(() => operator.on.create(Parcel, { debounce: "5s" }, function never() {})).toThrow(
      '"debounce" has no meaning for on.create',
    );
  });
});
