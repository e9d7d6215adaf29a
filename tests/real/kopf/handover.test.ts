import { beforeAll, describe, expect, it } from "vitest";
import { describeOn } from "../../fixture.ts";
import { berths, crds } from "./berths.ts";
import { installKopf } from "./install.ts";
import { type Act, keptOn, play, type Seen } from "./play.ts";

/** A cold package index and a slow machine. */
const installLimitMs = 600_000;

describeOn(["real"], "Kopf and Lotse", (cluster) => {
  let python: string;

  beforeAll(async () => {
    python = await installKopf((line) => process.stdout.write(`${line}\n`));
    const client = await cluster().connect();
    for (const crd of crds) {
      await client.create(crd);
      await client.wait("crd", crd.metadata?.name ?? "", "condition=Established", { timeout: "170s" });
    }
  }, installLimitMs);

  describe.concurrent.each(berths.map((berth) => [berth.title, berth] as const))("on %s", (_title, berth) => {
    const { section } = berth;
    let seen: Seen;

    beforeAll(async () => {
      seen = await play(cluster(), python, berth);
    });

    const created = (act: Act) => [
      `${act}: create_fn create #0`,
      `${act}: publish create #0`,
      `${act}: grow/${section}.size create #0 add null "1"`,
    ];
    const updated = (act: Act, old: number, now: number, more = "") => [
      `${act}: update_fn update #0 ${more}change ${section}.size "${old}" "${now}"`,
      `${act}: publish update #0`,
      `${act}: grow/${section}.size update #0 change "${old}" "${now}"`,
    ];
    const version = (act: Act, name: string) => seen.at(act, name)?.metadata?.resourceVersion ?? "gone";
    const versions = (name: string, ...acts: Act[]) => new Set(acts.map((act) => version(act, name)));
    const deadline = (act: Act, name: string, id: string) => {
      const { progress } = keptOn(berth, seen.at(act, name));
      return Date.parse((progress[id] ?? progress[id.replace(".", "/")])?.delayed ?? "");
    };

    it("do not run a handler again, nor write, for what the other has handled", () => {
      expect(seen.calls("handled")).toEqual([...created("kopf 1"), ...updated("kopf 1", 1, 2)]);
      expect(versions("handled", "kopf 1", "lotse 1", "kopf 2", "lotse 2").size).toBe(1);
      expect(seen.calls("built")).toEqual([...created("lotse 1"), ...updated("lotse 1", 1, 2)]);
      expect(versions("built", "lotse 1", "kopf 2", "lotse 2").size).toBe(1);
    });

    it("find the same essence in whatever JSON there is", () => {
      expect(seen.calls("rich")).toEqual(created("kopf 1"));
      expect(versions("rich", "kopf 1", "lotse 1", "kopf 2", "lotse 2").size).toBe(1);
    });

    it("tell each change once, from what the other has stored, also when nobody worked as it was made", () => {
      expect(seen.calls("changed")).toEqual([
        ...created("kopf 1"),
        ...updated("lotse 1", 1, 2),
        ...updated("lotse 1", 2, 3),
        ...updated("kopf 2", 3, 4),
        ...updated("kopf 2", 4, 5),
      ]);
      expect(versions("changed", "kopf 2", "lotse 2").size).toBe(1);
    });

    it("leave a handler alone that the other has retried to its end", () => {
      expect(seen.calls("retried")).toEqual([
        ...created("kopf 1"),
        "kopf 1: flaky create #0",
        "kopf 1: flaky create #1",
      ]);
      expect(versions("retried", "kopf 1", "lotse 1", "kopf 2", "lotse 2").size).toBe(1);
    });

    it("leave a retry alone until its deadline, and what they know of it as it is", () => {
      expect(seen.calls("waiting")).toEqual([...created("kopf 1"), "kopf 1: flaky create #0"]);
      expect(deadline("lotse 2", "waiting", "flaky")).toBeGreaterThan(Date.now());
      expect(versions("waiting", "kopf 1", "lotse 1", "kopf 2", "lotse 2").size).toBe(1);
    });

    it("go on with the other's retries at their time and with their count, and run nothing else again", () => {
      expect(seen.calls("due")).toEqual([
        ...created("kopf 1"),
        "kopf 1: flaky create #0",
        "lotse 1: flaky create #1",
        "kopf 2: flaky create #2",
      ]);
      const [, second = 0, third = 0] = seen.times("due", "flaky");
      expect(second).toBeGreaterThanOrEqual(deadline("kopf 1", "due", "flaky"));
      expect(third).toBeGreaterThanOrEqual(deadline("lotse 1", "due", "flaky"));
      expect(seen.calls("lotse-due")).toEqual([
        ...created("lotse 1"),
        "lotse 1: flaky create #0",
        "kopf 2: flaky create #1",
      ]);
      expect(seen.times("lotse-due", "flaky")[1]).toBeGreaterThanOrEqual(deadline("lotse 1", "lotse-due", "flaky"));
    });

    it("finish a creation of which the other has finished nothing, and tell nobody that it is an update", () => {
      for (const name of ["lone", "lone-changed"]) {
        const calls = ["kopf 1: flaky create #0", "lotse 1: flaky create #1"];
        expect([name, ...seen.calls(name)]).toEqual([name, ...calls]);
        expect([name, Object.keys(keptOn(berth, seen.at("kopf 1", name)).progress)]).toEqual([name, ["flaky"]]);
        expect([name, versions(name, "lotse 1", "kopf 2", "lotse 2").size]).toEqual([name, 1]);
      }
      expect(seen.calls("lotse-lone")).toEqual(["lotse 1: flaky create #0", "kopf 2: flaky create #1"]);
      expect(versions("lotse-lone", "kopf 2", "lotse 2").size).toBe(1);
    });

    it("finish an update that the other has half done without telling it again to those who know it", () => {
      const annotations = '{"handover.example.com/delay":"8","handover.example.com/failures":"1"}';
      const more = `add metadata.annotations null ${annotations} `;
      expect(seen.calls("halfway")).toEqual([
        ...created("kopf 1"),
        "kopf 1: flaky create #0",
        ...updated("kopf 1", 1, 2, more),
        "kopf 1: flaky update #0",
        "lotse 1: flaky update #1",
      ]);
      expect(versions("halfway", "lotse 1", "kopf 2", "lotse 2").size).toBe(1);
    });

    it("go on with sub-handlers as steps, and with steps as sub-handlers", () => {
      expect(seen.calls("parts")).toEqual([
        ...created("kopf 1"),
        "kopf 1: parts/hull create",
        "kopf 1: parts/sail create",
        "lotse 1: parts/sail create",
      ]);
      expect(seen.times("parts", "parts/sail")[1]).toBeGreaterThanOrEqual(deadline("kopf 1", "parts", "parts.sail"));
      expect(seen.calls("lotse-parts")).toEqual([
        ...created("lotse 1"),
        "lotse 1: parts/hull create",
        "lotse 1: parts/sail create",
        "kopf 2: parts/sail create",
      ]);
    });

    it("resume what the other has handled once a process, without a write", () => {
      const resumed = (act: Act) => `${act}: resume_fn resume #0`;
      expect(seen.calls("resumed")).toEqual([
        ...created("kopf 1"),
        ...(["lotse 1", "kopf 2", "lotse 2"] as const).map(resumed),
      ]);
      expect(keptOn(berth, seen.at("lotse 2", "resumed"))).toEqual(keptOn(berth, seen.at("kopf 1", "resumed")));
    });

    it("know each other's finalizer, and let go of what is deleted after telling it once", () => {
      expect(seen.at("kopf 1", "doomed")?.metadata?.finalizers).toEqual([berth.finalizer]);
      expect(seen.at("lotse 1", "leaving")?.metadata?.finalizers).toEqual([berth.finalizer]);
      for (const name of ["doomed", "orphaned"]) {
        expect([name, ...seen.calls(name)]).toEqual([name, ...created("kopf 1"), "lotse 1: delete_fn delete #0"]);
        expect([name, version("lotse 1", name)]).toEqual([name, "gone"]);
      }
      for (const name of ["leaving", "left"]) {
        expect([name, ...seen.calls(name)]).toEqual([name, ...created("lotse 1"), "kopf 2: delete_fn delete #0"]);
        expect([name, version("kopf 2", name)]).toEqual([name, "gone"]);
      }
    });

    it("finish a deletion that the other has half done", () => {
      expect(seen.calls("stubborn")).toEqual([
        ...created("kopf 1"),
        "kopf 1: delete_fn delete #0",
        "kopf 1: flaky_delete delete #0",
        "lotse 1: flaky_delete delete #1",
      ]);
      const retriedAt = seen.times("stubborn", "flaky_delete")[1];
      expect(retriedAt).toBeGreaterThanOrEqual(deadline("kopf 1", "stubborn", "flaky_delete"));
      expect(version("lotse 1", "stubborn")).toBe("gone");
    });

    it("put a handler's result where the other does, if the kind keeps it", () => {
      const result = berth.keepsResults ? { size: "2" } : undefined;
      for (const [act, name] of [
        ["kopf 1", "handled"],
        ["lotse 1", "built"],
      ] as const) {
        const status = seen.at(act, name)?.status as { publish?: unknown } | undefined;
        expect([name, status?.publish]).toEqual([name, result]);
      }
    });
  });
});
