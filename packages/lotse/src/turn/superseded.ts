/**
 * Is what was done for an object still worth to be written? Alone, always: nobody else does this work. Beside others, only
 * while no other process has handled the object since, which its record tells; where the object carries none, only
 * while the object is still the one that the work was done for. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { deepEqual } from "@lotse/client/meta";
import type { Essence } from "./essence.ts";
import type { ObjectRecord } from "./record.ts";
import type { RecordStorage } from "./storage/index.ts";

/** The state of an object that work was done for. */
export interface MadeFor {
  /** Undefined for work that is not done for a state: what a daemon does goes on while its object changes. */
  readonly essence: Essence | undefined;
  /** What this process knew of what was handled: read from the object, or written to it by itself. */
  readonly record: ObjectRecord | undefined;
}

/** The object as it is now. */
export interface FoundState {
  readonly body: KubeBody;
  readonly essence: Essence;
  /** The server has refused a write or not answered it: another client may have written in between. */
  readonly contested: boolean;
}

/** See the module comment. `wanted`: the record that comes with the write; it may have landed without an answer. */
export function isSuperseded(
  made: MadeFor,
  wanted: ObjectRecord | undefined,
  { body, essence, contested }: FoundState,
  storage: RecordStorage,
  handlers: readonly string[],
): boolean {
  const reading = storage.read(body, handlers, essence);
  if (reading.type === "found") {
    const isOn = (record: ObjectRecord | undefined) =>
      record !== undefined &&
      // Some storages cannot express all of a record: then what counts is what it looks like there.
      (deepEqual(reading.record, record) || deepEqual(storage.write(body, record, handlers), body));
    return !isOn(made.record) && !isOn(wanted);
  }
  if (!contested || made.essence === undefined) return false;
  // A kind whose work is recorded, and nothing is: no process has handled the object yet.
  if (made.record === undefined && wanted !== undefined) return false;
  return !deepEqual(essence, made.essence);
}

/** What was done for an object is not written: another process has handled it meanwhile, or it is another one now. */
export class Superseded extends Error {
  override readonly name = "Superseded";
}
