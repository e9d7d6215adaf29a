/** `lotse explain`: what a running operator did with an object, and why. */
import { formatDuration } from "@lotse/client/meta";
import type { Explanation, JournalTurn, OpenHandler, Wake } from "../report/index.ts";
import { wantsColours } from "./colours.ts";
import { type Fact, writeFacts } from "./facts.ts";
import type { Io } from "./io.ts";
import { type Asked, ask, localSockets } from "./local-socket.ts";
import { Problem } from "./problem.ts";

/** The flags of `lotse explain`. */
export interface ExplainOptions {
  readonly namespace?: string | undefined;
  readonly url?: string | undefined;
  readonly output?: "json" | undefined;
}

/** Asks, and prints the answer. */
export async function explain(kind: string, name: string, options: ExplainOptions, io: Io): Promise<number> {
  const [first = "", second] = name.split("/");
  const namespace = second === undefined ? options.namespace : first;
  const query = new URLSearchParams({ kind, name: second ?? first, ...(namespace !== undefined && { namespace }) });
  const shown = `${kind} ${namespace ?? "default"}/${second ?? first}`;
  const explanations = await (options.url === undefined
    ? askLocally(query, io)
    : askAt(options.url, query).then((answers) => answers ?? []));
  if (explanations.length === 0) {
    throw new Problem({
      what: `no operator knows ${shown}`,
      why: "it is of a kind that nobody handles, its namespace is not served, or it does not exist",
      todo: `check with: kubectl get ${kind} --all-namespaces`,
    });
  }
  if (options.output === "json") io.stdout.write(`${JSON.stringify({ explanations }, undefined, 2)}\n`);
  else for (const one of explanations) print(one, io, Date.now());
  return 0;
}

async function askLocally(query: URLSearchParams, io: Io): Promise<readonly Explanation[]> {
  const answers = await Promise.all(
    localSockets(io).map((socket) => answerOf({ socket }, query).catch(() => undefined)),
  );
  const heard = answers.filter((answer) => answer !== undefined);
  if (heard.length > 0) return heard.flat();
  throw new Problem({
    what: "no operator runs on this machine",
    why: "nobody listens where `lotse run` and `lotse dev` do",
    todo: "start one, or name its health endpoint: --url http://localhost:8080 (kubectl port-forward brings it here)",
  });
}

async function askAt(url: string, query: URLSearchParams): Promise<readonly Explanation[] | undefined> {
  if (!URL.canParse(url)) {
    throw new Problem(
      { what: `${JSON.stringify(url)} is not a URL`, todo: "write it like http://localhost:8080" },
      { exitCode: 2 },
    );
  }
  try {
    return await answerOf({ url }, query);
  } catch (cause) {
    const { message, code } = cause as { message: string; code?: string };
    throw new Problem(
      {
        what: `nobody answers at ${url}`,
        why: code === "ECONNREFUSED" ? "connection refused" : message,
        todo: "check that the operator runs with --liveness, and that the port is forwarded",
      },
      { cause },
    );
  }
}

async function answerOf(asked: Asked, query: URLSearchParams): Promise<readonly Explanation[]> {
  const { status, body } = await ask(asked, `/explain?${query}`);
  if (status !== 200 && status !== 404) throw new Error(`the answer was ${status}`);
  const { explanations } = JSON.parse(body) as { explanations: readonly Explanation[] };
  return explanations;
}

function print(explanation: Explanation, io: Io, now: number): void {
  const { operator, object, state, nextAt, running = [], open, failed = [], turns } = explanation;
  const { apiVersion, kind, namespace, name, resourceVersion, generation, deleting } = object;
  const facts: Fact[] = [
    ["operator", operator],
    ["state", nextAt === undefined ? STATES[state] : `waits, due ${moment(nextAt, now)}`],
    ["version", `${resourceVersion ?? "unknown"}${generation === undefined ? "" : `, generation ${generation}`}`],
    ...(deleting ? [["deletion", "it is being deleted"] as Fact] : []),
    ...running.map(
      ({ handler, place, forMs }): Fact => [
        "running",
        `${handler}${place === undefined ? "" : ` (${place})`}, for ${formatDuration(forMs)}`,
      ],
    ),
    ...open.map((one): Fact => ["unfinished", unfinished(one, now)]),
    ...failed.map(
      ({ handler, reason, message }): Fact => [
        "failed",
        `${handler} (${reason}), for good: ${JSON.stringify(message)}; lotse retry tries it again`,
      ],
    ),
    ["turns", HOW_MANY[turns.length] ?? `the last ${turns.length}, oldest first`],
  ];
  const title = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name} (${apiVersion})`;
  writeFacts(io.stdout, title, facts, wantsColours(io.stdout, io.env));
  for (const [i, turn] of turns.entries()) {
    io.stdout.write(`\n${turnLines(turn, turns[i + 1], now).join("\n")}\n`);
  }
}

const HOW_MANY = ["none yet", "one"];

const STATES: Readonly<Record<Explanation["state"], string>> = {
  waits: "waits until something changes",
  queued: "waits for its turn",
  working: "is worked on",
  gone: "is gone",
};

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
    add(`${what} after ${formatDuration(run.tookMs)}${run.message === undefined ? "" : `: ${run.message}`}`);
  }
  if (ran.length === 0) add("no handler ran");
  for (const what of read) add(`read ${what}`);
  for (const what of children) add(`child ${what}`);
  for (const { what, version } of wrote) add(`wrote ${what}${version === undefined ? "" : `, version ${version} now`}`);
  if (problem !== undefined) add(`could not go on: ${problem}`);
  add(afterwards(turn, next, now));
  return lines;
}

/** Only the last turn can still be followed by waiting; of the others it is known how long that was. */
function afterwards({ at, tookMs, after, nextAt }: JournalTurn, next: JournalTurn | undefined, now: number): string {
  if (after === "ends") return "was the last: the object is gone";
  if (after === "goes on") return "goes on at once";
  if (next !== undefined) return `waited for ${formatDuration(Math.max(0, next.at - at - tookMs))}`;
  return nextAt === undefined ? "waits until something changes" : `due again ${moment(nextAt, now)}`;
}

function cause({ by, what }: Wake): string {
  return what === undefined ? by : `${by} (${by === "read" ? what : `version ${what}`})`;
}

/** A time, and how far away it is. */
function moment(at: number, now: number): string {
  const away = formatDuration(Math.abs(at - now));
  return `${new Date(at).toISOString()} (${at >= now ? `in ${away}` : `${away} ago`})`;
}
