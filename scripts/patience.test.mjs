import { expect, it } from "vitest";
import { hastyWaits } from "./patience.mjs";

it("finds waits that give up after a second, and none that were given their time", () => {
  const lines = [
    "await vi.waitFor(() => expect(log()).toContain('ready'));",
    "await vi.waitFor(() => expect(log()).toContain('ready'), { timeout: 60_000 });",
    "await vi.waitFor(async () => {",
    "  await vi.waitUntil(() => isDone);",
    "}, PATIENCE);",
    "await expect.poll(() => log()).toContain('ready');",
  ];
  expect(hastyWaits(lines.join("\n"))).toEqual([1, 4]);
});
