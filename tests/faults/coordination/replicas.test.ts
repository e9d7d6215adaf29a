/**
 * Three replicas under load. Each is killed, stopped beyond its Lease and continued, cut off from the cluster, and rolled;
 * a witness with watches of its own counts. In full with LOTSE_REPLICAS=full: a thousand objects, fifty changes a second, and the
 * usual times of a Lease.
 */
import { type Client, CustomResourceDefinition, Namespace } from "@lotse/client";
import { expect, it, vi } from "vitest";
import { clustersUnderTest, describeOn } from "../../fixture.ts";
import { Crew, type Replica } from "./crew.ts";
import { changeOrders, placeOrders } from "./load.ts";
import { Order } from "./order.ts";
import { judge } from "./verdict.ts";
import { Witness } from "./witness.ts";

const FULL = process.env.LOTSE_REPLICAS === "full";
const DEMAND = FULL ? { objects: 1_000, changesPerSecond: 50 } : { objects: 30, changesPerSecond: 20 };
const LEASE = FULL ? "15s/10s/2s" : "3s/2s/500ms";
const ROUNDS = FULL ? 3 : 1;
const NAMESPACE = "replicas";
/** A machine that is busy takes its time. */
const PATIENCE_MS = 280_000;

const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

/** What is done to whoever leads, and how it is seen to be over. */
class Trial {
  readonly #crew: Crew;
  readonly #witness: Witness;
  /** Until another one works, in milliseconds. */
  readonly afterKill: number[] = [];
  readonly afterStop: number[] = [];

  constructor(crew: Crew, witness: Witness) {
    this.#crew = crew;
    this.#witness = witness;
  }

  /** Who holds the Lease and has begun to work. */
  leader(): Promise<Replica> {
    return eventually(() => {
      const { holder, begun } = this.#witness;
      const replica = this.#crew.find(holder);
      if (!replica || begun.at(-1)?.by !== holder) throw new Error(`${holder || "nobody"} holds the Lease`);
      return replica;
    });
  }

  async kill(): Promise<void> {
    const replica = await this.leader();
    const at = performance.now();
    expect(await this.#crew.dismiss(replica, "SIGKILL")).toEqual([null, "SIGKILL"]);
    await this.#lost(replica);
    await this.leader();
    this.afterKill.push(this.#next(replica, at) - at);
    await this.#crew.start();
  }

  /** Longer than its Lease, and then it goes on. */
  async stopAndContinue(): Promise<void> {
    const replica = await this.leader();
    replica.process.kill("SIGSTOP");
    await this.#lost(replica);
    await this.leader();
    replica.process.kill("SIGCONT");
  }

  async cutAndHeal(): Promise<void> {
    const replica = await this.leader();
    replica.cable.cut();
    await this.#lost(replica);
    await this.leader();
    replica.cable.heal();
  }

  /** All of them, one by one. */
  async roll(): Promise<void> {
    for (const replica of [...this.#crew.replicas]) {
      const led = (await this.leader()) === replica;
      expect(await this.#crew.dismiss(replica, "SIGTERM")).toEqual([0, null]);
      await this.leader();
      const last = this.#witness.times({ of: replica.identity }).at(-1);
      if (led && last !== undefined) this.afterStop.push(this.#next(replica, last) - last);
      await this.#crew.start();
    }
  }

  #lost({ identity }: Replica): Promise<void> {
    return eventually(() => expect(this.#witness.holder).not.toBe(identity));
  }

  /** When a handler of another one first began after `since`. */
  #next({ identity }: Replica, since: number): number {
    return this.#witness.times({ but: identity }).find((at) => at > since) ?? Number.POSITIVE_INFINITY;
  }
}

async function prepare(connected: Client): Promise<Client> {
  const client = connected.inNamespace(NAMESPACE);
  await client.create(Namespace.gen({ name: NAMESPACE }));
  const crd = await client.create(new CustomResourceDefinition(Order.crd()));
  await crd.wait("condition=Established");
  return client;
}

describeOn(clustersUnderTest(), "three replicas under load", (cluster) => {
  const title = "handle every change once, whatever becomes of them, and none writes that does not hold the Lease";
  it(title, { timeout: FULL ? 1_800_000 : 600_000 }, async (test) => {
    const client = await prepare(await cluster().connect());
    await using witness = await Witness.open(client);
    const place = {
      cluster: cluster(),
      namespace: NAMESPACE,
      witness: witness.url,
      lease: LEASE,
      coordination: "leader" as const,
    };
    await using crew = await Crew.gather(place);
    test.onTestFailed(() => console.error(crew.story()));
    for (let i = 0; i < 3; i++) await crew.start();
    await placeOrders(client, DEMAND);

    const over = new AbortController();
    const changing = changeOrders(client, DEMAND, over.signal);
    const trial = new Trial(crew, witness);
    for (let round = 0; round < ROUNDS; round++) {
      await trial.kill();
      await trial.stopAndContinue();
      await trial.cutAndHeal();
      await trial.roll();
    }
    over.abort();
    const changes = await changing;
    await eventually(() => expect(judge(witness).lost).toEqual([]));
    for (const replica of [...crew.replicas]) expect(await crew.dismiss(replica, "SIGTERM")).toEqual([0, null]);
    await eventually(() => expect(witness.holder).toBe(""));
    expect(judge(witness)).toEqual({ doubled: [], backwards: [], unowned: [], lost: [] });
    expect(witness.begun.length).toBeGreaterThanOrEqual(DEMAND.objects);
    const { afterKill, afterStop } = trial;
    const told = [`${changes} changes, ${witness.begun.length} runs`, `another one works after`];
    if (FULL) console.info(...told, `a clean stop: ${tell(afterStop)};`, `kill -9: ${tell(afterKill)}`);
  });
});

function tell(times: readonly number[]): string {
  return times
    .toSorted((a, b) => a - b)
    .map((ms) => `${Math.round(ms)} ms`)
    .join(", ");
}
