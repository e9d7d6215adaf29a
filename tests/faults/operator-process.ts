/** What all operators of this suite have in common: where they connect, what they write down, how they end. */
import { existsSync } from "node:fs";
import { Client } from "@lotse/client";
import type { Operator } from "lotse";
import { Aborted, TemporaryError } from "lotse";
import { fastClock } from "./clock.ts";
import { type Outcome, readNotes, writeNote } from "./journal.ts";

/** What the test tells an operator's process; each is an environment variable. */
export interface ProcessSettings {
  readonly KUBECONFIG: string;
  readonly FAULTS_NAMESPACE: string;
  readonly FAULTS_JOURNAL: string;
  /** A file with this prefix and an object's name opens the gate that a handler of the object waits for. */
  readonly FAULTS_GATES: string;
  readonly FAULTS_EPOCH: string;
  readonly FAULTS_SPEED: string;
  readonly FAULTS_CRDS: "install" | "wait";
}

const settings = process.env as unknown as ProcessSettings;

interface Call {
  readonly name: string;
  readonly uid: string;
  readonly reason: string;
  readonly retry: number;
  readonly spec: unknown;
}

/** Runs `work` and notes when it begins and how it ends. */
export async function noted<T>(handler: string, call: Call, work: () => T | Promise<T>): Promise<T> {
  const note = (phase: "begin" | Outcome) =>
    writeNote(settings.FAULTS_JOURNAL, {
      pid: process.pid,
      object: call.name,
      uid: call.uid,
      handler,
      reason: call.reason,
      retry: call.retry,
      saw: JSON.stringify(call.spec),
      phase,
    });
  note("begin");
  try {
    const result = await work();
    note("done");
    return result;
  } catch (error) {
    note(error instanceof TemporaryError ? "temporary" : error instanceof Aborted ? "aborted" : "failed");
    throw error;
  }
}

/** How often `handler` has failed for the object, in this life and in earlier ones. */
export function failures(handler: string, uid: string): number {
  const notes = readNotes(settings.FAULTS_JOURNAL);
  return notes.filter((note) => note.handler === handler && note.uid === uid && note.phase === "temporary").length;
}

/** Resolves when the test opens the gate of `name`; rejects when `signal` aborts. */
export async function gate(name: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(settings.FAULTS_GATES + name)) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Runs the operator until SIGTERM. Its log goes to standard output, a JSON object a line. */
export async function runOperator(operator: Operator): Promise<void> {
  const clock = fastClock(Number(settings.FAULTS_EPOCH), Number(settings.FAULTS_SPEED));
  const print = (line: object) =>
    process.stdout.write(
      `${JSON.stringify(line, (_, value) => (typeof value === "bigint" ? `${value}n` : (value as unknown)))}\n`,
    );
  // Some minutes for people: a busy machine must not look like a server that does not answer.
  const client = await Client.connect({ clock, timeout: "5h" });
  const running = operator.start({
    client,
    clock,
    namespaces: [settings.FAULTS_NAMESPACE],
    crds: settings.FAULTS_CRDS,
    log: print,
  });
  process.once("SIGTERM", () => void running.stop());
  void running.ready.then(() => print({ message: "ready" }));
  await running.stopped;
  await client.close();
}
