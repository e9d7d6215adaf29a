import { Pod } from "@lotse/client";
import type { ShadowReport } from "lotse";
import { expect, it } from "vitest";
import { ExchangeRate } from "../../../examples/exchange-rates/operator.ts";
import { LoadTest } from "../../../examples/load-test/operator.ts";
import { Team } from "../../../examples/onboarding/operator.ts";
import { Postgres } from "../../../examples/postgres/postgres.ts";
import { SimpleDeployment } from "../../../examples/simple-deployment/operator.ts";
import { Machine as MachineOfSwitches } from "../../../examples/switches/operator.ts";
import { Machine } from "../../../examples/useless-machine/operator.ts";
import { type Beside, loadAgain, type Planted, REAL, type Shadowed, startBeside } from "./beside.ts";

/** What happens to an example while its versions are at work, and what other versions would do. */
interface Play {
  readonly example: string;
  readonly kubelet?: "simulate";
  readonly allowExec?: boolean;
  readonly play: (both: Beside) => Promise<void>;
  readonly planted: readonly { readonly change: readonly Planted[]; readonly found: readonly string[] }[];
  /** What cannot be told when everything is done from scratch. */
  readonly undecided?: readonly string[];
  /** What each version makes up for itself: nobody can tell whether they differ. */
  readonly random?: readonly string[];
}

const plays: readonly Play[] = [
  {
    example: "exchange-rates",
    async play({ client, quiet }) {
      await client.create(new ExchangeRate({ metadata: { name: "money" }, spec: { currency: "GBP" } }));
      await quiet();
      await client.patch(ExchangeRate, "money", { spec: { currency: "JPY" } });
    },
    planted: [
      {
        change: [["labels: label, data", 'labels: { ...label, tier: "gold" }, data']],
        found: ["would-change | ConfigMap money-* | metadata.labels.tier | publishRate"],
      },
      {
        change: [
          ["const data = {", 'const data = { unit: "USD",'],
          ["patch.status.rate = rate;", "patch.status.rate = rate * 2;"],
        ],
        found: [
          "would-change | ConfigMap money-* | data.unit | publishRate",
          "would-change | ExchangeRate money | status.rate | publishRate, refreshRate, followCurrency",
        ],
      },
    ],
  },
  {
    example: "useless-machine",
    async play({ client, advance }) {
      await client.create(new Machine({ metadata: { name: "one" }, spec: { switchPosition: "up" } }));
      await advance(6_000);
    },
    planted: [
      {
        change: [['patch.spec.switchPosition = "down"', 'patch.spec.switchPosition = "left"']],
        found: ["would-change | Machine one | spec.switchPosition, status.conditions | flipBack"],
      },
    ],
    // The switch is down by now: nobody knows that it was up.
    undecided: ["would-change | Machine one | status.seenAt"],
  },
  {
    example: "switches",
    async play({ client, quiet }) {
      await client.create(new MachineOfSwitches({ metadata: { name: "one" }, spec: { switches: 3 } }));
      await quiet();
      await client.patch(MachineOfSwitches, "one", { spec: { switches: 2 } });
    },
    planted: [
      {
        change: [
          ["i < spec.switches; i++", "i < spec.switches + 1; i++"],
          ["present.slice(spec.switches)", "present.slice(spec.switches + 1)"],
        ],
        found: [
          "would-change | Machine one | status.positions | keepUseless",
          "would-create | Switch switch-* | keepUseless",
        ],
      },
      {
        change: [["await client.delete(Switch, surplus.name, { ignoreNotFound: true });", ""]],
        found: ["would-keep | Switch switch-*"],
      },
    ],
  },
  {
    example: "simple-deployment",
    async play({ client }) {
      await client.create(new SimpleDeployment({ metadata: { name: "one" }, spec: { sleepytime: "9" } }));
    },
    planted: [
      {
        change: [['image: "busybox"', 'image: "alpine"']],
        found: ["would-change | Pod one | spec.containers[name=simple].image | createPod"],
      },
    ],
  },
  {
    example: "os-labels",
    kubelet: "simulate",
    allowExec: true,
    async play({ client, cluster, advance }) {
      cluster?.pods.program("web", { exec: { "cat /etc/os-release": "ID=debian" } });
      await client.create(Pod.gen({ name: "web", image: "debian" }));
      await advance(11_000);
    },
    planted: [
      {
        change: [["labelsOf(stdout)", '{ ...labelsOf(stdout), "os-release/id": "unix" }']],
        found: ["would-change | Pod web | metadata.labels.os-release/id | labelPod"],
      },
    ],
  },
  {
    example: "load-test",
    kubelet: "simulate",
    async play({ client }) {
      const spec = { replicas: 2, test: { serviceName: "web" } };
      await client.create(new LoadTest({ metadata: { name: "many" }, spec }));
    },
    planted: [
      {
        change: [["Array.from({ length: spec.replicas }", "Array.from({ length: spec.replicas - 1 }"]],
        found: ["would-change | LoadTest many | status.children | runTest", "would-not-create | Pod many-1-1"],
      },
    ],
  },
  {
    example: "onboarding",
    async play({ client }) {
      await client.create(new Team({ metadata: { name: "blue" }, spec: { group: "blues" } }));
    },
    planted: [
      {
        change: [["objectsOf(name, spec)", "objectsOf(name, { ...spec, quota: { ...spec.quota, pods: 7 } })"]],
        found: ["would-change | ResourceQuota team | spec.hard.pods | furnish"],
      },
    ],
  },
  {
    example: "postgres",
    async play({ client }) {
      const spec = { version: "16.4", backup: { claim: "backups" } };
      await client.create(new Postgres({ metadata: { name: "db" }, spec }));
    },
    planted: [
      {
        change: [["nightlyOf(name, from, spec)]", 'nightlyOf(name, "latest", spec)]']],
        found: [
          "would-change | CronJob db-backup | spec.jobTemplate.spec.template.spec.containers[name=backup].image | parts",
        ],
      },
    ],
    random: ["would-change | Secret db-password | data.password | makePassword"],
  },
];

