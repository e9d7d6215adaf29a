/** docs/observability.md tells of every metric that an operator has: its type, and its labels. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { Operator, PermanentError, resource } from "lotse";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

const PAGE = path.resolve(import.meta.dirname, "../../docs/observability.md");

const Lamp = resource({
  group: "page.example.com",
  version: "v1",
  kind: "Lamp",
  spec: z.object({ watts: z.number() }),
  status: z.object({ lit: z.boolean().optional() }),
});

it("the page tells of all metrics of an operator that judges, shares its work and fails, as they are", async () => {
  const operator = new Operator({ name: "lamps", crds: "install" });
  operator.on.create(Lamp, function light({ spec, patch }) {
    if (spec.watts > 100) throw new PermanentError("too bright");
    patch.status.lit = true;
  });
  operator.on.validate(Lamp, function look({ spec, warn }) {
    if (spec.watts > 50) warn("bright");
  });
  const cluster = await Cluster.start();
  onTestFinished(() => cluster.stop());
  const client = await cluster.connect();
  onTestFinished(() => client.close());
  const webhooks = { host: "127.0.0.1", port: 0 };
  const running = operator.start({ client, log: () => {}, coordination: "leader", webhooks });
  onTestFinished(() => running.stop());
  await running.ready;
  for (const watts of [10, 200]) {
    await client.create(new Lamp({ metadata: { name: `of-${watts}` }, spec: { watts } }));
  }
  await expect.poll(() => running.metrics()).toMatch(/outcome="failed for good"\} 1\n/);
  await expect.poll(() => running.metrics()).toMatch(/outcome="succeeded"\} 1\n/);

  const page = readFileSync(PAGE, "utf8");
  const told = new Map(
    [...page.matchAll(/^\| `([a-z_]+)` \| (\w+) \|([^|]*)\|/gm)].map(([, name = "", type, labels = ""]) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label) },
    ]),
  );
  const lines = running.metrics().split("\n");
  const types = lines.flatMap((line) => {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, type] as const];
  });
  expect(types.length).toBeGreaterThan(30);
  for (const [name, type] of types) expect({ name, type }).toEqual({ name, type: told.get(name)?.type });
  for (const line of lines) {
    const [, metric = "", labels = ""] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === "") continue;
    const { labels: known = [] } = told.get(metric) ?? told.get(metric.replace(/_(bucket|sum|count)$/, "")) ?? {};
    const strange = [...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label);
    expect(
      strange.filter((label) => label !== "le" && !known.includes(label)),
      line,
    ).toEqual([]);
  }
});
