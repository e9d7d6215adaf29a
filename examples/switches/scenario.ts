/** The scenario that every form of this operator has to pass, on any cluster. */
import { VirtualClock } from "@lotse/testing";
import { loadManifests } from "lotse/client";
import { describe, expect, it } from "vitest";
import { type Bench, PATIENCE, type StartBench } from "../bench.ts";
import { Machine, Switch } from "./operator.ts";

const ONE = "machine-1";
const TWO = "machine-2";

/** The switches of a machine, in the order of their names: the order of its positions. */
const switchesOf = ({ client }: Bench, machine: string) =>
  client.list(Switch, { labelSelector: { machine } }).toArray();

const positions = async ({ client }: Bench, of: string) => (await client.get(Machine, of)).status?.positions;

/** Flips those at these places in the machine's positions. */
async function flip(bench: Bench, machine: string, places: readonly number[], position = "up"): Promise<void> {
  const all = await switchesOf(bench, machine);
  for (const place of places) await all[place]?.patch({ spec: { position } });
  await bench.settle();
}

/** Declares the tests. */
export function scenario(start: StartBench): void {
  async function withMachines(): Promise<Bench> {
    const bench = await start(new VirtualClock());
    for (const object of await loadManifests(new URL("manifests/machines.yaml", import.meta.url))) {
      await bench.client.create(object);
    }
    await bench.settle();
    return bench;
  }

  describe("a machine with switches", () => {
    it("has as many as it says, all of them down, and tells their positions", async () => {
      await using bench = await withMachines();
      const all = [...(await switchesOf(bench, ONE)), ...(await switchesOf(bench, TWO))];
      expect(all).toHaveLength(4);
      for (const { name } of all) expect(name).toMatch(/^switch-[a-z0-9]{5}$/);
      const { columns, rows } = await bench.client.table(Machine);
      expect(columns.map(({ name }) => name)).toEqual(["Name", "Switches", "Positions", "Age"]);
      expect(rows.map(({ cells }) => cells.slice(0, 3))).toEqual([
        [ONE, 3, "ddd"],
        [TWO, 1, "d"],
      ]);
    });

    it("has switches that tell their position, and since when it is known that they are not down", async () => {
      await using bench = await withMachines();
      const cells = async () => (await bench.client.table(Switch)).rows.map((row) => row.cells.slice(1, 3));
      const { columns } = await bench.client.table(Switch);
      expect(columns.map(({ name, type }) => `${name}: ${type}`)).toEqual([
        "Name: string",
        "Position: string",
        "Seen: date",
        "Age: date",
      ]);
      expect(await cells()).toEqual(Array.from({ length: 4 }, () => ["down", null]));
      await flip(bench, TWO, [0]);
      expect(await cells()).toContainEqual(["up", expect.any(String)]);
      await bench.advance("5s");
      expect(await cells()).toEqual(Array.from({ length: 4 }, () => ["down", null]));
    });

    it("flips one switch back every five seconds, and no machine waits for another", async () => {
      await using bench = await withMachines();
      await flip(bench, ONE, [0, 2]);
      await flip(bench, TWO, [0]);
      expect(await positions(bench, ONE)).toBe("udu");
      expect(await positions(bench, TWO)).toBe("u");
      await bench.advance("4.9s");
      expect(await positions(bench, ONE)).toBe("udu");
      await bench.advance("0.1s");
      expect(await positions(bench, ONE)).toMatch(/^(ddu|udd)$/);
      expect(await positions(bench, TWO)).toBe("d");
      await bench.advance("4.9s");
      expect(await positions(bench, ONE)).not.toBe("ddd");
      await bench.advance("0.1s");
      expect(await positions(bench, ONE)).toBe("ddd");
    });

    it("keeps the pace when the operator starts again in between", async () => {
      await using bench = await withMachines();
      await flip(bench, ONE, [0, 1]);
      await bench.advance("5s");
      await bench.restart();
      await bench.advance("4.9s");
      expect(await positions(bench, ONE)).toMatch(/^(dud|udd)$/);
      await bench.advance("0.1s");
      expect(await positions(bench, ONE)).toBe("ddd");
    });

    it("gets more switches, and loses those that are too many", async () => {
      await using bench = await withMachines();
      await bench.client.patch(Machine, TWO, { spec: { switches: 2 } });
      await bench.client.patch(Machine, ONE, { spec: { switches: 1 } });
      await bench.settle();
      expect(await switchesOf(bench, TWO)).toHaveLength(2);
      expect(await switchesOf(bench, ONE)).toHaveLength(1);
      expect(await positions(bench, TWO)).toBe("dd");
      expect(await positions(bench, ONE)).toBe("d");
    });

    it("replaces a switch that somebody deletes", async () => {
      await using bench = await withMachines();
      const [first] = await switchesOf(bench, ONE);
      await first?.delete();
      await bench.settle();
      const names = (await switchesOf(bench, ONE)).map(({ name }) => name);
      expect(names).toHaveLength(3);
      expect(names).not.toContain(first?.name);
    });

    it("takes its switches along when it goes", async () => {
      await using bench = await withMachines();
      const all = await switchesOf(bench, ONE);
      expect(all).toHaveLength(3);
      await (await bench.client.get(Machine, ONE)).delete({ wait: true });
      for (const one of all) await one.wait("delete", { timeout: PATIENCE });
      await bench.settle();
      expect(await switchesOf(bench, TWO)).toHaveLength(1);
    });

    it("loses a switch that is given another label, and makes a new one; the other machine has one too many", async () => {
      await using bench = await withMachines();
      const [moved] = await switchesOf(bench, ONE);
      await moved?.label({ machine: TWO });
      await bench.settle();
      expect((await switchesOf(bench, ONE)).map(({ name }) => name)).not.toContain(moved?.name);
      expect(await positions(bench, ONE)).toBe("ddd");
      expect(await positions(bench, TWO)).toBe("d");
    });

    it("owns a switch that was given to it by its label: it stays when its first machine goes", async () => {
      await using bench = await withMachines();
      await bench.stopOperator();
      for (const one of await switchesOf(bench, TWO)) await one.delete();
      const [given] = await switchesOf(bench, ONE);
      await given?.label({ machine: TWO });
      await bench.startOperator();
      await bench.settle();
      const { uid } = await bench.client.get(Machine, TWO);
      expect((await given?.refresh())?.metadata.ownerReferences).toMatchObject([{ kind: "Machine", uid }]);
      const others = await switchesOf(bench, ONE);
      await (await bench.client.get(Machine, ONE)).delete({ wait: true });
      for (const one of others) await one.wait("delete", { timeout: PATIENCE });
      expect((await switchesOf(bench, TWO)).map(({ name }) => name)).toEqual([given?.name]);
    });

    it("costs nothing while nobody touches it", async () => {
      await using bench = await withMachines();
      const before = await bench.writes();
      await bench.advance("1m");
      expect(await bench.writes()).toEqual(before);
    });
  });
}
