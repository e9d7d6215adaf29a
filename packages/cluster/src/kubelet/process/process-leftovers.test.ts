import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { homePrefix, isLeftover, type Machine, sweepLeftovers } from "./process-leftovers.ts";

const BOOT = Date.UTC(2026, 0, 1);
const machine: Machine = { bootMs: BOOT, uid: 1000, isAlive: (pid) => pid === 7 };
const folder = { name: `${homePrefix(8)}abc`, changedMs: BOOT - 1, uid: 1000 };

describe("the folder of a cluster's pods", () => {
  it("is left over when the machine was started since, and its process is gone", () => {
    expect(isLeftover(folder, machine)).toBe(true);
  });

  it.each([
    ["it was used since the machine was started", { changedMs: BOOT + 1 }],
    ["its process lives", { name: `${homePrefix(7)}abc` }],
    ["it is somebody else's", { uid: 1001 }],
    ["it has another name", { name: "lotse-pods-abc" }],
    ["it belongs to another program", { name: "lotse-faults-8-abc" }],
  ])("is left alone when %s", (_, change) => {
    expect(isLeftover({ ...folder, ...change }, machine)).toBe(false);
  });

  describe("on the disk", () => {
    let root: string;
    beforeEach(async () => {
      root = await mkdtemp(path.join(tmpdir(), "lotse-leftovers-"));
    });
    afterEach(() => rm(root, { recursive: true, force: true }));

    it("is swept away with what is in it, and nothing else is", async () => {
      const of = (name: string) => path.join(root, name);
      const [old, young, other] = [of(`${homePrefix(8)}old`), of(`${homePrefix(8)}young`), of("other-8-old")] as const;
      for (const place of [old, young, other]) {
        await mkdir(path.join(place, "default_one_uid"), { recursive: true });
        await writeFile(path.join(place, "default_one_uid", "kubeconfig"), "secret");
      }
      const before = new Date(BOOT - 1000);
      for (const place of [old, other]) await utimes(place, before, before);
      await sweepLeftovers(root, { ...machine, uid: process.getuid?.() });
      expect([old, young, other].map((place) => existsSync(place))).toEqual([false, true, true]);
    });

    it("need not be there: a place that cannot be read is passed over", async () => {
      await expect(sweepLeftovers(path.join(root, "nowhere"), machine)).resolves.toBeUndefined();
    });
  });
});
