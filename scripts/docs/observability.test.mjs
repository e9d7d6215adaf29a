import { readFileSync } from "node:fs";
import path from "node:path";
import { VirtualClock } from "@lotse/client/meta";
import { startHarness } from "@lotse/testing";
import { Operator, resource, schema } from "lotse";
import { ConfigMap } from "lotse/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { isTest, listFiles, root } from "../workspace.mjs";
import { familiesOf, metricsIn, metricsMade, reasonsIn, reasonsPosted } from "./observability.mjs";

const PAGE = "docs/observability.md";
const page = readFileSync(path.join(root, PAGE), "utf8");
/** Dashboards and alerts only speak of metrics; generate/monitoring has its own test that they exist. */
const makesMetrics = (file) => /\.ts$/.test(file) && !isTest(file) && !file.includes("/generate/monitoring/");
const sources = listFiles(path.join(root, "packages/lotse/src"), makesMetrics).map((file) =>
  readFileSync(file, "utf8"),
);

const Promised = resource({
  group: "shown.example.com",
  version: "v1",
  kind: "Promised",
  spec: schema({ type: "object" }),
  objective: { ready: "30s", of: 0.99 },
});

/** What a running operator says of its metrics: one whose handler fails first, and whose first write is tried again. */
async function exposition() {
  const operator = new Operator({ name: "shown" });
  operator.on.create(ConfigMap, { labels: { shown: "yes" }, backoff: "1s" }, function show({ retry, patch }) {
    if (retry === 0) throw new Error("not yet");
    patch.metadata.annotations.shown = "yes";
  });
  operator.on.create(Promised, function keep() {});
  const harness = await startHarness(operator, { clock: new VirtualClock() });
  onTestFinished(() => harness.stop());
  harness.cluster.faults.add({ match: { verb: "patch", resource: "configmaps", count: 1 }, status: 503 });
  await harness.client.create(ConfigMap.gen({ name: "one", labels: { shown: "yes" } }));
  await harness.advance("5s");
  return harness.operator.metrics();
}

describe(PAGE, () => {
  it("lists all metrics that there are, and no others", () => {
    expect([...metricsIn(page).keys()].sort()).toEqual(metricsMade(sources));
  });

  it("says of each its type and its labels, as a running operator has them", async () => {
    const listed = metricsIn(page);
    const families = familiesOf(await exposition());
    // Nothing of that sort happens here, so that these have nothing to say; those of requests are in
    // tests/scenarios/admission.test.ts, those of coordination in packages/lotse/src/coordination.
    expect([...listed.keys()].filter((name) => !families.has(name)).sort()).toEqual([
      "controller_runtime_webhook_latency_seconds",
      "controller_runtime_webhook_requests_in_flight",
      "controller_runtime_webhook_requests_total",
      "leader_election_master_status",
      "leader_election_slowpath_total",
      "lotse_admission_reviews_total",
      "lotse_hot_loops_total",
      "lotse_lease_renewal_age_seconds",
      "lotse_lease_renewal_failures_total",
      "lotse_peering_working",
      "lotse_records_restored_total",
      "lotse_scheduled_runs_total",
      "lotse_shadow_differences",
      "lotse_shard_epoch",
      "lotse_shard_members",
      "lotse_shard_share_ratio",
      "lotse_slow_handlers_total",
      "lotse_source_events_total",
      "lotse_webhook_certificate_age_seconds",
      "lotse_webhook_certificate_remaining_seconds",
    ]);
    for (const [name, family] of families) expect({ name, ...listed.get(name) }).toEqual({ name, ...family });
  });

  it("lists the reasons of all Events that the framework posts by itself", () => {
    expect(reasonsIn(page)).toEqual(expect.arrayContaining(reasonsPosted(sources)));
    for (const reason of reasonsIn(page)) {
      expect(
        sources.some((source) => source.includes(`"${reason}"`)),
        `nobody posts ${reason}`,
      ).toBe(true);
    }
  });
});

describe("what is read of the page", () => {
  it("are rows of metrics and rows of Events, and of no other table", () => {
    const text = ["| `a_total` | counter | `kind`, `code` | what |", "| `Failed` | Warning | when |", "| `time` | x |"];
    expect([...metricsIn(text.join("\n"))]).toEqual([["a_total", { type: "counter", labels: ["kind", "code"] }]]);
    expect(reasonsIn(text.join("\n"))).toEqual(["Failed"]);
  });

  it("is compared with what the sources say", () => {
    expect(metricsMade(['metrics.count("lotse_b_total", "B.")', '"lotse_a_total" and "other_total"'])).toEqual([
      "lotse_a_total",
      "lotse_b_total",
    ]);
    expect(reasonsPosted(['post(body, "Warning", "HotLoop", message)', 'post(\n  "Normal",\n  "Done")'])).toEqual([
      "Done",
      "HotLoop",
    ]);
  });
});
