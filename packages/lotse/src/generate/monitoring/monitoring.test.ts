import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { alertGroups } from "./alerts.ts";
import { dashboard } from "./dashboard.ts";
import { type Monitored, usualSelect } from "./monitored.ts";
import type { AlertRule, MonitoringRule } from "./rules.ts";
import { plainRules, prometheusRule } from "./rules-file.ts";
import { askedOf } from "./test-promql.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

interface Documented {
  readonly type: string;
  readonly labels: readonly string[];
}

/** The metrics that docs/observability.md tells of. */
function documented(): Map<string, Documented> {
  const page = readFileSync(path.join(ROOT, "docs/observability.md"), "utf8");
  const rows = page.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \|([^|]*)\|/gm);
  return new Map(
    [...rows].map(([, name = "", type = "", labels = ""]) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label) },
    ]),
  );
}

/** The text of all sources that run in an operator. */
function sources(): string {
  const folder = path.join(ROOT, "packages/lotse/src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("generate"))
    .map((file) => readFileSync(path.join(folder, file), "utf8"))
    .join("\n");
}

const FULL: Monitored = {
  name: "rates",
  select: usualSelect("rates"),
  coordination: "leader",
  asked: true,
  schedules: true,
  objectives: true,
};

const VARIANTS: readonly Monitored[] = [
  FULL,
  { ...FULL, coordination: "shards" },
  { ...FULL, coordination: "alone", asked: false, schedules: false, objectives: false },
  { ...FULL, coordination: "peering", select: 'namespace="ops",job="rates"' },
];

interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string; readonly refId: string }[];
}

