/** The scenario that every form of this operator has to pass, on any cluster. */
import { VirtualClock } from "@lotse/testing";
import { describe, expect, it } from "vitest";
import { type Bench, PATIENCE, type StartBench } from "../bench.ts";
import { Machine, Switch } from "./operator.ts";

const machine = (name: string, switches: number) => new Machine({ metadata: { name }, spec: { switches } });

async function switchNames({ client }: Bench, of: string): Promise<string[]> {
  return (await client.list(Switch, { labelSelector: { machine: of } }).toArray()).map(({ name }) => name).sort();
}

const positions = async ({ client }: Bench, of: string) => (await client.get(Machine, of)).status?.positions;

const flip = ({ client }: Bench, name: string, position = "up") => client.patch(Switch, name, { spec: { position } });

/** Declares the tests. */
export function scenario(start: StartBench): void {
  async function withMachines(): Promise<Bench> {
    const bench = await start(new VirtualClock());
    await bench.client.create(machine("desk", 3));
    await bench.client.create(machine("wall", 1));
    await bench.settle();
    return bench;
  }

  describe("a machine with switches", () => {
    it("has as many as it says, all of them down, and tells their positions", async () => {
      await using bench = await withMachines();
      expect(await switchNames(bench, "desk")).toEqual(["desk-00", "desk-01", "desk-02"]);
      expect(await positions(bench, "desk")).toBe("ddd");
      expect(await positions(bench, "wall")).toBe("d");
      const { columns, rows } = await bench.client.table(Machine);
      expect(columns.slice(0, 3).map(({ name }) => name.toUpperCase())).toEqual(["NAME", "SWITCHES", "POSITIONS"]);
      expect(rows).toHaveLength(2);
    });

    it("has one switch flipped back every five seconds, and no machine waits for another", async () => {
      await using bench = await withMachines();
      for (const name of ["desk-00", "desk-02", "wall-00"]) await flip(bench, name);
      await bench.settle();
      expect(await positions(bench, "desk")).toBe("udu");
      expect(await positions(bench, "wall")).toBe("u");
      await bench.advance("5s");
      expect(await positions(bench, "desk")).toBe("ddu");
      expect(await positions(bench, "wall")).toBe("d");
      await bench.advance("5s");
      expect(await positions(bench, "desk")).toBe("ddd");
    });

    it("gets more switches, and loses those that are too many", async () => {
      await using bench = await withMachines();
      await bench.client.patch(Machine, "wall", { spec: { switches: 2 } });
      await bench.client.patch(Machine, "desk", { spec: { switches: 1 } });
      await bench.settle();
      expect(await switchNames(bench, "wall")).toEqual(["wall-00", "wall-01"]);
      expect(await switchNames(bench, "desk")).toEqual(["desk-00"]);
      expect(await positions(bench, "wall")).toBe("dd");
      expect(await positions(bench, "desk")).toBe("d");
    });

    it("takes its switches along when it goes", async () => {
      await using bench = await withMachines();
      const all = await bench.client.list(Switch, { labelSelector: { machine: "desk" } }).toArray();
      expect(all).toHaveLength(3);
      await (await bench.client.get(Machine, "desk")).delete({ wait: true });
      for (const one of all) await one.wait("delete", { timeout: PATIENCE });
      await bench.settle();
      expect(await switchNames(bench, "wall")).toEqual(["wall-00"]);
    });

    it("shows a switch that is given another label, and its former machine does not any more", async () => {
      await using bench = await withMachines();
      await flip(bench, "desk-02", "sideways");
      await bench.client.patch(Switch, "desk-02", { metadata: { labels: { machine: "wall" } } });
      await bench.settle();
      expect(await positions(bench, "desk")).toBe("dd");
      expect(await positions(bench, "wall")).toBe("sd");
    });

    it("costs nothing while nobody touches it", async () => {
      await using bench = await withMachines();
      const before = await bench.writes();
      await bench.advance("1m");
      expect(await bench.writes()).toEqual(before);
    });
  });
}
