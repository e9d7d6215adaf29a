import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { isSource, watchFolder } from "./watch-folder.ts";

describe("isSource", () => {
  it.each(["operator.ts", "operator.mts", "rates.js", "settings.json"])("counts %s", (name) => {
    expect(isSource(name)).toBe(true);
  });

  it.each(["operator.test.ts", "operator.spec.js", ".operator.ts.swp", "operator.ts~", "4913", "README.md"])(
    "leaves %s alone",
    (name) => expect(isSource(name)).toBe(false),
  );
});

describe("watchFolder", () => {
  it("makes one call of a save in several steps, also when the file is replaced", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-watch-"));
    const changed = vi.fn();
    const end = watchFolder(folder, changed);
    try {
      writeFileSync(path.join(folder, "notes.md"), "not code");
      writeFileSync(path.join(folder, "draft.tmp"), "one");
      renameSync(path.join(folder, "draft.tmp"), path.join(folder, "operator.ts"));
      writeFileSync(path.join(folder, "operator.ts"), "two");
      await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 170_000 });
      expect(changed.mock.calls).toEqual([["operator.ts"]]);
    } finally {
      end();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
