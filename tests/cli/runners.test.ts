/** The harness under another test runner than this one. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

test("under node:test a test passes, an oracle fails one with its reason, and the process ends", async () => {
  const args = ["--import", "./scripts/typescript.mjs", "--conditions=@lotse/source"];
  const file = fileURLToPath(new URL("node-test.ts", import.meta.url));
  const child = spawn(process.execPath, [...args, "--test-reporter=spec", file], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    // Inside of another runner, node:test would only tell that one.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined },
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const [printed] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(await ended).toBe(1);
  expect(printed).toMatch(/✔ a sign belongs to its shop/);
  expect(printed).toMatch(/✖ a sign without an owner is an orphan/);
  expect(printed).toContain("handler sign made ConfigMap default/corner-sign for Shop default/corner, which is gone");
});
