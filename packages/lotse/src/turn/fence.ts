/**
 * Whether what is done for an object may leave the process at this moment. Where several processes of an operator share
 * its objects, another one may have taken over while this one was stopped, cut off, or slow: whoever is not certain to be
 * the only one on the object sends nothing. Where this process is alone, nothing is asked.
 */
import type { KubeBody } from "@lotse/client";
import { Aborted, FencedError } from "../declare/index.ts";
import type { KindWork } from "./kind-work.ts";
import type { ObjectMemory } from "./memory.ts";
import { isSuperseded } from "./superseded.ts";
import type { WriteFence, WritePlan } from "./write.ts";

/** What is asked of the work for a kind. */
type Fenced = Pick<KindWork, "runtime" | "store" | "kind">;

/**
 * Throws a {@link FencedError} unless a write for the object may leave now; undefined where nothing has to be asked.
 * `memory`: what is remembered of the object; a memory that was left stays refused, also if the process has become the
 * object's owner again: between the two, another one may have worked on it.
 */
export function fenceOf(work: Fenced, memory: ObjectMemory | undefined, body: KubeBody): (() => void) | undefined {
  const { ownership } = work.runtime;
  if (ownership.alone) return undefined;
  return () => {
    if (memory?.left?.why === "ownership") throw new FencedError(memory.left.message);
    // What decides about the owner may have changed since the work began.
    ownership.pass((memory && work.store.newest(memory)) ?? body, work.kind);
  };
}

/** Why nothing may be done for the object at this moment; undefined when it may. */
export function refusal(work: Fenced, memory: ObjectMemory | undefined, body: KubeBody): Aborted | undefined {
  try {
    fenceOf(work, memory, body)?.();
    return undefined;
  } catch (error) {
    if (error instanceof FencedError) return new Aborted("ownership", error.message);
    throw error;
  }
}

/** What else has to be known to judge whether a write is out of date. */
type Judging = Fenced & Pick<KindWork, "target" | "essenceOf">;

/** The fence of what a turn writes; undefined where this process is alone. */
export function turnFence(
  work: Judging,
  memory: ObjectMemory,
  body: KubeBody,
  { madeFor, record }: WritePlan,
): WriteFence | undefined {
  const pass = fenceOf(work, memory, body);
  if (!pass) return undefined;
  const { storage, handlers } = work.target;
  return {
    pass,
    isSuperseded(now, own, contested) {
      if (!madeFor) return false;
      const made = own && madeFor.essence ? { ...madeFor, essence: work.essenceOf(own) } : madeFor;
      return isSuperseded(made, record, { body: now, essence: work.essenceOf(now), contested }, storage, handlers);
    },
  };
}

/** The fence of what a daemon writes, beside the turns of its object: their records are known, whatever it began with. */
export function daemonFence(work: Judging, memory: ObjectMemory, body: KubeBody): WriteFence | undefined {
  const pass = fenceOf(work, memory, body);
  if (!pass) return undefined;
  const { storage, handlers } = work.target;
  return {
    pass,
    isSuperseded(now, _own, contested) {
      const made = { essence: undefined, record: memory.record };
      const found = { body: now, essence: work.essenceOf(now), contested };
      return isSuperseded(made, memory.ownWrites.pending?.record, found, storage, handlers);
    },
  };
}

/** How deep a refusal is looked for below errors that were made of it. */
const DEPTH = 5;

/** The refusal of a write in or below an error; undefined when there is none. */
export function refusalIn(error: unknown): FencedError | undefined {
  let one = error;
  for (let depth = 0; depth < DEPTH && one instanceof Error; depth++) {
    if (one instanceof FencedError) return one;
    one = one.cause;
  }
  return undefined;
}
