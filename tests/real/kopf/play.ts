/**
 * One play in four acts on one kind: Kopf works, then Lotse, then Kopf again, then Lotse again, with changes in between
 * while nobody works. Each object has a story of its own; the tests look at what was told about it.
 */
import type { Client, KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { expect, vi } from "vitest";
import { inFreshNamespace } from "../../../packages/client/src/test-namespace.ts";
import type { TestCluster } from "../../fixture.ts";
import { type Berth, type Call, notes } from "./berths.ts";
import { KopfProcess } from "./kopf-process.ts";
import { lotseOperator } from "./operator.ts";

/** The acts, in order. */
export type Act = "kopf 1" | "lotse 1" | "kopf 2" | "lotse 2";

/** How long a retry waits that one operator leaves to the other: longer than a stop and a start take. */
const retryDelay = 8;

/** What was seen in a play. */
export class Seen {
  readonly #calls: { readonly act: Act; readonly at: number; readonly call: Call }[] = [];
  readonly #bodies = new Map<Act, ReadonlyMap<string, KubeBody>>();

  note(act: Act, call: Call): void {
    this.#calls.push({ act, at: Date.now(), call });
  }

  keep(act: Act, bodies: readonly KubeBody[]): void {
    this.#bodies.set(act, new Map(bodies.map((body) => [body.metadata?.name ?? "", body])));
  }

  /** The calls about an object, in order: `kopf 1: flaky create #0`. */
  calls(name: string): string[] {
    return this.#calls
      .filter(({ call }) => call.name === name)
      .map(({ act, call: { id, reason, retry, diff } }) => {
        const changes = diff.map(([op, path, old, now]) =>
          [op, ...(path.length > 0 ? [path.join(".")] : []), JSON.stringify(old), JSON.stringify(now)].join(" "),
        );
        // Kopf tells the differences between two objects in any order.
        return [`${act}: ${id} ${reason}`, ...(retry === null ? [] : [`#${retry}`]), ...changes.sort()].join(" ");
      });
  }

  /** When calls of a handler about an object were told, in milliseconds since the epoch. */
  times(name: string, id: string): number[] {
    return this.#calls.filter(({ call }) => call.name === name && call.id === id).map(({ at }) => at);
  }

  /** The object at the end of an act; undefined when it is gone. */
  at(act: Act, name: string): KubeBody | undefined {
    return this.#bodies.get(act)?.get(name);
  }
}

const baseKey = "last-handled-configuration";

/** What lies on an object. */
export interface Kept {
  readonly base: unknown;
  /** What is remembered of unfinished cycles, by handler. */
  readonly progress: Readonly<Record<string, { readonly delayed?: string; readonly retries?: number }>>;
}

/** Reads Kopf's record by hand, wherever it lies: this is about who wrote what, not about how Lotse reads it. */
export function keptOn({ options }: Berth, body: KubeBody | undefined): Kept {
  const prefix = `${options.prefix ?? "kopf.zalando.org"}/`;
  const records = Object.entries(body?.metadata?.annotations ?? {}).flatMap(([key, text]) => {
    const id = key.startsWith(prefix) ? key.slice(prefix.length) : "";
    return ["", "kopf-managed", "touch-dummy"].includes(id) ? [] : [[id, JSON.parse(text) as unknown] as const];
  });
  const { [baseKey]: base, ...progress } = Object.fromEntries(records);
  const status = isObject(body?.status) && isObject(body.status.kopf) ? body.status.kopf : {};
  const text = status[baseKey];
  return {
    base: base ?? (typeof text === "string" ? JSON.parse(text) : undefined),
    progress: { ...(status.progress as Kept["progress"] | undefined), ...(progress as Kept["progress"]) },
  };
}

/** Plays it. */
export async function play(cluster: TestCluster, python: string, berth: Berth): Promise<Seen> {
  const stage = await Stage.set(cluster, python, berth);
  try {
    await kopfBegins(stage);
    await stage.patch("changed", { size: "2" });
    await stage.patch("lone-changed", { size: "2" });
    await stage.remove("orphaned");
    await lotseTakesOver(stage);
    await stage.patch("changed", { size: "4" });
    await stage.remove("left");
    await kopfTakesBack(stage);
    await stage.withLotse("lotse 2", () => stage.told("resumed", "resume_fn", 3));
    return stage.seen;
  } finally {
    await stage.clear();
  }
}

const flaky = (failures: number, delay: number) => ({
  labels: { flaky: "yes" },
  annotations: { [notes.failures]: String(failures), [notes.delay]: String(delay) },
});

/** Its creation is left to the other with nothing finished. */
const lone = () => ({ ...flaky(1, retryDelay), labels: { flaky: "yes", lone: "yes" } });

async function kopfBegins(stage: Stage): Promise<void> {
  await stage.withKopf("kopf 1", async () => {
    await stage.create("handled");
    await stage.create("changed");
    await stage.create("doomed");
    await stage.create("orphaned");
    await stage.create("halfway", { labels: { flaky: "yes" } });
    await stage.create("resumed", { labels: { resume: "yes" } });
    await stage.create("retried", flaky(1, 0.5));
    await stage.create("waiting", flaky(9, 3600));
    await stage.create("stubborn", { ...flaky(1, retryDelay), labels: { "flaky-delete": "yes" } });
    await stage.create(
      "rich",
      { labels: { team: "harbour" }, annotations: { "example.com/note": 'Grüße "an" alle ⚓ 😀' } },
      { float: 0.00001, large: 12345678901, list: [1, { deep: [null, true] }], empty: {}, text: "Zeile\n\u007f\u2028" },
    );
    for (const name of [
      "handled",
      "changed",
      "doomed",
      "orphaned",
      "halfway",
      "resumed",
      "retried",
      "stubborn",
      "rich",
    ])
      await stage.closed(name, "1");
    await stage.patch("handled", { size: "2" });
    await stage.closed("handled", "2");
    await stage.waits("waiting", "flaky", 1);

    // The last things that Kopf does: what it leaves to Lotse.
    await stage.create("due", flaky(2, retryDelay));
    await stage.create("lone", lone());
    await stage.create("lone-changed", lone());
    await stage.create("parts", { labels: { parts: "yes" }, annotations: partsNotes("kopf") });
    await stage.patch("halfway", { size: "2" }, flaky(1, retryDelay));
    await stage.remove("stubborn");
    for (const name of ["due", "lone", "lone-changed"]) await stage.waits(name, "flaky", 1);
    await stage.waits("parts", "parts.sail", 1);
    await stage.waits("halfway", "flaky", 1);
    await stage.waits("stubborn", "flaky_delete", 1);
  });
}

async function lotseTakesOver(stage: Stage): Promise<void> {
  await stage.withLotse("lotse 1", async () => {
    await stage.gone("orphaned");
    await stage.closed("changed", "2");
    await stage.patch("changed", { size: "3" });
    await stage.closed("changed", "3");
    await stage.remove("doomed");
    await stage.gone("doomed");
    for (const name of ["built", "leaving", "left"]) await stage.create(name);
    for (const name of ["built", "leaving", "left"]) await stage.closed(name, "1");
    await stage.patch("built", { size: "2" });
    await stage.closed("built", "2");
    await stage.told("resumed", "resume_fn", 1);

    await stage.closed("parts", "1");
    await stage.closed("halfway", "2");
    await stage.closed("lone", "1");
    await stage.closed("lone-changed", "2");
    await stage.gone("stubborn");
    await stage.create("lotse-parts", { labels: { parts: "yes" }, annotations: partsNotes("lotse") });
    await stage.create("lotse-due", flaky(1, retryDelay));
    await stage.create("lotse-lone", lone());
    await stage.waits("lotse-parts", "parts.sail", 1);
    for (const name of ["lotse-due", "lotse-lone"]) await stage.waits(name, "flaky", 1);
    await stage.waits("due", "flaky", 2);
  });
}

async function kopfTakesBack(stage: Stage): Promise<void> {
  await stage.withKopf("kopf 2", async () => {
    await stage.gone("left");
    await stage.closed("changed", "4");
    await stage.patch("changed", { size: "5" });
    await stage.closed("changed", "5");
    await stage.remove("leaving");
    await stage.gone("leaving");
    await stage.told("resumed", "resume_fn", 2);
    for (const name of ["due", "lotse-due", "lotse-lone", "lotse-parts"]) await stage.closed(name, "1");
  });
}

function partsNotes(failsIn: "kopf" | "lotse"): Record<string, string> {
  return { [notes.failsIn]: failsIn, [notes.delay]: String(retryDelay) };
}

/** A namespace with the objects of one play, and what can be done to them. */
class Stage {
  readonly seen = new Seen();
  readonly #cluster: TestCluster;
  readonly #client: Client;
  readonly #namespace: string;
  readonly #python: string;
  readonly #berth: Berth;
  #kopf: KopfProcess | undefined;
  #sentinels = 0;

  private constructor(cluster: TestCluster, client: Client, namespace: string, python: string, berth: Berth) {
    this.#cluster = cluster;
    this.#client = client;
    this.#namespace = namespace;
    this.#python = python;
    this.#berth = berth;
  }

  static async set(cluster: TestCluster, python: string, berth: Berth): Promise<Stage> {
    const namespace = `handover-${berth.name}`;
    const client = await inFreshNamespace(await cluster.connect(), { name: namespace });
    return new Stage(cluster, client, namespace, python, berth);
  }

  /** Kopf works while `scene` goes on; it has looked at everything when it stops. */
  async withKopf(act: Act, scene: () => Promise<void>): Promise<void> {
    const { first, storage } = this.#berth;
    this.#kopf = new KopfProcess({
      python: this.#python,
      kubeconfig: this.#cluster.kubeconfigPath,
      namespace: this.#namespace,
      berth: this.#berth,
      storage: act === "kopf 1" ? (first ?? storage) : storage,
      journal: (call) => this.seen.note(act, call),
    });
    // Kopf does not tell when it has nothing to do with an object. But one that is created after the others is handled
    // after several writes, when each of the others has long had its turn.
    const sentinel = `sentinel-${++this.#sentinels}`;
    await this.create(sentinel);
    await this.closed(sentinel, "1");
    await scene();
    await this.#kopf.stop();
    this.#kopf = undefined;
    await this.#keep(act);
  }

  /** Lotse works while `scene` goes on. */
  async withLotse(act: Act, scene: () => Promise<void>): Promise<void> {
    const logs: string[] = [];
    const running = lotseOperator(this.#berth, (call) => this.seen.note(act, call)).start({
      client: this.#client,
      namespaces: [this.#namespace],
      log: ({ level, message }) => {
        if (level === "error") logs.push(message);
      },
    });
    try {
      await running.ready;
      await running.idle();
      await scene();
      await running.idle();
    } finally {
      await running.stop();
    }
    expect(logs).toEqual([]);
    await this.#keep(act);
  }

  async create(name: string, metadata: KubeBody["metadata"] = {}, wishes?: Record<string, unknown>): Promise<void> {
    await this.#client.create(this.#berth.body(name, { metadata, ...(wishes && { wishes }) }));
  }

  async patch(name: string, wishes: Record<string, string>, metadata?: object): Promise<void> {
    const patch = { [this.#berth.section]: wishes, ...(metadata && { metadata }) };
    await this.#client.patch(this.#berth.selector, name, patch as never);
  }

  async remove(name: string): Promise<void> {
    await this.#client.delete(this.#berth.selector, name, { wait: false } as never);
  }

  /** The object with this size is handled. */
  async closed(name: string, size: string): Promise<void> {
    await this.#eventually(async () => {
      const { base, progress } = keptOn(
        this.#berth,
        (await this.#client.get(this.#berth.selector, name)).body as KubeBody,
      );
      expect([name, (base as Record<string, { size?: string }> | undefined)?.[this.#berth.section]?.size]).toEqual([
        name,
        size,
      ]);
      expect([name, Object.keys(progress)]).toEqual([name, []]);
    });
  }

  /** After so many attempts a handler waits for its next one. */
  async waits(name: string, id: string, retries: number): Promise<void> {
    await this.#eventually(async () => {
      const { progress } = keptOn(this.#berth, (await this.#client.get(this.#berth.selector, name)).body as KubeBody);
      const record = progress[id] ?? progress[id.replace(".", "/")];
      expect([name, record?.retries, typeof record?.delayed]).toEqual([name, retries, "string"]);
    });
  }

  async gone(name: string): Promise<void> {
    await this.#eventually(() => expect(this.#client.get(this.#berth.selector, name)).rejects.toThrow(/not found/i));
  }

  async told(name: string, id: string, times: number): Promise<void> {
    await this.#eventually(() => expect([name, id, this.seen.times(name, id).length]).toEqual([name, id, times]));
  }

  async clear(): Promise<void> {
    await this.#kopf?.kill();
  }

  async #keep(act: Act): Promise<void> {
    const objects = await this.#client.list(this.#berth.selector).toArray();
    this.seen.keep(
      act,
      objects.map(({ body }) => body as KubeBody),
    );
  }

  async #eventually(check: () => unknown): Promise<void> {
    try {
      await vi.waitFor(
        async () => {
          this.#kopf?.check();
          await check();
        },
        { timeout: 30_000, interval: 25 },
      );
    } catch (error) {
      if (this.#kopf && error instanceof Error) error.message += `\nKopf logged:\n${this.#kopf.log}`;
      throw error;
    }
  }
}
