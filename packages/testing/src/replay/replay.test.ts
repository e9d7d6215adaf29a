import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { type Client, ConfigMap, Secret } from "@lotse/client";
import { Operator, resource, TemporaryError } from "lotse";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ReplayError, replay } from "./replay.ts";
import { record } from "./test-recording.ts";

const Shop = resource({
  group: "shops.example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({ size: z.number(), secret: z.string().optional() }),
  status: z.object({
    map: z.string().optional(),
    opened: z.string().optional(),
    total: z.number().optional(),
    ticks: z.number().optional(),
  }),
});

interface Variation {
  readonly greeting?: string;
  readonly skipsUpdates?: boolean;
  readonly writesMore?: boolean;
}

/** An operator with most of what an operator may have; each time a new one, with a change where one is planted. */
function shops({ greeting = "open", skipsUpdates = false, writesMore = false }: Variation = {}): Operator {
  const operator = new Operator({ name: "shops", settings: { execution: { backoff: "100ms" } } });
  operator.on.create(Shop, async function open({ name, spec, adopt, client, patch, retry }) {
    if (spec.size % 3 === 0 && retry === 0) throw new TemporaryError("not yet", { delay: "50ms" });
    const data = { size: String(spec.size), greeting };
    const map = await client.create(adopt(ConfigMap.gen({ generateName: `${name}-`, data })));
    patch.status.map = map.name;
    patch.status.opened = new Date().toISOString().slice(0, 4);
    if (writesMore) await client.create(adopt(ConfigMap.gen({ name: `${name}-more` })));
  });
  operator.on.update(Shop, async function resize({ spec, status, client, patch }) {
    if (skipsUpdates) return;
    if (status.map) await client.patch(ConfigMap, status.map, { data: { size: String(spec.size) } });
    patch.status.total = (status.total ?? 0) + spec.size;
  });
  operator.on.delete(Shop, async function close() {});
  return operator;
}

async function trade(client: Client, calm: () => Promise<void>, count = 8): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `shop-${i}`);
  await Promise.all(names.map((name, i) => client.create(Shop.gen({ name, spec: { size: i } }))));
  await calm();
  await Promise.all(names.map((name, i) => client.patch(Shop, name, { spec: { size: i + 10 } })));
  await client.delete(Shop, "shop-1");
  await calm();
}

