/**
 * What a kind is capable of, which has to be known before its objects are handled: is it there, does it have its status
 * apart, and what does its schema keep? Looked up in the cluster, never guessed.
 */
import {
  type Client,
  CustomResourceDefinition,
  ForbiddenError,
  isOutOfReach,
  type KindClass,
  type KindDescription,
  NotFoundError,
  UnknownKindError,
} from "@lotse/client";
import { type Clock, errorMessage, isObject, kindKey, Nap } from "@lotse/client/meta";
import { isResourceClass } from "../declare/index.ts";
import { RECORD_FIELD } from "../schema/index.ts";

/** See the module comment. */
export interface KindCapabilities {
  readonly kind: KindDescription;
  /** The user's class, where the resource was declared by one. */
  readonly kindClass: KindClass | undefined;
  /** Whether the status is written apart. */
  readonly hasStatus: boolean;
  /** Whether the status keeps Lotse's record. */
  readonly keepsRecord: boolean;
  /** Whether the status keeps a field of this name. */
  readonly keepsField: (name: string) => boolean;
}

/** How long to wait before looking again for a kind: the first time, and at most; a server comes back by itself. */
const LOOK_AGAIN_MS = 1_000;
const MOST_MS = { kind: 5_000, server: 2_000 } as const;

/** How an operator waits for a kind. */
export interface KindWait {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told what is in the way, each time that it is something else. */
  readonly onMissing: (error: unknown) => void;
  /** Called when a wait begins, for the scanner, which may know earlier that the kind is there: `wake` has it looked up at once. */
  readonly onWait?: ((wake: () => void) => () => void) | undefined;
}

/** Looks a kind up, waiting for it as long as it takes. */
export async function awaitKind(
  client: Client,
  kind: KindDescription,
  kindClass: KindClass | undefined,
  { clock, signal, onMissing, onWait }: KindWait,
): Promise<KindCapabilities> {
  let told: string | undefined;
  for (let pauseMs = LOOK_AGAIN_MS; ; pauseMs *= 1.5) {
    try {
      return await resolveKind(client.with({ signal }), kind, kindClass);
    } catch (error) {
      if (signal.aborted) throw error;
      const text = errorMessage(error);
      if (text !== told) onMissing(error);
      told = text;
      const nap = new Nap(clock, signal);
      const forget = onWait?.(() => nap.end());
      pauseMs = Math.min(pauseMs, isOutOfReach(error) ? MOST_MS.server : MOST_MS.kind);
      nap.endIn(pauseMs);
      await nap.over;
      forget?.();
      signal.throwIfAborted();
    }
  }
}

/** Looks a kind up; throws {@link UnknownKindError} or {@link NotFoundError} when it is not there. */
export async function resolveKind(
  client: Client,
  kind: KindDescription,
  kindClass: KindClass | undefined,
): Promise<KindCapabilities> {
  const own = isResourceClass(kindClass);
  const declared: KindCapabilities = {
    kind,
    kindClass,
    hasStatus: kind.subresources.includes("status"),
    keepsRecord: own,
    keepsField: () => own,
  };
  // Groups of Kubernetes itself are no CRDs; their schemas keep nothing that is not declared.
  if (!kind.group.includes(".") || kind.group.endsWith(".k8s.io")) return { ...declared, keepsRecord: false };
  try {
    const crd = await client.get(CustomResourceDefinition, kindKey(kind));
    return fromCrd(declared, crd);
  } catch (error) {
    // Not allowed to look: what was declared has to do. A record that is not kept is noticed at the first write.
    if (error instanceof ForbiddenError) return declared;
    // An aggregated API has no CRD; a kind without a class has been found in discovery already.
    if (error instanceof NotFoundError && kindClass === undefined) return declared;
    throw error;
  }
}

function fromCrd(declared: KindCapabilities, crd: InstanceType<typeof CustomResourceDefinition>): KindCapabilities {
  const version = crd.body.spec?.versions.find(({ name }) => name === declared.kind.version);
  if (!version?.served) {
    throw new UnknownKindError(`${declared.kind.plural}.${declared.kind.version}.${declared.kind.group}`, []);
  }
  const keepsField = (name: string) => keepsInStatus(version.schema?.openAPIV3Schema, name);
  return {
    ...declared,
    hasStatus: version.subresources?.status !== undefined,
    keepsRecord: keepsField(RECORD_FIELD),
    keepsField,
  };
}

/** Whether a schema keeps `status.<name>`: unknown fields are kept or pruned by the innermost part that is described. */
export function keepsInStatus(schema: unknown, name: string): boolean {
  if (!isObject(schema)) return false;
  const status = isObject(schema.properties) ? schema.properties.status : undefined;
  if (!isObject(status)) return keepsUnknown(schema);
  return keepsUnknown(status) || (isObject(status.properties) && Object.hasOwn(status.properties, name));
}

function keepsUnknown(schema: Readonly<Record<string, unknown>>): boolean {
  const { additionalProperties: more } = schema;
  return schema["x-kubernetes-preserve-unknown-fields"] === true || more === true || isObject(more);
}
