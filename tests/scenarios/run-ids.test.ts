/** One id for each run of a handler: whoever finds it in a line of the log finds the run in `explain` and in the traces. */
import { VirtualClock } from "@lotse/client/meta";
import { type Harness, startHarness } from "@lotse/testing";
import { context, propagation, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { type LogRecord, Operator, resource, TemporaryError } from "lotse";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";

const Lamp = resource({
  group: "runs.example.com",
  version: "v1",
  kind: "Lamp",
  spec: z.object({ watts: z.number() }),
  status: z.object({ lit: z.boolean().optional() }),
});

/** Of each sort of handlers one, which tells its own id in a line of its own. */
function lamps(): Operator {
  const operator = new Operator({ name: "lamps" });
  operator.on.startup(function plug({ runId, logger }) {
    logger.info("mine", { sees: runId });
  });
  operator.on.create(Lamp, function light({ runId, retry, patch, logger }) {
    logger.info("mine", { sees: runId });
    if (retry === 0) throw new TemporaryError("no current yet", { delay: "5s" });
    patch.status.lit = true;
  });
  operator.on.event(Lamp, function look({ runId, logger }) {
    logger.info("mine", { sees: runId });
  });
  operator.timer(Lamp, { interval: "1h", initialDelay: "1m" }, function dust({ runId, logger }) {
    logger.info("mine", { sees: runId });
  });
  operator.daemon(Lamp, function flicker({ runId, logger }) {
    logger.info("mine", { sees: runId });
  });
  operator.reconcile(Lamp, function level({ runId, logger }) {
    logger.info("mine", { sees: runId });
  });
  operator.source("doorbell", async function* ({ runId, logger, signal }) {
    logger.info("mine", { sees: runId });
    yield [];
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  });
  operator.schedule("nightly", "* * * * *", function report({ runId, logger }) {
    logger.info("mine", { sees: runId });
  });
  return operator;
}

const open = () => startHarness(lamps(), { clock: new VirtualClock() });

/** Two attempts of its creation, and time for what is done by the clock. */
async function live(harness: Harness): Promise<void> {
  await harness.client.create(new Lamp({ metadata: { name: "desk" }, spec: { watts: 10 } }));
  await harness.advance("5s");
  await harness.advance("2m");
}

const idOf = ({ fields }: LogRecord) => fields.runId as string;

describe("the id of a run", () => {
  const exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  beforeEach(() => exporter.reset());
  afterAll(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });
  const spansOf = (runId: string) =>
    exporter.getFinishedSpans().filter(({ attributes }) => attributes["lotse.handler.run_id"] === runId);

  it("leads from a line of the log to what explain says of the run, and to its span", async () => {
    await using harness = await open();
    await live(harness);
    const [waits] = harness.logs.records.filter(({ message }) => message === "waits");
    const runId = waits ? idOf(waits) : "";
    expect(runId).toMatch(/^[0-9a-z]{5}-[0-9a-z]+$/);
    const turns = harness.operator.explain({ kind: "lamp", name: "desk" })?.turns ?? [];
    expect(turns.flatMap(({ ran }) => ran).filter((run) => run.runId === runId)).toMatchObject([
      { handler: "light", reason: "create", outcome: "waits", message: "no current yet" },
    ]);
    expect(spansOf(runId).map(({ name, attributes }) => [name, attributes["lotse.handler.outcome"]])).toEqual([
      ["handler light", "waits"],
    ]);
  });

  it("is in what a run writes itself, and in what is written about it, and another attempt has another one", async () => {
    await using harness = await open();
    await live(harness);
    const lines = harness.logs.records.filter(({ fields, object }) => object && fields.handler === "light");
    expect(lines.map(({ message }) => message)).toEqual(["mine", "waits", "mine", "handler succeeded"]);
    const [first = "", why, second = "", succeeded] = lines.map(idOf);
    expect([why, succeeded]).toEqual([first, second]);
    expect(second).not.toBe(first);
  });

  it("is what the handler sees, whatever sort it is of, and is the name of one run alone", async () => {
    await using harness = await open();
    await live(harness);
    await harness.stop();
    const lines = harness.logs.records.filter(({ message }) => message === "mine");
    for (const line of lines) expect(line.fields.sees).toBe(idOf(line));
    expect(new Set(lines.map(idOf)).size).toBe(lines.length);
    const names = lines.flatMap((line) => spansOf(idOf(line)).map(({ name }) => name.replace("handler ", "")));
    expect(names).toHaveLength(lines.length);
    expect([...new Set(names)].sort()).toEqual(
      ["plug", "light", "look", "dust", "flicker", "level", "doorbell", "nightly"].sort(),
    );
  });
});
