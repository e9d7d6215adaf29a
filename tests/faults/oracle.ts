/** What has to be true in the end, whatever happened on the way. */
import { ConfigMap, type KubeBody } from "@lotse/client";
import type { LogRecord } from "lotse";
import { expect } from "vitest";
import type { Note } from "./journal.ts";
import { Thing } from "./kinds.ts";
import { OBJECTS } from "./scenario.ts";
import { eventually, type Trial } from "./trial.ts";

const STEPS = ["disk", "restore", "user", "grants"];

/** Objects by `kind/name`, without what differs from run to run. */
export type State = Readonly<Record<string, unknown>>;

/** What there is in the trial's namespace, children included. */
export async function stateOf({ client }: Trial): Promise<State> {
  const bodies: KubeBody[] = [];
  for await (const { body } of client.list(Thing)) bodies.push(body);
  for await (const { body } of client.list(ConfigMap)) bodies.push(body);
  const own = bodies.filter(({ metadata }) => metadata?.name !== "kube-root-ca.crt");
  return Object.fromEntries(own.map((body) => [`${body.kind}/${body.metadata?.name}`, normalise(body, own)]));
}

function normalise(body: KubeBody, all: readonly KubeBody[]): unknown {
  const {
    uid: _,
    resourceVersion: _version,
    creationTimestamp: _time,
    managedFields: _fields,
    ...metadata
  } = body.metadata ?? {};
  const text = JSON.stringify({
    ...body,
    metadata: { ...metadata, namespace: undefined },
    status: withoutEmptyConditions(body.status),
  });
  // Each uid becomes the object that it belongs to; one that belongs to nobody stays and makes a difference.
  const named = all.reduce(
    (result, { kind, metadata }) => result.replaceAll(metadata?.uid ?? "", `uid of ${kind}/${metadata?.name}`),
    text,
  );
  return JSON.parse(named);
}

/** What went wrong on the way is told by a condition, which is taken back; a list without any says as much as none. */
function withoutEmptyConditions(status: unknown): unknown {
  const { conditions, ...rest } = (status ?? {}) as { readonly conditions?: readonly unknown[] };
  return conditions?.length === 0 ? rest : status;
}

/**
 * Waits until the trial is in the state of a run without faults, and stays there. The state has the operator's record in
 * it, so that {@link expectQuietRestart} of that run speaks for all that end like it.
 */
export async function expectState(trial: Trial, reference: State): Promise<void> {
  await eventually(async () => expect(await stateOf(trial)).toEqual(reference));
  await trial.quiet();
  expect(await stateOf(trial)).toEqual(reference);
}

/** Starts a quiet operator again: it calls nobody and writes nothing. */
export async function expectQuietRestart(trial: Trial): Promise<void> {
  expect(await trial.stop()).toEqual([0, null]);
  const { length: writes } = trial.proxy.writes;
  const { length: notes } = trial.notes;
  trial.start();
  await trial.quiet();
  expect(trial.proxy.writes.slice(writes).map(({ label }) => label)).toEqual([]);
  expect(trial.notes.slice(notes)).toEqual([]);
  expect(await trial.stop()).toEqual([0, null]);
}

/** What the cluster knew when the operator was killed. */
export interface Crash {
  /** The process that was killed. */
  readonly pid: number;
  /** By name. */
  readonly objects: ReadonlyMap<string, KubeBody>;
}

/** What a run was put through. */
export interface CallOptions {
  readonly crash?: Crash;
  readonly failing?: boolean;
}

/** Looks at the cluster right after a kill. */
export async function crashOf({ client, proxy }: Trial, pid: number): Promise<Crash> {
  await eventually(() => expect(proxy.isDrained).toBe(true));
  const objects = new Map<string, KubeBody>();
  for await (const { body, name } of client.list(Thing)) objects.set(name, body);
  return { pid, objects };
}

/**
 * The calls of the scenario's handlers: no more than were promised, and none was forgotten. Handlers whose own requests
 * were broken may fail.
 */