describe("a recording", () => {
  it("is played to the same operator: it writes the same, byte by byte", async () => {
    const { file, writes } = await record(shops(), (client, calm) => trade(client, calm));
    const report = await replay(file, shops());
    expect(report).toMatchObject({ operator: "shops", differences: [] });
    expect(report.recorded).toBe(writes);
    expect(report.replayed).toBe(writes);
    expect(writes).toBeGreaterThanOrEqual(8 * 4);
  });

  it("has timers, daemons, steps, reconcilers, children, Events and backoffs with chance in it", async () => {
    const everything = () => {
      const operator = new Operator({
        name: "everything",
        events: "all",
        settings: { execution: { backoff: { initial: "20ms", factor: 2, max: "100ms", jitter: 0.5 } } },
      });
      operator.on.create(Shop, async function build({ step, patch, retry, info }) {
        const [one, two] = await Promise.all([step("one", async () => 1), step("two", async () => 2)]);
        if (retry < 2) throw new Error("not yet");
        patch.status.total = one + two;
        info("Built", "it stands");
      });
      operator.timer(Shop, { interval: "30ms" }, async function tick({ patch, status, started }) {
        if ((status.ticks ?? 0) >= 4) return;
        patch.status.ticks = (status.ticks ?? 0) + 1;
        patch.status.opened = started.toISOString();
      });
      operator.daemon(Shop, async function look({ sleep, patch, signal }) {
        await sleep("40ms");
        patch.metadata.annotations.looked = "yes";
        await sleep("1h").catch(() => signal.aborted);
      });
      operator.children(Shop, { owns: [ConfigMap] }, function shelves({ name, spec }) {
        return Array.from({ length: spec.size % 3 }, (_, i) => ConfigMap.gen({ name: `${name}-${i}` }));
      });
      return operator;
    };
    const { file, writes } = await record(everything(), async (client, calm) => {
      await trade(client, calm, 6);
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    const report = await replay(file, everything());
    expect(report.replayed).toBe(report.recorded);
    expect(report.replayed).toBeGreaterThanOrEqual(writes);
    expect(writes).toBeGreaterThan(40);
  });

  it("tells what a new version says otherwise, when, and which handler", async () => {
    const { file } = await record(shops(), (client, calm) => trade(client, calm, 2));
    const error = await replay(file, shops({ greeting: "welcome" })).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ReplayError);
    const { message, report } = error as ReplayError;
    expect(message).toMatch(/^the writes differ from those of .*: 2 of \d+\n/);
    expect(message).toMatch(
      /T.*Z POST \/api\/v1\/namespaces\/default\/configmaps \(handler open\): says something else/,
    );
    expect(message).toContain('- data.greeting: "open"');
    expect(message).toContain('+ data.greeting: "welcome"');
    expect(report.differences.map(({ type }) => type)).toEqual(["changed", "changed"]);
  });

  it("tells what is not written any more, and what is new", async () => {
    const { file } = await record(shops(), (client, calm) => trade(client, calm, 2));
    const without = await replay(file, shops({ skipsUpdates: true }), { report: true });
    const missing = without.differences.filter(({ type }) => type === "missing");
    expect(missing.map(({ request }) => request)).toContainEqual(expect.stringMatching(/^PATCH .*configmaps\/shop-0-/));
    const more = await replay(file, shops({ writesMore: true }), { report: true });
    const additional = more.differences.filter(({ type }) => type === "additional");
    expect(additional).toMatchObject([
      { handlers: ["open"], replayed: { metadata: { name: expect.stringMatching(/-more$/) } } },
      { handlers: ["open"] },
    ]);
  });

  it("has no secret in it, and equal values are equal words", async () => {
    const operator = () => {
      const made = new Operator({ name: "copies" });
      made.on.create(Shop, async function copy({ name, spec, client, adopt }) {
        const { body } = await client.get(Secret, spec.secret ?? "");
        const password = Buffer.from(body.data?.password ?? "", "base64").toString();
        const url = `postgres://shop:${password}@db`;
        await client.create(adopt(ConfigMap.gen({ name, data: { url } })));
        await client.create(adopt(Secret.gen({ name: `${name}-copy`, stringData: { password } })));
      });
      return made;
    };
    const { file } = await record(operator(), async (client) => {
      await client.create(Secret.gen({ name: "login", stringData: { password: "correct horse battery" } }));
      await client.create(Shop.gen({ name: "corner", spec: { size: 1, secret: "login" } }));
    });
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain("correct horse");
    expect(text).not.toContain(Buffer.from("correct horse battery").toString("base64"));
    expect(text).toMatch(/postgres:\/\/shop:masked-[0-9a-f]{16}@db/);
    expect((await replay(file, operator())).replayed).toBe(3);
  });

  it("of one object has what that one needs, and is played", async () => {
    const only = { kind: "Shop", namespace: "default", name: "shop-2" };
    const { file } = await record(shops(), (client, calm) => trade(client, calm), { only });
    const text = readFileSync(file, "utf8");
    expect(text).toContain("shop-2-");
    expect(text).not.toContain("shop-3");
    const report = await replay(file, shops());
    expect(report.recorded).toBe(4);
    expect((await replay(file, shops({ greeting: "welcome" }), { report: true })).differences).toHaveLength(1);
  });

  it("that is full says so, and is played as far as it goes", async () => {
    const ends: unknown[] = [];
    const limits = { limitBytes: 20_000, onEnd: (why: unknown) => ends.push(why) };
    const { file, writes } = await record(shops(), (client, calm) => trade(client, calm), limits);
    expect(ends).toEqual(["full"]);
    const text = readFileSync(file, "utf8");
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(text.trimEnd().split("\n").at(-1)).toMatch(/^{"k":"full"/);
    const report = await replay(file, shops(), { report: true });
    expect(report.cut).toBe("full");
    expect(report.recorded).toBeLessThan(writes);
    expect(report.differences.filter(({ type }) => type !== "additional")).toEqual([]);
  });

  it("whose process was killed in the middle of a line is played up to there", async () => {
    const { file } = await record(shops(), (client, calm) => trade(client, calm, 2));
    truncateSync(file, readFileSync(file).length - 7);
    expect(await replay(file, shops())).toMatchObject({ cut: "torn", differences: [] });
  });

  it("that is none is refused with a sentence", async () => {
    const { file } = await record(shops(), async () => {});
    writeFileSync(file, "apiVersion: v1\n");
    await expect(replay(file, shops())).rejects.toThrow("this is no recording of an operator");
    await expect(replay(`${file}.gone`, shops())).rejects.toThrow("cannot be read");
  });
});
