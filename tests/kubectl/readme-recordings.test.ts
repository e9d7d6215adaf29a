/** The recordings in docs/recordings, made once more: they show what the terminals show today. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RECORDINGS, record, steady } from "../../scripts/docs/recordings.ts";

describe("a recording", () => {
  it.each(Object.keys(RECORDINGS))("%s.txt is what is printed", { timeout: 180_000 }, async (name) => {
    const kept = readFileSync(new URL(`../../docs/recordings/${name}.txt`, import.meta.url), "utf8");
    expect(await record(name), "record it anew: node scripts/docs/record.mjs").toBe(kept);
  });

  it("has a steady value for everything that differs from run to run", () => {
    const first =
      "cluster  https://127.0.0.1:41233, up after 812 ms\n07:12:33.123 INFO euro-bcd24 took=1s\neuro EUR 12s\n";
    const second = "cluster  https://127.0.0.1:5, up after 9 ms\n23:59:59.999 INFO euro-zzz99 took=3ms\neuro EUR 3s\n";
    expect(steady(first, "/tmp/x")).toBe(steady(second, "/tmp/x"));
    expect(steady("rate=0.92", "/tmp/x")).not.toBe(steady("rate=0.93", "/tmp/x"));
    expect(steady("export KUBECONFIG=/tmp/x/kubeconfig", "/tmp/x")).not.toContain("/tmp");
  });
});
