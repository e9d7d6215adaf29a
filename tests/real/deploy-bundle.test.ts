/**
 * The Dockerfile of `lotse generate dockerfile`, without a container engine: the commands of its first stage run in a
 * folder, and what its second stage keeps runs with Node.js alone in another one. Only `npm ci` is stood in for, by the
 * workspace's own packages: a clone of the repository has no published ones to install.
 */
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Cluster } from "@lotse/cluster";
import { ConfigMap, CustomResourceDefinition } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExchangeRate } from "../../examples/exchange-rates/operator.ts";
import { run } from "../fixture.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOTSE = path.join(ROOT, "packages/lotse/bin/lotse.js");
/**
 * What the image adds to Node.js itself. Shadows and shares are in it: the same image runs as each of them. So are two ways
 * to speak HTTP, as long as LOTSE_HTTP=node can be asked for.
 */
const LARGEST_BYTES = 1_240_000;

interface Stage {
  readonly from: string;
  readonly commands: readonly string[];
  readonly copies: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cmd: readonly string[];
}

/** The stages of a Dockerfile, as far as this one uses the language. */
function stagesOf(dockerfile: string): Stage[] {
  return dockerfile
    .split(/^(?=FROM )/m)
    .filter((text) => text.startsWith("FROM "))
    .map((text) => {
      const all = (word: string) => [...text.matchAll(new RegExp(`^${word} (.*)$`, "gm"))].map(([, rest = ""]) => rest);
      return {
        from: all("FROM")[0] ?? "",
        commands: all("RUN"),
        copies: all("COPY"),
        env: Object.fromEntries(all("ENV").map((line) => line.split("=", 2) as [string, string])),
        cmd: JSON.parse(all("CMD")[0] ?? "[]") as string[],
      };
    });
}

describe("the generated Dockerfile", () => {
  let folder: string;
  let build: Stage;
  let image: Stage;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-image-"));
    const app = path.join(folder, "app");
    cpSync(path.join(ROOT, "examples/exchange-rates"), app, {
      recursive: true,
      filter: (file) => !file.includes("node_modules") && !file.endsWith(".test.ts"),
    });
    const { stdout, exitCode } = await run(process.execPath, [LOTSE, "generate", "dockerfile", "operator.ts"], {
      cwd: path.join(ROOT, "examples/exchange-rates"),
    });
    expect(exitCode).toBe(0);
    const [first, second, ...more] = stagesOf(stdout);
    if (!first || !second) throw new Error(`two stages are expected in\n${stdout}`);
    expect(more).toEqual([]);
    [build, image] = [first, second];
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  it("builds its bundle by its own commands, which runs with Node.js alone and handles an object", async () => {
    const app = path.join(folder, "app");
    const [install, ...commands] = build.commands;
    expect(install).toBe("npm ci --ignore-scripts");
    expect(commands).toHaveLength(2);
    symlinkSync(path.join(ROOT, "node_modules"), path.join(app, "node_modules"), "dir");
    for (const command of commands) {
      // Nothing is fetched: the bundler that is asked for is among the packages.
      const { exitCode, stderr } = await run("sh", ["-c", command], { cwd: app, env: { npm_config_offline: "true" } });
      expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 0 });
    }

    const alone = path.join(folder, "image");
    mkdirSync(alone);
    for (const copy of image.copies) {
      const found = /^--from=build \/app\/(\S+) \.\/$/.exec(copy)?.[1];
      if (found === undefined) throw new Error(`COPY ${copy} is not known here`);
      copyFileSync(path.join(app, found), path.join(alone, path.basename(found)));
    }
    expect(readdirSync(alone)).toEqual(["operator.mjs"]);
    const { size } = statSync(path.join(alone, "operator.mjs"));
    process.stdout.write(`the bundle of exchange-rates has ${Math.round(size / 1000)} kB\n`);
    expect(size).toBeLessThan(LARGEST_BYTES);

    await using cluster = await Cluster.start();
    await cluster.writeKubeconfig(path.join(folder, "kubeconfig"));
    const child = spawn(process.execPath, image.cmd, {
      cwd: alone,
      // Nothing of this process's environment: no paths by which the bundle could find more than it brings.
      env: { ...image.env, KUBECONFIG: path.join(folder, "kubeconfig") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const early = ended.then((code) => Promise.reject(new Error(`the bundle ended with ${code}:\n${log}`)));
    early.catch(() => {});
    try {
      const admin = await cluster.connect();
      const definition = new CustomResourceDefinition(ExchangeRate.crd(), admin);
      const worked = async () => {
        await definition.wait(["create", "condition=Established"], { timeout: "170s" });
        const metadata = { name: "money", namespace: "default" };
        const created = await admin.create(new ExchangeRate({ metadata, spec: { currency: "EUR" } }, admin));
        const money = await created.wait(({ status }) => status?.configMap !== undefined, { timeout: "20s" });
        return admin.get(ConfigMap, money.status?.configMap ?? "", { namespace: "default" });
      };
      const configMap = await Promise.race([worked(), early]);
      expect(configMap.data).toEqual({ currency: "EUR", rate: "0.92" });
      await admin.close();
    } finally {
      child.kill("SIGTERM");
    }
    expect(await ended).toBe(0);
    // A handler is known by its function's name, which objects remember: it is the same in a bundle.
    expect(log).toContain('"handler":"publishRate"');
  });
});
