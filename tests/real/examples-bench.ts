/** The place where the scenarios of the examples are played on a real cluster: see examples/bench.ts. */
import { Client, CustomResourceDefinition, Namespace } from "@lotse/client";
import { type Duration, durationMs, type VirtualClock } from "@lotse/client/meta";
import { CapturedLogs } from "@lotse/testing";
import { type Operator, type RunningOperator, uninstallOperator } from "lotse";
import type { Bench, BenchWrite } from "../../examples/bench.ts";
import { inFreshNamespace } from "../../packages/client/src/test-namespace.ts";
import type { TestCluster } from "../fixture.ts";

/** Another process has no event loop to look into: so long nothing happens before everything counts as quiet. */
const QUIET_ROUNDS = 6;
const ROUND_MS = 40;
const SETTLE_MS = 30_000;
/** Time moves in steps that leave the operator room to do what is due; a long time in as many longer ones. */
const STEP_MS = 5_000;
const MOST_STEPS = 12;

/** Starts an operator in a namespace of its own; it serves no other, unless they are named. */
export async function startRealBench(
  cluster: TestCluster,
  operator: Operator,
  namespace: string,
  clock: VirtualClock | undefined,
  serves: readonly string[] = [namespace],
): Promise<Bench> {
  const client = await inFreshNamespace(await cluster.connect(), { name: namespace });
  const bench = new RealBench(cluster, operator, client, namespace, serves, clock);
  await bench.startOperator();
  return bench;
}

/** Takes the definitions of an operator's kinds away: two examples may have different ideas of a kind of the same name. */
export async function removeDefinitions(cluster: TestCluster, operator: Operator): Promise<void> {
  const client = await cluster.connect();
  // Nobody is there any more to let go of what its finalizers hold, and a definition waits for its objects.
  const unmarking = uninstallOperator(operator, client);
  while (!(await unmarking.next()).done);
  for (const { resource } of operator.resources) {
    const { crd } = resource as { crd?: () => CustomResourceDefinition["body"] };
    const name = crd?.().metadata?.name;
    if (name) await client.delete(CustomResourceDefinition, name, { ignoreNotFound: true, wait: "60s" });
  }
}

class RealBench implements Bench {
  readonly client: Client;
  readonly logs = new CapturedLogs();
  readonly #cluster: TestCluster;
  readonly #operator: Operator;
  readonly #namespace: string;
  readonly #serves: readonly string[];
  readonly #clock: VirtualClock | undefined;
  #running: { readonly operator: RunningOperator; readonly client: Client } | undefined;

  constructor(
    cluster: TestCluster,
    operator: Operator,
    client: Client,
    namespace: string,
    serves: readonly string[],
    clock: VirtualClock | undefined,
  ) {
    this.#cluster = cluster;
    this.#operator = operator;
    this.client = client;
    this.#namespace = namespace;
    this.#serves = serves;
    this.#clock = clock;
  }

  async startOperator(): Promise<void> {
    const { kubeconfigPath: kubeconfig } = this.#cluster;
    const client = await Client.connect({ kubeconfig, userAgent: this.#userAgent });
    const operator = this.#operator.start({
      client: client.inNamespace(this.#namespace),
      crds: "install",
      webhooks: { port: 0 },
      namespaces: [...this.#serves],
      log: this.logs.sink,
      ...(this.#clock && { clock: this.#clock }),
    });
    this.#running = { operator, client };
    await operator.ready;
  }

  async stopOperator(): Promise<void> {
    const { operator, client } = this.#running ?? {};
    this.#running = undefined;
    await operator?.stop();
    await client?.close();
  }

  async restart(): Promise<void> {
    await this.stopOperator();
    await this.startOperator();
    await this.settle();
  }

  /** Every change that reaches the operator is counted somewhere in its metrics. */
  async settle(): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    let [quiet, before] = [0, ""];
    while (quiet < QUIET_ROUNDS) {
      if (performance.now() > deadline) throw new Error(`the operator is not quiet:\n${this.logs}`);
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
      await this.#running?.operator.idle();
      const now = countsOf(this.#running?.operator.metrics() ?? "");
      quiet = now === before ? quiet + 1 : 0;
      before = now;
    }
  }

  async advance(duration: Duration): Promise<void> {
    if (!this.#clock) throw new Error("only a virtual clock can be advanced");
    await this.settle();
    const total = durationMs(duration);
    const step = Math.max(STEP_MS, total / MOST_STEPS);
    for (let left = total; left > 0; left -= step) {
      await this.#clock.advance(Math.min(step, left));
      await this.settle();
    }
  }

  async writes(): Promise<BenchWrite[]> {
    const all = await this.#cluster.writes();
    return all
      .filter(({ userAgent }) => userAgent === this.#userAgent)
      .map(({ verb, resource, subresource }) => ({ verb, resource, subresource }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    // Not waited for: nothing of it is in the way of the next test.
    await this.client.delete(Namespace, this.#namespace);
  }

  get #userAgent(): string {
    return `bench-${this.#namespace}`;
  }
}

/** What is counted, without what only the passing of time changes. */
function countsOf(metrics: string): string {
  return metrics
    .split("\n")
    .filter((line) => /^\w+_total/.test(line))
    .join("\n");
}
