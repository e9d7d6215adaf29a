import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { flaky } from "./provider.ts";

describe("the provider", () => {
  it("runs by itself, and is as flaky as it is told", { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "lotse-provider-"));
    const outfile = path.join(folder, "provider.mjs");
    const entryPoints = [fileURLToPath(new URL("provider.ts", import.meta.url))];
    await build({ entryPoints, outfile, platform: "node", format: "esm", target: "node20", logLevel: "silent" });
    const child = spawn(process.execPath, [outfile, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = (await once(createInterface(child.stdout), "line")) as [string];
      const url = /^the provider listens at (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
      const status = async () => (await fetch(`${url}/records`).catch(() => undefined))?.status;
      expect(await status()).toBe(200);
      await fetch(`${url}/flaky`, { method: "PUT", body: "1" });
      expect(await status()).not.toBe(200);
    } finally {
      child.kill();
      await once(child, "close");
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("has the same bad days for the same seed, with all that can go wrong", () => {
    const days = (seed: number) => {
      const faults = flaky(0.5, seed);
      return Array.from({ length: 200 }, () => faults("GET /records")?.kind ?? "fine");
    };
    expect(days(3)).toEqual(days(3));
    expect(days(3)).not.toEqual(days(4));
    expect([...new Set(days(3))].sort()).toEqual(["broken", "busy", "fine", "late", "lost", "silent"]);
  });
});
