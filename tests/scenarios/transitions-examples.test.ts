/** The examples are walked through all that their schemas allow: none of them may depend on the way. */
import { type TransitionsOptions, transitions, type WalkedKind } from "@lotse/testing";
import type { Operator } from "lotse";
import { expect, test } from "vitest";
import { Berth } from "../../examples/berths/berth.ts";
import berths from "../../examples/berths/operator.ts";
import dns, { DnsRecord } from "../../examples/dns/operator.ts";
import { startProvider } from "../../examples/dns/provider.ts";
import rates, { ExchangeRate } from "../../examples/exchange-rates/operator.ts";
import loads, { LoadTest } from "../../examples/load-test/operator.ts";
import teams, { Team } from "../../examples/onboarding/operator.ts";
import databases, { Postgres } from "../../examples/postgres/operator.ts";
import pods, { SimpleDeployment } from "../../examples/simple-deployment/operator.ts";
import switches, { Machine as SwitchMachine } from "../../examples/switches/operator.ts";
import machines, { Machine } from "../../examples/useless-machine/operator.ts";

const EXAMPLES: readonly [string, Operator, WalkedKind, TransitionsOptions][] = [
  ["berths", berths, Berth, {}],
  ["exchange-rates", rates, ExchangeRate, { base: { currency: "EUR" } }],
  ["load-test", loads, LoadTest, { specs: 8 }],
  ["onboarding", teams, Team, { specs: 12 }],
  ["postgres", databases, Postgres, { specs: 12 }],
  ["simple-deployment", pods, SimpleDeployment, {}],
  ["switches", switches, SwitchMachine, { specs: 5 }],
  ["useless-machine", machines, Machine, {}],
];

test.each(EXAMPLES)("%s is the same whichever way it came about", async (_, operator, Kind, options) => {
  const { story, steps } = await transitions(operator, Kind, { specs: 20, budget: "60s", report: true, ...options });
  expect(story).toBeUndefined();
  expect(steps).toBeGreaterThan(5);
});

test("dns is the same whichever way it came about", async () => {
  const provider = await startProvider();
  process.env.DNS_URL = provider.url;
  try {
    const { story } = await transitions(dns, DnsRecord, { specs: 20, report: true });
    expect(story).toBeUndefined();
  } finally {
    delete process.env.DNS_URL;
    await provider.stop();
  }
});
