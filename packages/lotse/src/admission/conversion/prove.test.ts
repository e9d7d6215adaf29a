import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resource } from "../../declare/index.ts";
import { checkConversions, faultText } from "./prove.ts";

/** Amounts as a text became a number with a unit, a list of hosts got names and TLS, and a colour is gone. */
const backups = (lossless: boolean, broken: { schedule?: boolean } = {}) =>
  resource({
    group: "backups.example.com",
    kind: "Backup",
    versions: {
      v1beta1: {
        spec: z.object({
          size: z.string().regex(/^\d{1,6}(Ki|Mi|Gi)$/),
          schedule: z.string().min(1).max(20),
          hosts: z.array(z.string().min(1).max(10)).max(4).optional(),
          retention: z.int32().min(0).max(365).default(7),
          labels: z.record(z.string(), z.string()).optional(),
          colour: z.enum(["red", "green"]).optional(),
        }),
        status: z.object({ phase: z.enum(["Waiting", "Done"]).optional() }),
      },
      v1: {
        spec: z.object({
          size: z.object({ amount: z.int32().min(0).max(999_999), unit: z.enum(["Ki", "Mi", "Gi"]) }),
          schedule: z.object({ cron: z.string().min(1).max(20), zone: z.string().max(10).optional() }),
          hosts: z
            .array(z.object({ name: z.string().min(1).max(10), tls: z.boolean().default(true) }))
            .max(4)
            .optional(),
          keep: z.object({ days: z.int32().min(0).max(365), copies: z.int32().min(1).max(9).optional() }),
          labels: z.record(z.string(), z.string()).optional(),
        }),
        status: z.object({ phase: z.enum(["Waiting", "Done"]).optional(), since: z.iso.datetime().optional() }),
        storage: true,
      },
    },
    lossless,
    convert: {
      v1beta1: {
        to: ({ spec: { size, schedule, hosts, retention, labels } }) => ({
          spec: {
            size: { amount: Number.parseInt(size, 10), unit: size.slice(-2) as "Ki" },
            schedule: { cron: broken.schedule ? schedule.trim() : schedule },
            ...(hosts && { hosts: hosts.map((name) => ({ name, tls: true })) }),
            keep: { days: retention },
            ...(labels && { labels }),
          },
        }),
        from: ({ spec: { size, schedule, hosts, keep, labels } }) => ({
          spec: {
            size: `${size.amount}${size.unit}`,
            schedule: schedule.cron,
            ...(hosts && { hosts: hosts.map(({ name }) => name) }),
            retention: keep.days,
            ...(labels && { labels }),
          },
        }),
      },
    },
  });

/** Each way: ten thousand objects in all. */
const RUNS = 5_000;

describe("conversions are tried with objects that are made from the schemas", () => {
  it("all of them come back as they were, and are valid in between", () => {
    const proof = checkConversions(backups(true), { runs: RUNS });
    expect(proof.faults.map((fault) => faultText(fault, proof.kind))).toEqual([]);
    expect(proof).toMatchObject({ kind: "Backup", objects: 2 * RUNS, gaps: [] });
    expect(proof.kept).toEqual([
      {
        version: "v1beta1",
        holder: "v1",
        paths: ["spec.hosts[].tls", "spec.keep.copies", "spec.schedule.zone", "status.since"],
      },
      { version: "v1", holder: "v1beta1", paths: ["spec.colour", "spec.size"] },
    ]);
  });

  it("a lossy one is found, and the object is made as small as it can be", () => {
    const proof = checkConversions(backups(false));
    const lines = proof.faults.map((fault) => faultText(fault, proof.kind, "backups.ts:7"));
    expect(lines).toEqual([
      "Backup v1 → v1beta1 → v1 is not the same when it comes back (backups.ts:7)\n" +
        '  {"spec":{"size":{"amount":0,"unit":"Gi"},"schedule":{"cron":"0"},"hosts":[{"name":"0","tls":false}],"keep":{"days":0}}}\n' +
        '  spec.hosts: [{"name":"0","tls":false}] became [{"name":"0","tls":true}]',
      "Backup v1beta1 → v1 → v1beta1 is not the same when it comes back (backups.ts:7)\n" +
        '  {"spec":{"size":"0Ki","schedule":"0","colour":"red"}}\n' +
        '  spec.colour: "red" became nothing',
    ]);
    expect(proof.place).toMatch(/prove\.test\.ts:\d+/);
  });

  it("so is one that makes what the other version does not take", () => {
    const proof = checkConversions(backups(true, { schedule: true }));
    expect(proof.faults).toEqual([
      {
        mistake: "invalid",
        trip: ["v1beta1", "v1"],
        what: "makes what the other version does not take",
        object: { spec: { schedule: " ", size: "0Ki" } },
        details: ["spec.schedule.cron: must have at least 1 characters"],
      },
    ]);
  });
});

