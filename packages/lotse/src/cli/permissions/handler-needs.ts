/**
 * What the handlers of an operator need to be allowed: what is written in their code, and what they were seen to ask for
 * while they were recorded. Of a handler that neither has seen nothing is known, and that is said: an operator that lacks a
 * right waits for it in silence, in production.
 */

import path from "node:path";
import type { Need } from "../../generate/index.ts";
import type { RecordedRequest } from "../../report/index.ts";
import { needOf } from "../../report/index.ts";
import { type LoadedOperator, shownPath } from "../project/index.ts";
import { readRecordings, recordingOf } from "../recording/index.ts";
import type { ProjectIo } from "../scan/index.ts";
import { type Gap, type ScanResult, scanOperator } from "../scan/index.ts";
import type { Io } from "../terminal/index.ts";

/** A handler of which neither its code nor a recording tells all that it asks for. */
export interface UnseenHandler {
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  /** What is not known of it. */
  readonly why: string;
}

/** See the module comment. */
export interface HandlerNeeds {
  readonly needs: readonly Need[];
  readonly unseen: readonly UnseenHandler[];
  /** Handlers in the recording that the operator does not have any more: what they asked for is left out. */
  readonly gone: readonly string[];
  /** Whether a handler is among the unseen. */
  isUnseen(handler: object): boolean;
  /** What would make them seen. */
  readonly todo: string;
}

/**
 * Looks at the code and at the recordings. `all` are the operators that the recordings may be about: one file can have
 * several.
 */
export async function handlerNeeds(
  loaded: LoadedOperator,
  all: readonly LoadedOperator[],
  from: readonly string[] | undefined,
  io: Pick<ProjectIo, "cwd" | "code">,
): Promise<HandlerNeeds> {
  const requests = readRecordings(loaded.file, from, io);
  const scan = await (io.code?.scan ?? scanOperator)(loaded, io.cwd);
  const needs = judgeHandlers(handlersOf(loaded), requests, scan);
  const known = new Set(all.flatMap(handlersOf).map(({ id }) => id));
  return { ...needs, gone: needs.gone.filter((id) => !known.has(id)), todo: todoFor(loaded.file, scan) };
}

interface KnownHandler {
  readonly id: string;
  readonly sourceLocation: string | undefined;
  /** Whether it has a client at all. */
  readonly asks: boolean;
  readonly handler: object;
}

function handlersOf({ operator }: LoadedOperator): KnownHandler[] {
  // Perhaps of another copy of the package, which has not all sorts of them.
  const {
    resources,
    activities = [],
    sources = [],
    schedules = [],
    admission = [],
  } = operator as Pick<typeof operator, "resources"> & Partial<typeof operator>;
  const judging = admission.flatMap(({ handlers }) => handlers);
  const outside = [...sources, ...schedules, ...judging].map((handler) => {
    return { id: handler.id, sourceLocation: handler.sourceLocation, asks: true, handler };
  });
  const declared = [...resources.flatMap(({ handlers }) => handlers), ...activities].map((handler) => {
    const { id, sourceLocation, type } = handler;
    // The part of a reconciler that cleans up is looked at with the reconciler.
    const inner = type === "change" && handler.reconciler !== undefined;
    return { id, sourceLocation, asks: type !== "index" && type !== "login" && !inner, handler };
  });
  return [...declared, ...outside];
}

/** Pure: from what was read and what was recorded to what is needed, and what is not known. */
export function judgeHandlers(
  handlers: readonly KnownHandler[],
  requests: readonly RecordedRequest[],
  scan: ScanResult,
): Omit<HandlerNeeds, "todo"> {
  const needs: Need[] = [];
  const unseen = new Map<object, UnseenHandler>();
  const recorded = groupBy(requests, ({ handler }) => handler);
  for (const { id, sourceLocation, asks, handler } of handlers) {
    const found = "handlers" in scan ? scan.handlers.get(handler)?.found : undefined;
    needs.push(...(found?.needs ?? []));
    const written = new Set((found?.needs ?? []).flatMap(rightsOf));
    const seen = recorded.get(id) ?? [];
    // What the code shows has its place; what was only seen to happen has not.
    for (const need of seen.flatMap((request) => needOf(request) ?? [])) {
      if (rightsOf(need).some((right) => !written.has(right))) needs.push(need);
    }
    const why = asks && seen.length === 0 ? reasonOf(scan, found?.gaps) : undefined;
    if (why !== undefined) unseen.set(handler, { id, sourceLocation, why });
  }
  const known = new Set(handlers.map(({ id }) => id));
  const gone = [...recorded.keys()].filter((id) => !known.has(id));
  return { needs, unseen: [...unseen.values()], gone, isUnseen: (handler) => unseen.has(handler) };
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function rightsOf({ group, resource, verbs, clusterWide }: Need): string[] {
  return verbs.map((verb) => JSON.stringify([group, resource, verb, clusterWide]));
}

/** Why a handler that is in no recording is not known; undefined when its code says everything. */
function reasonOf(scan: ScanResult, gaps: readonly Gap[] | undefined): string | undefined {
  if ("impossible" in scan) return scan.impossible;
  if (!gaps) return "no declaration of it is in the files of this project, as far as their types tell";
  const [first] = gaps;
  if (!first) return undefined;
  const more = gaps.length > 1 ? ` (and ${gaps.length - 1} more)` : "";
  return `${first.sourceLocation}: ${first.what}${more}`;
}

function todoFor(file: string, scan: ScanResult): string {
  const record = `let it run in \`lotse dev ${file}\`, or in tests with LOTSE_RECORD=${recordingOf(file)}`;
  return "impossible" in scan ? `${scan.todo}; or ${record}` : record;
}

/** One sentence for each reason, with all handlers that it is true of. */
export function unseenTexts(unseen: readonly UnseenHandler[]): string[] {
  return [...groupBy(unseen, ({ why }) => why)].map(([why, handlers]) => {
    const names = handlers.map(
      ({ id, sourceLocation }) => `${id}${sourceLocation === undefined ? "" : ` (${sourceLocation})`}`,
    );
    const [who, ask] = names.length === 1 ? ["handler", "asks"] : ["handlers", "ask"];
    return `nobody knows what ${who} ${names.join(", ")} ${ask} the cluster for: ${why}`;
  });
}

/** Says on standard error what is not known, and what to do about it. */
export function tellUnseen({ unseen, gone, todo }: HandlerNeeds, file: string, io: Pick<Io, "stderr" | "cwd">): void {
  const { stderr } = io;
  for (const text of unseenTexts(unseen)) stderr.write(`Warning: ${text}\n`);
  if (unseen.length > 0) stderr.write(`Do:      ${todo}; then generate again\n`);
  if (gone.length > 0) {
    const recording = shownPath(path.resolve(io.cwd, recordingOf(file)), io.cwd);
    const names = gone.join(", ");
    stderr.write(`Note:    ${recording} is also about handlers that are gone, which are left out: ${names}\n`);
  }
}
