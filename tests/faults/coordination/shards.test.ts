/**
 * Three replicas that share the objects, under load. Each is killed, stopped beyond its Lease and continued, cut off from
 * the cluster, and rolled; a witness with watches of its own counts. In full with LOTSE_REPLICAS=full.
 */
import { type Client, CustomResourceDefinition, Namespace } from "@lotse/client";
import { expect, it, vi } from "vitest";
import { clustersUnderTest, describeOn } from "../../fixture.ts";
import { Crew, type Replica } from "./crew.ts";
import { changeOrders, placeOrders } from "./load.ts";
import { Order } from "./order.ts";
import { claimsObject } from "./seats.ts";
import { judge } from "./verdict.ts";
import { Witness } from "./witness.ts";

const FULL = process.env.LOTSE_REPLICAS === "full";
const DEMAND = FULL ? { objects: 1_000, changesPerSecond: 50 } : { objects: 60, changesPerSecond: 20 };
const LEASE = FULL ? "15s/10s/2s" : "3s/2s/500ms";
const ROUNDS = FULL ? 3 : 1;
const NAMESPACE = "shards";
/** A machine that is busy takes its time. */
const PATIENCE_MS = 280_000;

const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

/** What is done to the members, one after another, and how it is seen to be over. */
class Trial {
  readonly #crew: Crew;
  readonly #witness: Witness;

  constructor(crew: Crew, witness: Witness) {
    this.#crew = crew;
    this.#witness = witness;
  }

  /** All take part, and each has handled something since. */
  async allWork(): Promise<void> {
    const wanted = this.#crew.replicas.map(({ identity }) => identity).toSorted();
    await eventually(() => expect(this.#witness.members.toSorted()).toEqual(wanted));
    await this.#work(wanted);
  }

  async kill(): Promise<void> {
    const replica = this.#any();
    expect(await this.#crew.dismiss(replica, "SIGKILL")).toEqual([null, "SIGKILL"]);
    await this.#lost(replica);
    await this.#crew.start();
    await this.allWork();
  }

  /** Longer than its Lease, and then it goes on. */
  async stopAndContinue(): Promise<void> {
    const replica = this.#any();
    replica.process.kill("SIGSTOP");
    await this.#lost(replica);
    replica.process.kill("SIGCONT");
    await this.allWork();
  }

  async cutAndHeal(): Promise<void> {
    const replica = this.#any();
    replica.cable.cut();
    await this.#lost(replica);
    replica.cable.heal();
    await this.allWork();
  }

  /** All of them, one by one. */
  async roll(): Promise<void> {
    for (const replica of [...this.#crew.replicas]) {
      await this.#crew.start();
      await this.allWork();
      expect(await this.#crew.dismiss(replica, "SIGTERM")).toEqual([0, null]);
      await this.#lost(replica);
    }
    await this.allWork();
  }

  /** One that has been there for long. */
  #any(): Replica {
    return this.#crew.replicas[0] as Replica;
  }

  async #work(identities: readonly string[]): Promise<void> {
    const since = this.#witness.begun.length;
    await eventually(() => {
      const begun = new Set(this.#witness.begun.slice(since).map(({ by }) => by));
      expect([...begun].toSorted()).toEqual(identities);
    });
  }

  /** Its seat is free, and the others go on. */
  async #lost({ identity }: Replica): Promise<void> {
    await eventually(() => expect(this.#witness.members).not.toContain(identity));
    await this.#work(this.#witness.members.toSorted());
  }
}

async function prepare(connected: Client): Promise<Client> {
  const client = connected.inNamespace(NAMESPACE);
  await client.create(Namespace.gen({ name: NAMESPACE }));
  const crd = await client.create(new CustomResourceDefinition(Order.crd()));
  await crd.wait("condition=Established");
  return client;
}

describeOn(clustersUnderTest(), "three replicas that share the objects, under load", (cluster) => {
  const title =
    "handle every change once, whatever becomes of them, and none writes about an object that is not its own";
  it(title, { timeout: FULL ? 1_800_000 : 600_000 }, async (test) => {
    const client = await prepare(await cluster().connect());
    await using witness = await Witness.open(client);
    await using crew = await Crew.gather({
      cluster: cluster(),
      namespace: NAMESPACE,
      witness: witness.url,
      lease: LEASE,
      coordination: "shards",
    });
    test.onTestFailed(() => console.error(crew.story()));
    const verdict = () => judge(witness, claimsObject(witness.seats, witness.orders));
    for (let i = 0; i < 3; i++) await crew.start();
    await placeOrders(client, DEMAND);

    const over = new AbortController();
    const changing = changeOrders(client, DEMAND, over.signal);
    const trial = new Trial(crew, witness);
    await trial.allWork();
    for (let round = 0; round < ROUNDS; round++) {
      await trial.kill();
      await trial.stopAndContinue();
      await trial.cutAndHeal();
      await trial.roll();
    }
    over.abort();
    const changes = await changing;
    // The cluster is in this process: it must not wait for a verdict.
    await eventually(() => expect(judge(witness, () => true).lost).toEqual([]));
    for (const replica of [...crew.replicas]) expect(await crew.dismiss(replica, "SIGTERM")).toEqual([0, null]);
    await eventually(() => expect(witness.members).toEqual([]));
    expect(verdict()).toEqual({ doubled: [], backwards: [], unowned: [], lost: [] });
    expect(witness.begun.length).toBeGreaterThanOrEqual(DEMAND.objects);
    if (FULL) console.info(`${changes} changes, ${witness.begun.length} runs`);
  });
});