const rules = (monitored: Monitored): MonitoringRule[] => alertGroups(monitored).flatMap((group) => group.rules);
const panels = (monitored: Monitored) => (dashboard(monitored) as { panels: GrafanaPanel[] }).panels;
const queries = (monitored: Monitored) => [
  ...rules(monitored).map(({ expr }) => expr),
  ...panels(monitored).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

describe("dashboard and alerts", () => {
  const known = documented();
  /** What a scrape brings, and what every histogram has. */
  const besides = ["pod", "namespace", "job", "le"];

  it.each(VARIANTS)("ask for metrics that an operator has, with labels that these have: $coordination", (monitored) => {
    const recorded = rules(monitored).flatMap((rule) => ("record" in rule ? [rule.record] : []));
    for (const query of queries(monitored)) {
      for (const { metric, labels } of askedOf(query)) {
        if (recorded.includes(metric)) continue;
        const family = metric.replace(/_(?:bucket|sum|count)$/, "");
        const found = known.get(metric) ?? (known.get(family)?.type === "histogram" ? known.get(family) : undefined);
        expect(found, `${metric} in\n${query}`).toBeDefined();
        const strange = labels.filter((label) => !found?.labels.includes(label) && !besides.includes(label));
        expect(strange, `labels of ${metric} in\n${query}`).toEqual([]);
      }
    }
  });

  it("are about metrics that the sources export, and the page tells of no others", () => {
    const text = sources();
    expect([...known.keys()].filter((name) => !text.includes(`"${name}"`))).toEqual([]);
    expect(known.size).toBeGreaterThan(30);
  });

  it("pick the operator's series alone", () => {
    for (const monitored of VARIANTS) {
      const selectors = queries(monitored).flatMap((query) => query.match(/[a-z_:0-9]+\{[^}]*\}/g) ?? []);
      const ours = [`{${monitored.select}`, '{operator="rates"'];
      expect(selectors.filter((one) => !ours.some((begin) => one.includes(begin)))).toEqual([]);
    }
  });

  it("say nothing of what the operator does not have", () => {
    const text = JSON.stringify([
      queries({ ...FULL, coordination: "alone", asked: false, schedules: false, objectives: false }),
    ]);
    expect(text).not.toMatch(/webhook|certificate|leader_election|lease|scheduled|objective/);
    expect(queries({ ...FULL, coordination: "shards" }).join()).not.toMatch(/max by \(name\) \(leader_election/);
  });
});

describe("the reader of queries", () => {
  it("knows what is no query", () => {
    expect(() => askedOf("sum by (kind) (a{b=")).toThrow("is no query");
    expect(() => askedOf("rate(a[)")).toThrow("is no query");
    expect(askedOf('max by (kind) (a{b="c"}) > 3')).toEqual([{ metric: "a", labels: ["b", "kind"] }]);
  });
});

describe("alerts", () => {
  const alerts = rules(FULL).filter((rule): rule is AlertRule => "alert" in rule);

  it("are about what people have to hear of", () => {
    expect(alerts.map(({ alert }) => alert)).toEqual([
      "LotseOperatorAbsent",
      "LotseStreamOld",
      "LotseStreamInterrupted",
      "LotseApiBroken",
      "LotseHandlerFailures",
      "LotseHandlerFailedForGood",
      "LotseTurnsFail",
      "LotseQueueOld",
      "LotseHandlerStuck",
      "LotseHotLoop",
      "LotseRequestsFail",
      "LotseNobodyLeads",
      "LotseLeaseMoves",
      "LotseLeaseNotRenewed",
      "LotseCertificateEndsSoon",
      "LotseCertificateEnds",
      "LotseWebhookErrors",
      "LotseAdmissionFails",
      "LotseWebhookSlow",
      "LotseScheduleFails",
      "LotseObjectiveBurnsFast",
      "LotseObjectiveBurns",
      "LotseObjectiveBurnsSlowly",
      "LotseObjectiveMissed",
    ]);
  });

  it.each(alerts)("$alert says of which operator, how bad it is and what to do", ({ expr, labels, annotations }) => {
    expect(labels).toEqual({ operator: "rates", severity: expect.stringMatching(/^(critical|warning|info)$/) });
    expect(annotations.summary).toMatch(/^rates: /);
    expect(annotations.description).toMatch(/^What to do: /);
    // A sentence speaks only of labels that the query keeps. Burn rates are kept by kind.
    if (expr.startsWith("lotse:")) return;
    const [, kept = ""] = /^\w+ by \(([^)]*)\)/.exec(expr.replace(/^histogram_quantile\([\d.]+, /, "")) ?? [];
    const told = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    for (const label of told) expect(kept.split(", ")).toContain(label);
  });

  it("of objectives have a long and a short window, both of which are computed beforehand", () => {
    const recorded = rules(FULL).flatMap((rule) => ("record" in rule ? [rule.record] : []));
    expect(recorded).toEqual(
      ["5m", "30m", "1h", "2h", "6h", "1d", "3d"].map((one) => `lotse:objective_burn:rate${one}`),
    );
    const burning = alerts.filter(({ alert }) => alert.startsWith("LotseObjective"));
    for (const { expr } of burning) {
      const asked = askedOf(expr).map(({ metric }) => metric);
      expect(asked).toHaveLength(2);
      expect(recorded).toEqual(expect.arrayContaining(asked));
    }
    expect(burning[0]?.expr).toBe(
      'lotse:objective_burn:rate1h{operator="rates"} > 14.4 and lotse:objective_burn:rate5m{operator="rates"} > 14.4',
    );
  });

  it("are an object for the operator of Prometheus, or a file for Prometheus itself", () => {
    const groups = alertGroups(FULL);
    expect(load(prometheusRule("rates", "ops", groups))).toMatchObject({
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PrometheusRule",
      metadata: { name: "rates", namespace: "ops" },
      spec: { groups: JSON.parse(JSON.stringify(groups)) },
    });
    expect(load(plainRules(groups))).toEqual({ groups: JSON.parse(JSON.stringify(groups)) });
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
  });
});

describe("the dashboard", () => {
  it("has panels that do not lie on each other, each with a number of its own", () => {
    const all = panels(FULL);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...all.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
  });

  it("calls each line by labels that its query keeps", () => {
    for (const { title, targets = [] } of panels(FULL)) {
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      for (const { expr, legendFormat } of targets) {
        const kept = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(", "));
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(kept, title).toContain(label);
      }
    }
  });

  it("is the same each time, and has a name that Grafana takes", () => {
    expect(dashboard(FULL)).toEqual(dashboard(FULL));
    expect(dashboard({ ...FULL, name: "a".repeat(63) })).toMatchObject({ uid: expect.stringMatching(/^.{1,40}$/) });
  });
});