const counter = (to: (count: number) => number | undefined) =>
  resource({
    group: "example.com",
    kind: "Counter",
    versions: {
      v1beta1: { spec: z.object({ count: z.int32().min(0).max(100), more: z.string().optional() }) },
      v1: { spec: z.object({ total: z.int32().min(0).max(100) }), storage: true },
    },
    convert: {
      v1beta1: {
        to: ({ spec }) => ({ spec: { total: to(spec.count) as number } }),
        from: ({ spec }) => ({ spec: { count: spec.total } }),
      },
    },
  });

describe("so is a function", () => {
  it("that throws", () => {
    const proof = checkConversions(
      counter((count) => {
        if (count > 41) throw new RangeError("too many");
        return count;
      }),
    );
    expect(proof.faults).toContainEqual({
      mistake: "throws",
      trip: ["v1beta1", "v1"],
      what: "fails",
      object: { spec: { count: 42 } },
      details: ["Counter default/sample cannot be converted from v1beta1 to v1: too many (spec.count was read last)"],
    });
    expect(proof.faults).toContainEqual(
      expect.objectContaining({
        trip: ["v1", "v1beta1", "v1"],
        what: "fails on the way back",
        object: { spec: { total: 42 } },
      }),
    );
  });

  it("that gives another answer each time", () => {
    let calls = 0;
    const { faults } = checkConversions(counter(() => calls++ % 100));
    expect(faults.map(({ what }) => what)).toContain("gives something else when it is called twice: it has to be pure");
  });

  it("that leaves a required field out", () => {
    const { faults } = checkConversions(counter((count) => (count === 7 ? undefined : count)));
    expect(faults).toContainEqual(
      expect.objectContaining({ object: { spec: { count: 7 } }, details: ["spec.total: is required"] }),
    );
  });
});

it("objects that a judge refuses are not tried, and what it says of results counts", () => {
  const judge = (version: string, { spec }: { spec?: unknown }) =>
    version === "v1" && (spec as { total: number }).total > 50 ? [{ path: "spec.total", what: "must be small" }] : [];
  const { faults } = checkConversions(
    counter((count) => count),
    { judge },
  );
  expect(faults).toEqual([
    expect.objectContaining({
      trip: ["v1beta1", "v1"],
      object: { spec: { count: 51 } },
      details: ["spec.total: must be small"],
    }),
  ]);
});

it("a kind with one version has nothing to try", () => {
  const One = resource({ group: "example.com", version: "v1", kind: "One", spec: z.object({}) });
  expect(checkConversions(One)).toMatchObject({ objects: 0, faults: [], kept: [] });
});

it("a version that no object can be made of is a gap, not a proof", () => {
  const Odd = resource({
    group: "example.com",
    kind: "Odd",
    versions: {
      v1beta1: { spec: z.object({ word: z.string().regex(/^(\p{L}{3})$/u) }) },
      v1: { spec: z.object({ name: z.string() }), storage: true },
    },
    convert: {
      v1beta1: {
        to: ({ spec }) => ({ spec: { name: spec.word } }),
        from: ({ spec }) => ({ spec: { word: spec.name } }),
      },
    },
  });
  const { gaps } = checkConversions(Odd, { runs: 50 });
  expect(gaps.filter(({ version }) => version === "v1beta1").map(({ path, what }) => `${path}: ${what}`)).toEqual([
    ": no object could be made that fits the schema: its conversion was not tried",
    "spec.word: no text was found that matches ^(\\p{L}{3})$",
  ]);
});
