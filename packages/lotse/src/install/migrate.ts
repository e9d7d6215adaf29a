/**
 * Rewrites the stored objects of a kind into its storage version. An object that is written is encoded anew, whatever is
 * written: hence each gets a patch that changes nothing, for which a server writes only where the encoding differs. That
 * makes it safe to stop and to begin again. At the end the old versions leave the definition's `status.storedVersions`.
 */
import {
  type Client,
  ConflictError,
  CustomResourceDefinition,
  type KindDescription,
  type KubeObject,
  NotFoundError,
} from "@lotse/client";
import { type Clock, errorMessage, KubeError, sleep } from "@lotse/client/meta";

/** What happens, as it happens. */
export type MigrationStep =
  /** So many objects are done; `remaining` is what the server knew when it answered. */
  | { readonly type: "progress"; readonly done: number; readonly remaining: number | undefined }
  /** An object that could not be written: the old versions stay in the list. */
  | { readonly type: "failed"; readonly namespace: string | undefined; readonly name: string; readonly message: string }
  /** These versions are out of the list of stored versions; with `dryRun` they would be. */
  | { readonly type: "dropped"; readonly versions: readonly string[] };

/** How to migrate. */
export interface MigrationRequest {
  readonly clock: Clock;
  /** Objects at a time. Default 10. */
  readonly concurrency?: number | undefined;
  /** The server tries each write, and keeps none. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The definition has changed while its objects were rewritten, or cannot be migrated at all. */
export class MigrationError extends KubeError {
  override readonly code: string = "LOTSE_MIGRATION";
}

/** What is stored of a definition, and in which versions it may be. */
export interface StoredVersions {
  readonly storage: string;
  /** Versions that objects may still be stored in, beside the storage version. */
  readonly old: readonly string[];
}

type Definition = CustomResourceDefinition["body"];

/** See {@link StoredVersions}. */
export function storedVersionsOf({ spec, status }: Definition): StoredVersions {
  const storage = spec?.versions.find(({ storage }) => storage)?.name ?? "";
  return { storage, old: (status?.storedVersions ?? []).filter((name) => name !== storage) };
}

/** The kind in the version that is read: the one that is stored, or one that is served. */
export function readableKind({ metadata, spec }: Definition): KindDescription {
  const served = spec?.versions.filter(({ served }) => served) ?? [];
  const version = served.find(({ storage }) => storage) ?? served[0];
  if (!spec || !version) {
    throw new MigrationError(`no version of ${metadata?.name} is served`, { hint: "serve the storage version" });
  }
  const { kind, plural, singular = kind.toLowerCase(), shortNames = [], categories = [] } = spec.names;
  return {
    group: spec.group,
    version: version.name,
    kind,
    plural,
    singular,
    namespaced: spec.scope !== "Cluster",
    shortNames,
    categories,
    verbs: ["get", "list", "patch"],
    subresources: [],
  };
}

const CONCURRENCY = 10;
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 100;

/**
 * Rewrites all objects of the definition `name`, and takes the old versions out of its list unless an object could not be
 * written. Throws a {@link MigrationError} when the definition changes meanwhile.
 *
 * @example
 * ```ts
 * for await (const step of migrateKind(client, "shops.example.com", { clock: systemClock })) console.log(step);
 * ```
 */
export async function* migrateKind(
  client: Client,
  name: string,
  request: MigrationRequest,
): AsyncGenerator<MigrationStep> {
  const { concurrency = CONCURRENCY, dryRun = false, signal } = request;
  const definition = await client.get(CustomResourceDefinition, name, { ...(signal && { signal }) });
  const { old } = storedVersionsOf(definition.body);
  if (old.length === 0) return;
  let [done, failed] = [0, 0];
  const list = client.list(readableKind(definition.body), { namespace: "*", ...(signal && { signal }) });
  for await (const { items, remaining } of list.pages()) {
    for (let i = 0; i < items.length; i += concurrency) {
      signal?.throwIfAborted();
      const some = items.slice(i, i + concurrency);
      const messages = await Promise.all(some.map((object) => rewrite(object, request)));
      for (const [j, message] of messages.entries()) {
        if (message === undefined) continue;
        failed++;
        const { namespace, name } = some[j] as KubeObject;
        yield { type: "failed", namespace, name, message };
      }
    }
    done += items.length;
    yield { type: "progress", done, remaining };
  }
  if (failed > 0) return;
  if (!dryRun) await drop(client, definition, signal);
  yield { type: "dropped", versions: old };
}

/** Undefined when it is done, or the object is gone; else why it could not be written. */
async function rewrite(
  object: KubeObject,
  { dryRun = false, signal, clock }: MigrationRequest,
): Promise<string | undefined> {
  // Another object of the same name is a new one, and stored as it should be.
  const patch = { metadata: { uid: object.uid } };
  for (let attempt = 1; ; attempt++) {
    try {
      await object.patch(patch, { ...(dryRun && { dryRun }), ...(signal && { signal }) });
      return undefined;
    } catch (error) {
      if (signal?.aborted) throw error;
      if (error instanceof NotFoundError) return undefined;
      if (!(error instanceof ConflictError)) return errorMessage(error);
      if (!(await isStillThere(object, signal))) return undefined;
      if (attempt === ATTEMPTS) return errorMessage(error);
      await sleep(clock, FIRST_PAUSE_MS * 2 ** attempt, signal);
    }
  }
}

async function isStillThere(object: KubeObject, signal: AbortSignal | undefined): Promise<boolean> {
  const { uid } = object;
  try {
    return (await object.refresh({ ...(signal && { signal }) })).uid === uid;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

/** Only of the definition whose objects were rewritten: another storage version would make the list untrue. */
async function drop(client: Client, before: CustomResourceDefinition, signal: AbortSignal | undefined): Promise<void> {
  const { storage } = storedVersionsOf(before.body);
  const options = { ...(signal && { signal }) };
  for (let attempt = 1; ; attempt++) {
    const now = await client.get(CustomResourceDefinition, before.name, options);
    const { generation, resourceVersion } = now.body.metadata ?? {};
    if (now.uid !== before.uid || generation !== before.body.metadata?.generation) {
      throw new MigrationError(`${before.name} was changed while its objects were rewritten`, {
        hint: "run it again",
      });
    }
    try {
      const patch = { metadata: { resourceVersion }, status: { storedVersions: [storage] } };
      await now.patch(patch as object, { ...options, subresource: "status" });
      return;
    } catch (error) {
      // Another client has written its status, most likely a condition.
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) throw error;
    }
  }
}