/** What differs, a line for each object. */
function told(differences: ShadowReport["differences"]): string[] {
  return differences.map(({ verdict, kind, name, fields, handlers }) => {
    const object = `${kind} ${name.replace(/-[a-z0-9]{5}$/, "-*")}`;
    return [verdict, object, fields.map(({ path }) => path).join(", "), handlers.join(", ")]
      .filter(Boolean)
      .join(" | ");
  });
}

const AGREED = { differences: [], untried: [], unsettled: 0 };

/** Without a kubelet no command runs in a pod. */
const possible = plays.filter(({ allowExec }) => !REAL || !allowExec);

it.each(possible)("two equal versions of $example agree, and what is planted into another one is found", async (it) => {
  const { example, kubelet, allowExec, play, planted } = it;
  await using both = await startBeside(await loadAgain(example), kubelet);
  await both.work();
  const equal = await both.shadow(await loadAgain(example), { allowExec });
  const others: { readonly shadow: Shadowed; readonly found: readonly string[] }[] = [];
  for (const { change, found } of planted) {
    others.push({ shadow: await both.shadow(await loadAgain(example, change), { allowExec }), found });
  }
  await play(both);
  await both.settled(() => {
    expect(equal.report()).toMatchObject(AGREED);
    expect(told(equal.report().undecided)).toEqual(it.random ?? []);
    expect(equal.report().compared).toBeGreaterThan(0);
    for (const { shadow, found } of others) expect(told(shadow.report().differences)).toEqual(found);
  });

  // Those that come later: one begins where the old version stands, the other does everything anew.
  const late = await both.shadow(await loadAgain(example), { allowExec });
  const scratch = await both.shadow(await loadAgain(example), { allowExec, fromScratch: true });
  await both.settled(() => {
    expect(late.report()).toMatchObject({ ...AGREED, undecided: [] });
    expect(scratch.report()).toMatchObject(AGREED);
    expect(told(scratch.report().undecided)).toEqual(it.undecided ?? it.random ?? []);
    expect(scratch.report().compared).toBeGreaterThan(0);
  });
});
