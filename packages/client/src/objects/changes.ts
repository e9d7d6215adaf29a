/** Writes that depend on what is there: read, change, write, and again when another client was faster. */
import type { ObjectBody, ObjectMeta } from "../kinds/index.ts";
import { type Clock, createMergePatch, deepClone, deepEqual, sleep } from "../meta/index.ts";
import { AlreadyExistsError, ConflictError, NotFoundError, type RequestOptions } from "../transport/index.ts";
import type { CreateOptions, PatchOptions, ReplaceOptions, UpdateOptions } from "./options.ts";

/** Changes a body in place, or returns another one. Called again after a conflict, with the newer body. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that changes its argument returns nothing
export type Change<B> = (body: B) => void | B | Promise<void | B>;

/** What these writes need of an object. */
export interface Changeable<B extends ObjectBody> {
  body: B;
  readonly metadata: ObjectMeta;
  readonly uid: string | undefined;
  refresh(o?: RequestOptions): Promise<unknown>;
  create(o?: CreateOptions): Promise<unknown>;
  replace(o?: ReplaceOptions): Promise<unknown>;
  patch(patch: object, o?: PatchOptions): Promise<unknown>;
}

const CONFLICTS = 10;
/** The first pause; each is longer than the one before. */
const PAUSE_MS = 10;

async function changed<B extends ObjectBody>(body: B, change: Change<B>): Promise<B> {
  const draft = deepClone(body);
  return (await change(draft)) ?? draft;
}

/** Tries until there is no conflict; `again` runs before each further try. */
async function throughConflicts(
  clock: Clock,
  o: UpdateOptions,
  attempt: () => Promise<unknown>,
  again: (error: ConflictError | AlreadyExistsError) => Promise<unknown>,
): Promise<void> {
  const most = o.conflicts ?? CONFLICTS;
  for (let conflicts = 0; ; ) {
    try {
      await attempt();
      return;
    } catch (error) {
      const conflict = error instanceof ConflictError || error instanceof AlreadyExistsError;
      if (!conflict || conflicts++ >= most) throw error;
      await sleep(clock, PAUSE_MS * conflicts, o.signal);
      await again(error);
    }
  }
}

/** `object.update(fn)`: a whole replacement that carries the version it is based on. */
export async function updateObject<B extends ObjectBody>(
  clock: Clock,
  object: Changeable<B>,
  change: Change<B>,
  o: UpdateOptions,
): Promise<void> {
  // Without a version the server would take the write for one that may overwrite anything.
  if (object.metadata.resourceVersion === undefined) await object.refresh(o);
  const { uid } = object;
  await throughConflicts(
    clock,
    o,
    async () => {
      const before = object.body;
      const after = await changed(before, change);
      if (deepEqual(before, after)) return;
      object.body = after;
      try {
        await object.replace(o);
      } catch (error) {
        object.body = before;
        throw error;
      }
    },
    async (error) => {
      await object.refresh(o);
      // Another object of the same name: the change was meant for the one that is gone.
      if (object.uid !== uid) throw error;
    },
  );
}

/** `object.createOrPatch(fn)`: creates what the function makes of the object, or patches the difference. */
export async function createOrPatchObject<B extends ObjectBody>(
  clock: Clock,
  object: Changeable<B>,
  change: Change<B>,
  o: UpdateOptions,
): Promise<void> {
  const wanted = object.body;
  const attempt = async () => {
    try {
      await object.refresh(o);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      object.body = await changed(wanted, change);
      try {
        await object.create(o);
      } catch (reason) {
        object.body = wanted;
        throw reason;
      }
      return;
    }
    const before = object.body;
    const patch = createMergePatch(before, await changed(before, change)) as ObjectBody | undefined;
    if (patch === undefined || Object.keys(patch).length === 0) return;
    const { resourceVersion } = object.metadata;
    await object.patch({ ...patch, metadata: { ...patch.metadata, resourceVersion } }, o);
  };
  await throughConflicts(clock, o, attempt, async () => undefined);
}
