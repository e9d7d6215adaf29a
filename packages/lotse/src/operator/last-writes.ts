/** Writes that failed and wait for their next try, when the operator ends: one more try each, and a word about the rest. */
import { apiVersionOf, type KindDescription, type KubeBody } from "@lotse/client";
import { type IdentityKey, nameIn, namespaceIn, uidIn } from "@lotse/client/meta";
import type { Journal, Logger, ObjectReference } from "../report/index.ts";
import { errorFields, forgetPending, type KindWork, type ObjectMemory, turnFence, write } from "../turn/index.ts";
import type { Unwritten } from "./ending.ts";

/** An object by the key of its memory. */
export function referenceOf(kind: KindDescription, key: IdentityKey): ObjectReference {
  const { kind: name } = kind;
  return {
    apiVersion: apiVersionOf(kind),
    kind: name,
    namespace: namespaceIn(key),
    name: nameIn(key),
    uid: uidIn(key),
  };
}

/** Sends what waits for its next try, because there will be none. Never rejects: {@link unwrittenOf} tells what is left. */
export async function writePending(
  work: Pick<KindWork, "runtime" | "store" | "target" | "kind" | "essenceOf">,
  memory: ObjectMemory,
  newest: KubeBody | undefined,
  logger: Logger,
): Promise<void> {
  const { runtime, store, target } = work;
  const { pending } = memory.ownWrites;
  if (!pending || memory.life.state === "gone" || newest?.metadata?.uid !== memory.uid) return;
  try {
    // What is out of date by now need not be written.
    await write(runtime.client, newest, pending, target, store.wrote, turnFence(work, memory, newest, pending));
    forgetPending(memory);
  } catch (error) {
    logger.debug("what was done could not be written down", errorFields(error, false));
  }
}

/** What handlers have done and the server does not know. */
export function unwrittenOf(kind: KindDescription, memories: Iterable<ObjectMemory>, journal: Journal): Unwritten[] {
  return [...memories].flatMap((memory) => {
    if (!memory.ownWrites.pending || memory.life.state === "gone") return [];
    // A turn under way has its notes; one that has failed is in the journal.
    const ran = memory.journal.notes?.ran ?? journal.of(memory.key).findLast((turn) => turn.ran.length > 0)?.ran ?? [];
    const handlers = [...new Set(ran.map(({ handler }) => handler))];
    return [{ object: referenceOf(kind, memory.key), handlers }];
  });
}
