// Where the time of a change goes inside of Lotse: what stages-recorder.mjs has left, as a table.
//
// The spans do not show two things, which therefore are in no stage: from the bytes of an event to its place in the queue
// (the streams of objects have no span), and when a request goes from the client to the socket (its span begins when it is
// handed to the client, so what waits for a connection counts as waiting for the answer).
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { drawTable } from "../measure.mjs";
import { percentile } from "./workload.mjs";

const stages = {
  queued: "event queued → its turn begins",
  prepared: "turn begins → handler begins",
  handled: "handler begins → handler ends",
  child: "  of which the ConfigMap's PATCH",
  gathered: "handler ends → status PATCH handed to the client",
  answered: "status PATCH → its answer",
  concluded: "answer → turn ends",
  all: "event queued → turn ends",
};

const titles = { create: "creations", update: "changes" };

/** The turns that the processes of a folder have left. */
export function readTurns(folder) {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => JSON.parse(readFileSync(path.join(folder, file), "utf8")));
}

/** For each sort of turn and each stage: how many, p50, p99 and the highest, in milliseconds. */
export function summarizeStages(turns) {
  return Object.fromEntries(
    Object.keys(titles).map((reason) => {
      const mine = turns.filter((turn) => turn.reason === reason);
      const of = (stage) => {
        const values = mine.map((turn) => turn[stage]).filter((value) => value !== undefined);
        const [p50, p99] = [percentile(values, 0.5), percentile(values, 0.99)];
        return { count: values.length, p50, p99, max: percentile(values, 1) };
      };
      const figures = Object.keys(stages).map((stage) => [stage, of(stage)]);
      return [reason, Object.fromEntries(figures.filter(([, { count }]) => count > 0))];
    }),
  );
}

/** The summary as tables in Markdown, one for each sort of turn. */
export function drawStages(summary, mode) {
  return Object.entries(summary)
    .filter(([, figures]) => Object.keys(figures).length > 0)
    .map(([reason, figures]) =>
      drawTable(
        [`lotse, ${mode}, ${figures.all.count} ${titles[reason]} (ms)`, "p50", "p99", "max"],
        Object.entries(figures).map(([stage, { p50, p99, max }]) => [
          stages[stage],
          ...[p50, p99, max].map((value) => value.toFixed(2)),
        ]),
      ),
    )
    .join("\n\n");
}