export function expectCalls(notes: readonly Note[], { crash, failing = false }: CallOptions = {}): void {
  expect(overlapping(notes), "attempts at the same time for one object").toEqual([]);
  for (const [name, size] of Object.entries(OBJECTS)) {
    const own = notes.filter(({ object }) => object === name);
    if (!failing) expect(own.filter(({ phase }) => phase === "failed")).toEqual([]);
    if (size === undefined) expectOnce(own, name, "release", crash);
    if (name === "hasty") expect(calls(own, "build", "done")).toEqual([]);
    else expectOnce(own, name, "build", crash);
    expectLastEssence(own, size);
    // What is not repeated by a crash is not repeated at all.
    for (const handler of ["audit", "resize"]) {
      const seen = calls(own, handler, "done").map(({ reason, saw }) => `${reason} ${saw}`);
      const surplus = seen.length - new Set(seen).size;
      expect(surplus, `surplus calls of ${handler} for ${name}`).toBeLessThanOrEqual(crash ? 1 : 0);
    }
  }
  const stepwise = notes.filter(({ object }) => object === "stepwise");
  for (const step of STEPS) expectOnce(stepwise, "stepwise", `build/${step}`, crash);
  expect(calls(stepwise, "build/restore", "temporary")).toHaveLength(1);
  for (const [name, handler] of [
    ["flaky", "build"],
    ["doomed", "release"],
  ] as const) {
    const own = notes.filter(({ object }) => object === name);
    // A failed attempt is remembered: only one that nobody could write down is made again.
    const failed = calls(own, handler, "temporary").length;
    expect(failed).toBeGreaterThanOrEqual(1);
    expect(failed).toBeLessThanOrEqual(crash ? 2 : 1);
    for (const { retry } of calls(own, handler, "done")) expect(retry).toBeGreaterThanOrEqual(1);
  }
}

/**
 * Warnings and errors, but for those about Events: these are courtesies, and the seconds that they are given are moments
 * on the fast clock.
 */
export function alarmsIn(log: readonly LogRecord[]): LogRecord[] {
  return log.filter(({ level, message }) => (level === "warn" || level === "error") && !/\bEvents\b/.test(message));
}

/**
 * A handler that succeeded is not called again once its success is written: exactly one success in all lives, and one
 * more only if the crash came between the success and its being written.
 */
function expectOnce(own: readonly Note[], name: string, handler: string, crash: Crash | undefined): void {
  const done = calls(own, handler, "done");
  if (!crash) {
    expect(done, `${handler} of ${name}`).toHaveLength(1);
    return;
  }
  const before = done.filter(({ pid }) => pid === crash.pid).length;
  const after = done.length - before;
  const written = before > 0 && isWritten(crash.objects.get(name), handler);
  expect({ handler, name, before, after }).toEqual({
    handler,
    name,
    before: written ? 1 : before,
    after: written ? 0 : 1,
  });
  expect(before).toBeLessThanOrEqual(1);
}

/** Whether the object says that the handler has succeeded; a deleted object says so by being gone. */
function isWritten(body: KubeBody | undefined, handler: string): boolean {
  if (!body) return true;
  const status = body.status as { lotse?: { faults?: StoredRecord } } | undefined;
  const record = status?.lotse?.faults;
  const [id = "", step] = handler.split("/");
  const run = record?.runs?.[id];
  if (run?.outcome === "done" || (step && run?.steps?.[step]?.outcome === "done")) return true;
  return id === "build" && record?.handled !== undefined;
}

interface Run {
  readonly outcome?: string;
  readonly steps?: Readonly<Record<string, Run>>;
}

interface StoredRecord {
  readonly handled?: string;
  readonly runs?: Readonly<Record<string, Run>>;
}

/** The last essence that was handled is the object's. */
function expectLastEssence(own: readonly Note[], size: number | undefined): void {
  if (size === undefined) return;
  const final = JSON.stringify({ size });
  expect(calls(own, "audit", "done").at(-1)?.saw).toBe(final);
  const resized = calls(own, "resize", "done");
  // An object that had its final shape when its creation was handled has never been changed.
  if (resized.length > 0) expect(resized.at(-1)?.saw).toBe(final);
  else expect(calls(own, "build", "done").at(-1)?.saw).toBe(final);
}

function calls(notes: readonly Note[], handler: string, phase: Note["phase"]): Note[] {
  return notes.filter((note) => note.handler === handler && note.phase === phase);
}

/** Attempts that began while another one for the same object was running in the same process. */
function overlapping(notes: readonly Note[]): Note[] {
  const running = new Set<string>();
  return notes.filter(({ pid, uid, handler, phase }) => {
    if (handler.includes("/")) return false;
    const key = `${pid} ${uid}`;
    const overlaps = phase === "begin" && running.has(key);
    if (phase === "begin") running.add(key);
    else running.delete(key);
    return overlaps;
  });
}
