/** What the useless machine does, wherever it stands. */
import { VirtualClock } from "@lotse/testing";
import { loadManifests } from "lotse/client";
import { describe, expect, it } from "vitest";
import type { Bench, StartBench } from "../bench.ts";
import { Machine } from "./operator.ts";

const machine = (name: string, switchPosition = "up") => new Machine({ metadata: { name }, spec: { switchPosition } });

/** The sample, as it stands in its file. */
async function createSample({ client }: Bench): Promise<InstanceType<typeof Machine>> {
  for (const object of await loadManifests(new URL("manifests/machine-1.yaml", import.meta.url))) {
    await client.create(object);
  }
  return client.get(Machine, "machine-1");
}

const position = async (one: InstanceType<typeof Machine>) => (await one.refresh()).spec.switchPosition;

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a useless machine", () => {
    it("notices at once that its switch is up, and flips it down five seconds later", async () => {
      const clock = new VirtualClock();
      await using bench = await start(clock);
      const one = await createSample(bench);
      const before = clock.now();
      await bench.settle();
      expect(await position(one)).toBe("up");
      expect(Date.parse(one.status?.seenAt ?? "")).toBe(before);
      await bench.advance("4.9s");
      expect(await position(one)).toBe("up");
      await bench.advance("0.1s");
      expect(await position(one)).toBe("down");
      expect(Date.parse(one.status?.seenAt ?? "")).toBe(before);
    });

    it("does so each time, whatever the position is called", async () => {
      const clock = new VirtualClock();
      await using bench = await start(clock);
      const one = await createSample(bench);
      await bench.advance("10s");
      await one.patch({ spec: { switchPosition: "sideways" } });
      await bench.settle();
      const noticed = clock.now();
      await bench.advance("4.9s");
      expect(await position(one)).toBe("sideways");
      expect(Date.parse(one.status?.seenAt ?? "")).toBe(noticed);
      await bench.advance("0.1s");
      expect(await position(one)).toBe("down");
    });

    it("never waits for another", async () => {
      await using bench = await start(new VirtualClock());
      const desk = await bench.client.create(machine("desk"));
      await bench.settle();
      await bench.advance("2s");
      const wall = await bench.client.create(machine("wall"));
      await bench.advance("3s");
      expect(await position(desk)).toBe("down");
      expect(await position(wall)).toBe("up");
      await bench.advance("2s");
      expect(await position(wall)).toBe("down");
    });

    it("shows its switch, and since when it has known", async () => {
      await using bench = await start(new VirtualClock());
      await createSample(bench);
      await bench.settle();
      const { columns } = await bench.client.table(Machine);
      expect(columns.map(({ name, type }) => `${name}: ${type}`)).toEqual([
        "Name: string",
        "Switch: string",
        "Seen: date",
        "Age: date",
      ]);
    });

    it("is left alone while its switch is down", async () => {
      await using bench = await start();
      const before = await bench.writes();
      await bench.client.create(machine("still", "down"));
      await bench.settle();
      expect(await bench.writes()).toEqual(before);
    });

    it("remembers when it noticed while the operator is away", async () => {
      await using bench = await start(new VirtualClock());
      const one = await createSample(bench);
      await bench.advance("3s");
      await bench.restart();
      const { seenAt } = (await one.refresh()).status ?? {};
      await bench.advance("1.9s");
      expect(await position(one)).toBe("up");
      await bench.advance("0.1s");
      expect(await position(one)).toBe("down");
      expect(one.status?.seenAt).toBe(seenAt);
    });

    it("notices what was flipped while nobody was looking", async () => {
      await using bench = await start(new VirtualClock());
      await bench.stopOperator();
      const one = await createSample(bench);
      await bench.startOperator();
      await bench.advance("5s");
      expect(await position(one)).toBe("down");
    });
  });
}
