/** A harbour's day, on any cluster. */
import { describe, expect, it, vi } from "vitest";
import type { Bench, StartBench } from "../bench.ts";
import { Berth } from "./berth.ts";

const OldBerth = Berth.version("v1beta1");

type Ship = (typeof Berth.Spec)["ship"];

const berth = (name: string, ship: Omit<Ship, "name">, quay?: string) =>
  new Berth({ metadata: { name }, spec: { ship: { name: name.toUpperCase(), ...ship }, ...(quay && { quay }) } });

/** A real API server hears of webhooks and policies a moment after they are registered. */
async function open(start: StartBench): Promise<Bench> {
  const bench = await start();
  await vi.waitFor(
    async () => {
      const tries = [berth("probe", { length: 999 }, "north"), berth("probe", { length: 1 }, "nowhere")];
      const answers = await Promise.all(tries.map((one) => refusal(bench.client.create(one, { dryRun: true }))));
      expect(answers).toEqual([expect.stringContaining("has room for"), expect.stringContaining("there is no quay")]);
    },
    { timeout: 60_000, interval: 100 },
  );
  return bench;
}

/** The message of a refusal. */
const refusal = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => "it was accepted",
    (error: Error) => error.message,
  );

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a berth", () => {
    it("gets the first quay that has room, and a pilot", async () => {
      await using bench = await open(start);
      const anna = await bench.client.create(berth("anna", { length: 90 }));
      expect(anna.spec.quay).toBe("north");
      await anna.wait(({ status }) => status?.pilot === "a pilot");
      await bench.settle();
      const bertha = await bench.client.create(berth("bertha", { length: 110 }));
      expect(bertha.spec.quay).toBe("south");
    });

    it("is refused where there is no room, with what is in the way", async () => {
      await using bench = await open(start);
      await bench.client.create(berth("anna", { length: 90 }, "north"));
      await bench.settle();
      const clara = bench.client.create(berth("clara", { length: 40 }, "north"));
      expect(await refusal(clara)).toContain("quay north has room for 30 metres, and CLARA has 40");
      const titan = bench.client.create(berth("titan", { length: 500 }));
      expect(await refusal(titan)).toContain("no quay has room for 500 metres");
    });

    it("is refused by the policy when there is no such quay", async () => {
      await using bench = await open(start);
      const lost = bench.client.create(berth("lost", { length: 10 }, "moon"));
      expect(await refusal(lost)).toContain("there is no quay moon");
    });

    it("is refused by the rules of its schema when the ship is nonsense, or becomes another one", async () => {
      await using bench = await open(start);
      const deep = bench.client.create(berth("deep", { length: 10, draught: 11 }));
      expect(await refusal(deep)).toContain("no ship is deeper than it is long");
      const anna = await bench.client.create(berth("anna", { length: 90 }));
      const renamed = anna.patch({ spec: { ship: { name: "HANNA" } } });
      expect(await refusal(renamed)).toContain("another ship needs another berth");
    });

    it("is the same in both versions, and a client of the old one loses nothing of it", async () => {
      await using bench = await open(start);
      await bench.client.create(berth("anna", { length: 90, draught: 5.5 }));
      const old = await bench.client.get(OldBerth, "anna");
      expect(old.spec).toEqual({ ship: "ANNA", metres: 90, quay: "north" });
      await old.patch({ spec: { metres: 95 } });
      const { spec } = await bench.client.get(Berth, "anna");
      expect(spec.ship).toEqual({ name: "ANNA", length: 95, draught: 5.5 });
    });

    it("is judged in the old version, too", async () => {
      await using bench = await open(start);
      const spec = { ship: "Titan", metres: 130, quay: "north" };
      const titan = bench.client.create(new OldBerth({ metadata: { name: "titan" }, spec }));
      expect(await refusal(titan)).toContain("quay north has room for 120 metres, and Titan has 130");
    });
  });
}
