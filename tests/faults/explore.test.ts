/** The examples survive everything that `explore` knows. */
import { type ExploreOptions, explore, type Scenario } from "@lotse/testing";
import type { Operator } from "lotse";
import { Pod } from "lotse/client";
import { expect, test } from "vitest";
import exchangeRates, { ExchangeRate } from "../../examples/exchange-rates/operator.ts";
import loadTest, { LoadTest } from "../../examples/load-test/operator.ts";
import osLabels from "../../examples/os-labels/operator.ts";
import simpleDeployment, { SimpleDeployment } from "../../examples/simple-deployment/operator.ts";
import switches, { Switch, Machine as SwitchedMachine } from "../../examples/switches/operator.ts";
import uselessMachine, { Machine } from "../../examples/useless-machine/operator.ts";

interface Example {
  readonly name: string;
  readonly operator: Operator;
  readonly scenario: Scenario;
  readonly options?: ExploreOptions;
}

const examples: readonly Example[] = [
  {
    name: "exchange-rates",
    operator: exchangeRates,
    scenario: async ({ client, settle, advance }) => {
      const money = await client.create(new ExchangeRate({ metadata: { name: "money" }, spec: { currency: "GBP" } }));
      await settle();
      await money.patch({ spec: { currency: "CHF" } });
      await settle();
      await advance("1h");
      await money.delete();
      await settle();
    },
  },
  {
    name: "switches",
    operator: switches,
    scenario: async ({ client, settle, advance }) => {
      const machine = await client.create(new SwitchedMachine({ metadata: { name: "one" }, spec: { switches: 2 } }));
      await settle();
      const first = await client.list(Switch, { labelSelector: "machine=one" }).first();
      await first?.patch({ spec: { position: "up" } });
      await settle();
      await advance("6s");
      await machine.patch({ spec: { switches: 1 } });
      await settle();
    },
  },
  {
    name: "simple-deployment",
    operator: simpleDeployment,
    scenario: async ({ client, settle }) => {
      const one = await client.create(new SimpleDeployment({ metadata: { name: "one" }, spec: { sleepytime: "5" } }));
      await settle();
      await one.delete();
      await settle();
    },
  },
  {
    name: "useless-machine",
    operator: uselessMachine,
    scenario: async ({ client, settle, advance }) => {
      const one = await client.create(new Machine({ metadata: { name: "one" }, spec: { switchPosition: "up" } }));
      await settle();
      await advance("6s");
      await one.patch({ spec: { switchPosition: "up" } });
      await settle();
      await advance("6s");
    },
  },
  {
    name: "os-labels",
    operator: osLabels,
    options: { harness: { kubelet: "simulate" } },
    scenario: async ({ client, cluster, settle, advance }) => {
      cluster.pods.program("debian", { exec: { "cat /etc/os-release": 'ID=debian\nVERSION_ID="12"\n' } });
      const pod = await client.create(Pod.gen({ name: "debian", image: "debian:12" }));
      await settle();
      await advance("11s");
      await pod.delete();
      await settle();
    },
  },
  {
    name: "load-test",
    operator: loadTest,
    options: { harness: { kubelet: "simulate" } },
    scenario: async ({ client, cluster, settle }) => {
      cluster.pods.program({ image: "node:22-alpine" }, { exit: { code: 0 }, logs: ["[1, 2]"] });
      const spec = { replicas: 2, test: { serviceName: "nginx" } };
      const one = await client.create(new LoadTest({ metadata: { name: "one" }, spec }));
      await settle();
      await one.patch({ spec: { replicas: 1 } });
      await settle();
    },
  },
];

test.each(examples)("$name survives what explore does to it", async (example) => {
  const { operator, scenario, options } = example;
  const report = await explore(operator, scenario, { report: true, budget: "60s", ...options });
  expect(report.failures.map(({ story }) => story)).toEqual([]);
  expect(report.plans).toBeGreaterThan(10);
});
