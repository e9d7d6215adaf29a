/** What the useless machine does, wherever it stands. */
import { VirtualClock } from "@lotse/testing";
import { describe, expect, it } from "vitest";
import type { StartBench } from "../bench.ts";
import { Machine } from "./operator.ts";

const machine = (name: string, switchPosition = "up") => new Machine({ metadata: { name }, spec: { switchPosition } });

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a useless machine", () => {
    it("flips a switch back at once, and writes down when", async () => {
      const clock = new VirtualClock();
      await using bench = await start(clock);
      await bench.client.create(machine("desk", "sideways"));
      await bench.settle();
      const desk = await bench.client.get(Machine, "desk");
      expect(desk.spec.switchPosition).toBe("down");
      expect(Date.parse(desk.status?.seenAt ?? "")).toBe(clock.now());
    });

    it("rests for five seconds between two flips, and nobody else waits for that", async () => {
      await using bench = await start(new VirtualClock());
      const desk = await bench.client.create(machine("desk"));
      await bench.settle();
      await bench.advance("2s");
      await desk.patch({ spec: { switchPosition: "up" } });
      const wall = await bench.client.create(machine("wall"));
      await bench.settle();
      const position = async (one: InstanceType<typeof Machine>) => (await one.refresh()).spec.switchPosition;
      expect(await position(desk)).toBe("up");
      expect(await position(wall)).toBe("down");

      await bench.advance("2.9s");
      expect(await position(desk)).toBe("up");
      await bench.advance("0.2s");
      expect(await position(desk)).toBe("down");
    });

    it("is left alone while its switch is down", async () => {
      await using bench = await start();
      const before = await bench.writes();
      await bench.client.create(machine("still", "down"));
      await bench.settle();
      expect(await bench.writes()).toEqual(before);
    });

    it("flips back what was flipped while it was not looking", async () => {
      await using bench = await start();
      await bench.stopOperator();
      await bench.client.create(machine("desk"));
      await bench.startOperator();
      await bench.settle();
      expect((await bench.client.get(Machine, "desk")).spec.switchPosition).toBe("down");
    });
  });
}
