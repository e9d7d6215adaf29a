/** `lotse explain`: what a running operator did with an object, and why. */
import { formatDuration, harmless } from "@lotse/client/meta";
import type { Elsewhere, ExplainedObjective, Explanation, JournalTurn, OpenHandler, Wake } from "../../report/index.ts";
import type { Io } from "../terminal/index.ts";
import { type AnnouncedLine, announce, wantsColours } from "../terminal/index.ts";
import { askOperators, namedObject, nobodyKnows } from "./ask-operators.ts";

/** The flags of `lotse explain`. */
export interface ExplainOptions {
  readonly namespace?: string | undefined;
  readonly url?: string | undefined;
  readonly output?: "json" | undefined;
}

/** Asks, and prints the answer. */
export async function explain(kind: string, name: string, options: ExplainOptions, io: Io): Promise<number> {
  const object = namedObject(kind, name, options.namespace);
  const nobody = () => nobodyKnows(object);
  const read = (answer: string) => (JSON.parse(answer) as { explanations: readonly Explanation[] }).explanations;
  const explanations = await askOperators({ path: "/explain", method: "GET", object, read, nobody }, options.url, io);
  if (options.output === "json") io.stdout.write(`${JSON.stringify({ explanations }, undefined, 2)}\n`);
  else for (const one of explanations) print(one, io, Date.now());
  return 0;
}

function print(explanation: Explanation, io: Io, now: number): void {
  const { operator, object, state, elsewhere, nextAt, running = [], open, failed = [], objective, turns } = explanation;
  const { apiVersion, kind, namespace, name, resourceVersion, generation, deleting } = object;
  const lines: AnnouncedLine[] = [
    ["operator", operator],
    ["state", nextAt === undefined ? stateText(state, elsewhere) : `waits, due ${moment(nextAt, now)}`],
    ["version", `${resourceVersion ?? "unknown"}${generation === undefined ? "" : `, generation ${generation}`}`],
    ...(objective ? [["objective", objectiveText(objective)] as AnnouncedLine] : []),
    ...(deleting ? [["deletion", "it is being deleted"] as AnnouncedLine] : []),
    ...running.map(
      ({ handler, runId, place, forMs }): AnnouncedLine => [
        "running",
        `${handler}${place === undefined ? "" : ` (${place})`}, for ${formatDuration(forMs)}${runText(runId)}`,
      ],
    ),
    ...open.map((one): AnnouncedLine => ["unfinished", unfinished(one, now)]),
    ...failed.map(
      ({ handler, reason, message }): AnnouncedLine => [
        "failed",
        `${handler} (${reason}), for good: ${JSON.stringify(message)}; lotse retry tries it again`,
      ],
    ),
    ["turns", HOW_MANY[turns.length] ?? `the last ${turns.length}, oldest first`],
  ];
  const title = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name} (${apiVersion})`;
  announce(io.stdout, title, lines, wantsColours(io.stdout, io.env));
  for (const [i, turn] of turns.entries()) {
    io.stdout.write(
      `\n${turnLines(turn, turns[i + 1], now)
        .map(harmless)
        .join("\n")}\n`,
    );
  }
}

const HOW_MANY = ["none yet", "one"];

const STATES: Readonly<Record<Explanation["state"], string>> = {
  waits: "waits until something changes",
  queued: "waits for its turn",
  working: "is worked on",
  gone: "is gone",
  elsewhere: "another process works on it",
};

/** Who does not work on an object says why, and who does, if that is known. */
export function stateText(state: Explanation["state"], elsewhere: Elsewhere | undefined): string {
  if (!elsewhere) return STATES[state];
  const { state: mine, holder, reason, identity } = elsewhere;
  const asked = `(asked: ${identity})`;
  if (mine === "paused") return `no process works on it: ${reason ?? "the operator is paused"} ${asked}`;
  if (mine === "waiting") return `not worked on by this process: ${reason ?? "it has no part in it yet"} ${asked}`;
  return `${STATES.elsewhere}${holder === undefined ? "" : `: ${holder}`} ${asked}`;
}

/** Whether it is ready in the time that its kind promises. */
function objectiveText({ readyMs, state, generation, forMs = 0, tookMs }: ExplainedObjective): string {
  const told: Readonly<Record<ExplainedObjective["state"], string>> = {
    pending: `due in ${formatDuration(Math.max(0, readyMs - forMs))}`,
    late: `late, not ready for ${formatDuration(forMs)}`,
    ready: tookMs === undefined ? "it is" : `${tookMs > readyMs ? "late, " : ""}it took ${formatDuration(tookMs)}`,
    unknown: "not measured, the change is older than the process",
  };
  return `ready within ${formatDuration(readyMs)} of a change: ${told[state]} (generation ${generation})`;
}

function unfinished({ handler, reason, attempts, message, retryAt, steps }: OpenHandler, now: number): string {
  const parts = [`${handler} (${reason})`, `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`];
  if (message !== undefined) parts.push(JSON.stringify(message));
  if (retryAt !== undefined) parts.push(`again ${moment(Date.parse(retryAt), now)}`);
  if (steps !== undefined) parts.push(`steps done: ${steps.join(", ")}`);
  return parts.join(", ");
}

function turnLines(turn: JournalTurn, next: JournalTurn | undefined, now: number): string[] {
  const { at, tookMs, woke, version, ran, read = [], children = [], wrote, problem } = turn;
  const lines = [`${new Date(at).toISOString()}  woken by ${woke.map(cause).join(", ")}`];
  const add = (text: string) => lines.push(`  ${text}`);
  add(`looked at version ${version ?? "unknown"}, took ${formatDuration(tookMs)}`);
  for (const run of ran) {
    const what = `${run.handler}${run.reason === undefined ? "" : ` (${run.reason})`} ${run.outcome}`;
    const after = `after ${formatDuration(run.tookMs)}${runText(run.runId)}`;
    add(`${what} ${after}${run.message === undefined ? "" : `: ${run.message}`}`);
  }
  if (ran.length === 0) add("no handler ran");
  for (const what of read) add(`read ${what}`);
  for (const what of children) add(`child ${what}`);
  for (const { what, version } of wrote) add(`wrote ${what}${version === undefined ? "" : `, version ${version} now`}`);
  if (problem !== undefined) add(`could not go on: ${problem}`);
  add(afterwards(turn, next, now));
  return lines;
}

/** By which the lines of a run are found in the log; operators of an older copy of the package do not tell it. */
function runText(runId: string | undefined): string {
  return runId === undefined ? "" : `, run ${runId}`;
}

/** Only the last turn can still be followed by waiting; of the others it is known how long that was. */
function afterwards({ at, tookMs, after, nextAt }: JournalTurn, next: JournalTurn | undefined, now: number): string {
  if (after === "ends") return "was the last: the object is gone";
  if (after === "goes on") return "goes on at once";
  if (next !== undefined) return `waited for ${formatDuration(Math.max(0, next.at - at - tookMs))}`;
  return nextAt === undefined ? "waits until something changes" : `due again ${moment(nextAt, now)}`;
}

function cause({ by, what }: Wake): string {
  return what === undefined ? by : `${by} (${by === "read" || by === "outside" ? what : `version ${what}`})`;
}

/** A time, and how far away it is. */
function moment(at: number, now: number): string {
  const away = formatDuration(Math.abs(at - now));
  return `${new Date(at).toISOString()} (${at >= now ? `in ${away}` : `${away} ago`})`;
}
