/** A live Kopf and a live Lotse with the same operator, each in processes of its own, around one peering object. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Client, ConfigMap } from "@lotse/client";
import { expect, vi } from "vitest";
import { inFreshNamespace } from "../../../packages/client/src/test-namespace.ts";
import { peeringObject } from "../../../packages/lotse/src/coordination/peering/test-peering-kinds.ts";
import { Project, type Running } from "../../cli/project.ts";
import type { TestCluster } from "../../fixture.ts";

/** Kopf renews some seconds before the end: less would leave it no time. */
const LIFETIME_S = 15;

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** What one test needs; see the module comment. */
export interface PeersOptions {
  readonly cluster: TestCluster;
  /** The Python that has Kopf. */
  readonly python: string;
  readonly namespace: string;
}

/** See the module comment. */
export class Peers implements AsyncDisposable {
  readonly client: Client;
  readonly #o: PeersOptions;
  readonly #project = new Project();
  readonly #all: Running[] = [];
  #probes = 0;

  private constructor(options: PeersOptions, client: Client) {
    this.#o = options;
    this.client = client;
    this.#project.write("peer.ts", readFileSync(fileOf("peer.ts"), "utf8"));
  }

  /** In a namespace of their own, with a peering object. */
  static async meet(options: PeersOptions): Promise<Peers> {
    const client = await inFreshNamespace(await options.cluster.connect(), { name: options.namespace });
    await client.create(peeringObject(options.namespace));
    return new Peers(options, client);
  }

  /** A process of `lotse run`. */
  lotse(priority: number): Running {
    const argv = ["run", "peer.ts", "--peering", "default", "--priority", String(priority), ...this.#place];
    return this.#keep(this.#project.begin(argv, this.#env));
  }

  /** A process of `kopf run`. */
  kopf(priority: number): Running {
    const argv = ["run", fileOf("peer.py"), "--peering", "default", "--priority", String(priority), ...this.#place];
    return this.#keep(this.#project.launch(this.#o.python, ["-m", "kopf", ...argv], this.#env));
  }

  /** Another command of either, to its end; it has to succeed. */
  async command(framework: "kopf" | "lotse", ...argv: string[]): Promise<void> {
    const all = [...argv, "--peering", "default", ...this.#place];
    const { python } = this.#o;
    const running =
      framework === "lotse"
        ? this.#project.begin(all, this.#env)
        : this.#project.launch(python, ["-m", "kopf", ...all], this.#env);
    const code = await running.ended;
    expect(code, running.err()).toBe(0);
  }

  /** What has been handled, and by whom: `kopf: create a`. Each line is a call of a handler. */
  get handled(): string[] {
    return this.#all.flatMap((running) => running.out().match(/^(?:kopf|lotse): \w+ [a-z]$/gm) ?? []);
  }

  /**
   * Resolves when `framework` handles what comes. Kopf still takes what its streams show in the moment in which it says that
   * it pauses.
   */
  async settle(framework: "kopf" | "lotse"): Promise<void> {
    const by = (name: string) => {
      const calls = this.#all.flatMap((running) => running.out().match(/^(?:kopf|lotse): \w+ .*$/gm) ?? []);
      const call = calls.find((one) => one.endsWith(` create ${name}`));
      if (call === undefined) throw new Error(`nobody handles ${name}:\n${this.story()}`);
      return call.split(":")[0];
    };
    for (;;) {
      const name = `probe-${++this.#probes}`;
      await this.client.create(ConfigMap.gen({ name, labels: { peers: "yes" } }));
      await eventually(() => by(name));
      if (by(name) === framework) return;
    }
  }

  /** Somebody makes an object, and this is what becomes of it. */
  async create(name: string, by: "kopf" | "lotse"): Promise<void> {
    await this.client.create(ConfigMap.gen({ name, labels: { peers: "yes" }, data: { n: "1" } }));
    await this.becomes(`${by}: create ${name}`);
    await this.#written(name, 1);
  }

  /** The same for a change. */
  async change(name: string, by: "kopf" | "lotse", n: number): Promise<void> {
    await this.client.patch(ConfigMap, name, { data: { n: String(n) } });
    await this.becomes(`${by}: update ${name}`);
    await this.#written(name, n);
  }

  /** What was handled is written down: only then it is done for whoever comes next. */
  #written(name: string, n: number): Promise<void> {
    return eventually(async () => {
      const { annotations } = (await this.client.get(ConfigMap, name)).metadata;
      expect(annotations?.["kopf.zalando.org/last-handled-configuration"]).toMatch(`"n":"${n}"`);
    });
  }

  becomes(call: string): Promise<void> {
    return eventually(() => expect(this.handled, this.story()).toContain(call));
  }

  /** The last word of each peer, by its identity; milliseconds since the epoch when it is dead. */
  async deadlines(): Promise<number[]> {
    const { body } = await this.client.get("kopfpeerings.kopf.dev", "default");
    const { status = {} } = body as { status?: Record<string, { lastseen: string; lifetime: number }> };
    return Object.values(status).map(({ lastseen, lifetime }) => Date.parse(lastseen) + lifetime * 1_000);
  }

  /** What all of them have said, for whoever has to find out why a test fails. */
  story(): string {
    return this.#all.map((running) => `${running.out()}${running.err()}`).join("\n----\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#project.remove();
  }

  get #place(): string[] {
    return ["--namespace", this.#o.namespace];
  }

  get #env(): Record<string, string> {
    return {
      KUBECONFIG: this.#o.cluster.kubeconfigPath,
      PEER_LIFETIME: String(LIFETIME_S),
      USER: "ada",
      // It would leave compiled files beside the sources.
      PYTHONDONTWRITEBYTECODE: "1",
    };
  }

  #keep(running: Running): Running {
    this.#all.push(running);
    return running;
  }
}

/** How each of them says that it pauses, and that it goes on. */
export const WORDS = {
  kopf: {
    pauses: "Pausing operations in favour of",
    works: "Resuming operations after the pause",
    equal: "Possibly conflicting operators with the same priority",
  },
  lotse: {
    pauses: "the operator pauses",
    works: "no peer has precedence, the operator works",
    equal: "there are peers with the same priority, all of them pause",
  },
} as const;

/** Resolves when a process has said something for the n-th time. */
export function says(running: Running, text: string, times = 1): Promise<void> {
  return running.says(() => `${running.out()}${running.err()}`.split(text).length > times);
}

/** Patience for a busy machine. */
export async function eventually(check: () => unknown): Promise<void> {
  await vi.waitFor(check, { timeout: 170_000, interval: 50 });
}
