// Runs inside the contestant with Lotse when BENCH_STAGES names a folder: takes the times of each turn from the spans that
// the operator makes, and leaves them there when the process ends. The clock is our own: the SDK rounds the beginning of
// a span to milliseconds.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

/** Milliseconds from one time to another, undefined where one of them is. */
const between = (from, to) => (from === undefined || to === undefined ? undefined : to - from);

/** Keeps the spans of each trace until its turn is over. */
class StageProcessor {
  turns = [];
  #traces = new Map();

  onStart(span) {
    const { traceId, spanId } = span.spanContext();
    if (!this.#traces.has(traceId)) this.#traces.set(traceId, []);
    this.#traces.get(traceId).push({ span, spanId, from: performance.now(), to: undefined });
  }

  onEnd(span) {
    const { traceId, spanId } = span.spanContext();
    const spans = this.#traces.get(traceId) ?? [];
    const ended = spans.find((one) => one.spanId === spanId);
    if (ended) ended.to = performance.now();
    if (span.parentSpanContext !== undefined) return;
    this.#traces.delete(traceId);
    const turn = readTurn(ended, spans);
    if (turn) this.turns.push(turn);
  }

  async forceFlush() {}
  async shutdown() {}
}

/** The stages of a turn that ran a handler; what only saw its own write come back has none. */
function readTurn(turn, spans) {
  const handler = spans.find(({ span }) => span.name.startsWith("handler "));
  if (!turn?.span.name.startsWith("turn ") || !handler) return undefined;
  const requestsOf = (parent) =>
    spans.filter(({ span }) => span.parentSpanContext?.spanId === parent.spanId && span.name.startsWith("PATCH "));
  const child = requestsOf(handler).at(-1);
  const write = requestsOf(turn).at(-1);
  const queued = turn.span.attributes["lotse.queue.wait_seconds"] * 1000;
  return {
    reason: handler.span.attributes["lotse.handler.reason"],
    queued,
    prepared: between(turn.from, handler.from),
    handled: between(handler.from, handler.to),
    child: between(child?.from, child?.to),
    gathered: between(handler.to, write?.from),
    answered: between(write?.from, write?.to),
    concluded: between(write?.to, turn.to),
    all: queued + between(turn.from, turn.to),
  };
}

/** Begins to record; to be called before the operator starts. */
export function recordStages(folder) {
  const processor = new StageProcessor();
  new NodeTracerProvider({ spanProcessors: [processor] }).register();
  // A process is started again within a run: each leaves a file of its own.
  process.on("exit", () => writeFileSync(path.join(folder, `${process.pid}.json`), JSON.stringify(processor.turns)));
}
