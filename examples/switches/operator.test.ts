/** The scenario that every form of this operator has to pass. */
import { VirtualClock } from "@lotse/client/meta";
import { type Harness, startHarness } from "@lotse/testing";
import { describe, expect, it } from "vitest";
import operator, { Machine, Switch } from "./operator.ts";

const machine = (name: string, switches: number) => new Machine({ metadata: { name }, spec: { switches } });

async function switchNames({ client }: Harness, of: string): Promise<string[]> {
  return (await client.list(Switch, { labelSelector: { machine: of } }).toArray()).map(({ name }) => name).sort();
}

const positions = async ({ client }: Harness, of: string) => (await client.get(Machine, of)).status?.positions;

const flip = ({ client }: Harness, name: string, position = "up") => client.patch(Switch, name, { spec: { position } });

async function start(): Promise<Harness> {
  const harness = await startHarness(operator, { clock: new VirtualClock() });
  await harness.client.create(machine("desk", 3));
  await harness.client.create(machine("wall", 1));
  await harness.settle();
  return harness;
}

describe("a machine", () => {
  it("has as many switches as it says, all of them down, and tells their positions", async () => {
    await using harness = await start();
    expect(await switchNames(harness, "desk")).toEqual(["desk-00", "desk-01", "desk-02"]);
    expect(await positions(harness, "desk")).toBe("ddd");
    expect(await positions(harness, "wall")).toBe("d");
    const { columns, rows } = await harness.client.table(Machine);
    expect(columns.slice(0, 3).map(({ name }) => name.toUpperCase())).toEqual(["NAME", "SWITCHES", "POSITIONS"]);
    expect(rows).toHaveLength(2);
  });

  it("has one switch flipped back every five seconds, and no machine waits for another", async () => {
    await using harness = await start();
    for (const name of ["desk-00", "desk-02", "wall-00"]) await flip(harness, name);
    await harness.settle();
    expect(await positions(harness, "desk")).toBe("udu");
    expect(await positions(harness, "wall")).toBe("u");
    await harness.advance("5s");
    expect(await positions(harness, "desk")).toBe("ddu");
    expect(await positions(harness, "wall")).toBe("d");
    await harness.advance("5s");
    expect(await positions(harness, "desk")).toBe("ddd");
  });

  it("gets more switches, and loses those that are too many", async () => {
    await using harness = await start();
    await harness.client.patch(Machine, "wall", { spec: { switches: 2 } });
    await harness.client.patch(Machine, "desk", { spec: { switches: 1 } });
    await harness.settle();
    expect(await switchNames(harness, "wall")).toEqual(["wall-00", "wall-01"]);
    expect(await switchNames(harness, "desk")).toEqual(["desk-00"]);
    expect(await positions(harness, "wall")).toBe("dd");
    expect(await positions(harness, "desk")).toBe("d");
  });

  it("takes its switches along when it goes", async () => {
    await using harness = await start();
    const one = await harness.client.get(Switch, "desk-01");
    await (await harness.client.get(Machine, "desk")).delete({ wait: true });
    await one.wait("delete");
    await harness.settle();
    expect(await switchNames(harness, "desk")).toEqual([]);
    expect(await switchNames(harness, "wall")).toEqual(["wall-00"]);
  });

  it("shows a switch that is given another label, and its former machine does not any more", async () => {
    await using harness = await start();
    await flip(harness, "desk-02", "sideways");
    await harness.client.patch(Switch, "desk-02", { metadata: { labels: { machine: "wall" } } });
    await harness.settle();
    expect(await positions(harness, "desk")).toBe("dd");
    expect(await positions(harness, "wall")).toBe("sd");
  });

  it("costs nothing while nobody touches it", async () => {
    await using harness = await start();
    harness.cluster.requests.clear();
    await harness.advance("1m");
    expect(harness.writes()).toEqual([]);
  });
});
