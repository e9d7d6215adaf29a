import { ConfigError } from "@lotse/client";
import { Cluster, type ClusterOptions } from "@lotse/cluster";
import type { Operator } from "lotse";
import { Bench } from "./bench.ts";
import type { Harness, HarnessInternals, HarnessOptions } from "./harness-contract.ts";
import { activeOracles } from "./oracles/index.ts";
import { DueClock } from "./world/index.ts";

/**
 * Starts a cluster, installs the operator's CRDs, and sets the operator to work, or several of them. Needs no test runner
 * in particular.
 *
 * @example
 * ```ts
 * await using harness = await startHarness(operator);
 * await harness.client.create(new Greeting({ metadata: { name: "hello" }, spec: { to: "world" } }));
 * await harness.settle();
 * expect(harness.writes()).toHaveLength(1);
 * ```
 */
export async function startHarness(
  operator: Operator | readonly Operator[],
  options: HarnessOptions = {},
): Promise<Harness> {
  return openHarness(operator, options, {});
}

/** {@link startHarness}, with more to say. */
export async function openHarness(
  operator: Operator | readonly Operator[],
  options: HarnessOptions,
  internals: HarnessInternals,
): Promise<Bench> {
  const { kubelet = false, rbac = false } = options;
  const operators = Array.isArray(operator) ? (operator as readonly Operator[]) : [operator as Operator];
  if (operators.length === 0) throw new ConfigError("there is no operator to test", { hint: "startHarness([a, b])" });
  // A wrong option is found before anything has started.
  activeOracles(options.oracles);
  const dueClock = options.clock && new DueClock(options.clock);
  // Where pods run, time also stops at what they and their controllers have to do. Without, the cluster's own timers
  // only keep streams alive, which need not be waited for.
  const clock = kubelet ? dueClock : options.clock;
  const cluster = await Cluster.start({
    tls: false,
    kubelet: atOnce(kubelet),
    rbac: rbac !== false,
    ...(clock && { clock }),
    ...internals.cluster,
  });
  const bench = new Bench({ operators, options, internals, cluster, client: await cluster.connect(), clock: dueClock });
  try {
    await bench.prepare();
    if (internals.starts !== false) await bench.startOperator();
    return bench;
  } catch (error) {
    await bench.close();
    throw error;
  }
}

/** Simulated pods are there when everything is quiet, unless the test wants to see them wait. */
function atOnce(kubelet: ClusterOptions["kubelet"]): NonNullable<ClusterOptions["kubelet"]> {
  if (!kubelet) return false;
  const settings = typeof kubelet === "string" ? { mode: kubelet } : kubelet;
  return { startDelay: 0, ...settings };
}
