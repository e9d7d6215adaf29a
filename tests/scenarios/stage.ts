import type { Client } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import type { LogRecord, Operator, RunningOperator, StartOptions } from "lotse";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { inFreshNamespace } from "../../packages/client/src/test-namespace.ts";
import type { TestCluster } from "../fixture.ts";

/** What the scenarios of operators share: a namespace of its own for each test, and operators that end with it. */
export interface Stage {
  /** Works in the test's namespace. */
  readonly client: Client;
  readonly namespace: string;
  /** The operators of this test, in the order of their start. */
  readonly running: RunningOperator[];
  /** What they have logged. */
  readonly logs: LogRecord[];
  /** Starts an operator in the test's namespace, its CRDs installed, and waits until it is ready. */
  start(operator: Operator, options?: StartOptions): Promise<RunningOperator>;
  /** Waits for something to be true of the cluster or of the test's own notes. */
  eventually(check: () => unknown): Promise<void>;
  /** Lets time pass, a second at a time with room for requests in between, until something is true. */
  inTime(clock: VirtualClock, check: () => unknown): Promise<void>;
  /** Nothing happens any more: operators are idle, and stay so after their streams have had time to show everything. */
  quiet(): Promise<void>;
}

/** What a server says of a kind that was defined a moment ago. */
const NOT_SERVED_YET = /initializing|could not find the requested resource/;

/** Sets the stage for each test of a suite. */
export function useStage(cluster: () => TestCluster, prefix: string): Stage {
  let current: { client: Client; namespace: string } | undefined;
  let tests = 0;
  const running: RunningOperator[] = [];
  const logs: LogRecord[] = [];
  const set = () => {
    if (!current) throw new Error("the stage is set only while tests run");
    return current;
  };

  beforeEach(async () => {
    const namespace = `${prefix}-${++tests}`;
    const client = await inFreshNamespace(await cluster().connect(), { name: namespace });
    current = { client, namespace };
    logs.length = 0;
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()));
  });

  const eventually = async (check: () => unknown) => {
    await vi.waitFor(check, { timeout: 170_000, interval: 10 });
  };

  /**
   * A real server may refuse the first watches of a kind that is new; the stream, which tries again a moment later, would
   * wait for ever on a clock that stands.
   */
  const untilServed = (one: RunningOperator, clock: VirtualClock) =>
    eventually(async () => {
      const refused = () => one.health().streams.filter(({ error = "" }) => NOT_SERVED_YET.test(error));
      if (refused().length > 0) await clock.advance(1_000);
      expect(refused()).toEqual([]);
    });

  return {
    get client() {
      return set().client;
    },
    get namespace() {
      return set().namespace;
    },
    running,
    logs,
    async start(operator, options = {}) {
      const { client, namespace } = set();
      const log = (record: LogRecord) => void logs.push(record);
      const one = operator.start({ client, crds: "install", namespaces: [namespace], log, ...options });
      running.push(one);
      await one.ready;
      if (options.clock instanceof VirtualClock) await untilServed(one, options.clock);
      return one;
    },
    eventually,
    inTime: (clock, check) =>
      eventually(async () => {
        await clock.advance(1_000);
        await check();
      }),
    async quiet() {
      for (let round = 0; round < 5; round++) {
        await new Promise((resolve) => setTimeout(resolve, cluster().kind === "real" ? 50 : 10));
        await Promise.all(running.map((one) => one.idle()));
      }
    },
  };
}
