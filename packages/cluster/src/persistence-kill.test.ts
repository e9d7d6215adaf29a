import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import { CONFIG_MAPS, call } from "./test-requests.ts";

const LIVES = 3;
const WRITERS = 16;

let root: string;
let program: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "lotse-kill-data-"));
  program = join(root, "server.mjs");
  const { build } = await import("esbuild");
  await build({
    entryPoints: [fileURLToPath(new URL("test-kept-server.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@lotse/source"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "silent",
  });
});

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await rm(root, { recursive: true, force: true });
});

interface Server {
  readonly process: ChildProcess;
  readonly port: number;
  readonly token: string;
}

async function start(folder: string): Promise<Server> {
  const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  return { process: child, ...(JSON.parse(line) as { port: number; token: string }) };
}

interface Reply {
  readonly status: number;
  readonly resourceVersion: string;
}

/** Undefined when the server went before it had answered. */
function send(server: Server, agent: Agent, method: string, path: string, body?: object): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const text = body && JSON.stringify(body);
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { authorization: `Bearer ${server.token}`, ...(text ? { "content-type": type } : {}) };
    const call = request({ agent, host: "127.0.0.1", port: server.port, method, path, headers }, (answer) => {
      let received = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        received += chunk;
      });
      answer.on("error", () => resolve(undefined));
      answer.on("end", () => {
        if (!answer.complete) return resolve(undefined);
        const parsed = JSON.parse(received) as { metadata: { resourceVersion: string } };
        resolve({ status: answer.statusCode ?? 0, resourceVersion: parsed.metadata.resourceVersion });
      });
    });
    call.on("error", () => resolve(undefined));
    call.end(text);
  });
}

/** What a writer was told, and what it had asked for when the server went. */
interface Written {
  value: number | undefined;
  asked: (number | undefined)[];
  version: number;
}

describe("kill -9 under load", () => {
  it("loses no answered write and invents none, life after life", async () => {
    const folder = join(root, "data");
    const objects = new Map<string, Written>();
    let answered = 0;
    for (let life = 0; life < LIVES; life++) {
      const server = await start(folder);
      const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
      // In the middle of what the other writers have sent, and each time at another place.
      const goal = answered + 40 + life * 37;
      let alive = true;
      const gone = once(server.process, "exit").then(() => {
        alive = false;
      });
      const write = async (writer: number) => {
        for (let i = 0; alive; i++) {
          const name = `w${writer}-${i % 5}`;
          const known = objects.get(name) ?? { value: undefined, asked: [], version: 0 };
          objects.set(name, known);
          const remove = known.value !== undefined && i % 11 === 10;
          const value = remove ? undefined : life * 1_000_000 + i;
          known.asked.push(value);
          const path = `${CONFIG_MAPS}/${name}`;
          const body = { metadata: { name }, data: { value: String(value) } };
          const reply = remove
            ? await send(server, agent, "DELETE", path)
            : known.value === undefined
              ? await send(server, agent, "POST", CONFIG_MAPS, body)
              : await send(server, agent, "PATCH", path, body);
          // Without an answer both outcomes are right, and the next life begins with finding out which one it was.
          if (!reply) return;
          expect(reply.status).toBeLessThan(300);
          known.value = value;
          known.asked = [];
          if (!remove) known.version = Number(reply.resourceVersion);
          if (++answered === goal) server.process.kill("SIGKILL");
        }
      };
      const writers = Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i)));
      await writers;
      await gone;
      agent.destroy();

      const cluster = await Cluster.start({ data: folder, tls: false });
      const list = await call(cluster, "GET", CONFIG_MAPS);
      const found = new Map<string, { value: number; version: number }>();
      for (const { metadata, data } of list.body.items) {
        found.set(metadata.name, { value: Number(data?.value), version: Number(metadata.resourceVersion) });
      }
      for (const [name, known] of objects) {
        const now = found.get(name);
        expect([known.value, ...known.asked], name).toContain(now?.value);
        if (now && now.value === known.value) expect(now.version).toBe(known.version);
        if (now) expect(now.version).toBeGreaterThanOrEqual(known.version);
        known.value = now?.value;
        known.asked = [];
        known.version = now?.version ?? 0;
      }
      found.delete("kube-root-ca.crt");
      expect([...found.keys()].filter((name) => !objects.has(name))).toEqual([]);
      await cluster.stop();
    }
  }, 300_000);
});
