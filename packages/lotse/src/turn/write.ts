/**
 * One turn, one write. Composes what a turn wants to change into as few requests as Kubernetes allows, and sends them
 * so that neither a lost answer nor another client's write in between does harm.
 */
import {
  ApiError,
  type Client,
  ConflictError,
  type KindDescription,
  type KubeBody,
  NotFoundError,
  pathOf,
} from "@lotse/client";
import { applyMergePatch, createMergePatch, deepClone, deepEqual, isObject, type JsonObject } from "@lotse/client/meta";
import { FencedError } from "../declare/index.ts";
import { type ConditionChanges, conditionsOf, conditionsPatch } from "./conditions.ts";
import type { Contribution } from "./contribution.ts";
import { combinePatches, type Transform } from "./patch.ts";
import type { ObjectRecord } from "./record.ts";
import type { RecordStorage } from "./storage/index.ts";
import type { MadeFor } from "./superseded.ts";

/** What a turn wants to change. */
export interface WritePlan {
  /** Changes by handlers, as a merge patch. */
  readonly changes: JsonObject | undefined;
  /** Changes by handlers to the newest body, made anew each time that another client was faster. */
  readonly transforms?: readonly Transform[] | undefined;
  /** Changes of the conditions, made on the newest list, so that conditions of others stay. */
  readonly conditions?: { readonly changes: ConditionChanges; readonly now: Date } | undefined;
  /** The new record; undefined leaves the one that is there. */
  readonly record: ObjectRecord | undefined;
  readonly finalizer: "keep" | "add" | "drop";
  /** Whose changes these are, one by one; what the framework adds has no handler. */
  readonly by?: readonly Contribution[] | undefined;
  /** The state that they were made for, where another process may handle the object meanwhile. */
  readonly madeFor?: MadeFor | undefined;
}

/** Whether a plan says anything at all. */
export function wantsAnything({ changes, transforms, conditions, record, finalizer }: WritePlan): boolean {
  return (
    changes !== undefined ||
    record !== undefined ||
    finalizer !== "keep" ||
    conditions !== undefined ||
    (transforms !== undefined && transforms.length > 0)
  );
}

/** A write in words. */
export function whatIsWritten({ changes, transforms, conditions, record, finalizer }: WritePlan): string {
  const parts: string[] = [];
  if (changes) parts.push(...Object.keys(changes));
  if (transforms?.length) parts.push("transformations");
  if (conditions) parts.push("conditions");
  if (record) parts.push("record");
  if (finalizer !== "keep") parts.push(finalizer === "add" ? "finalizer on" : "finalizer off");
  return parts.join(", ");
}

/** What has to be known of a kind to write its objects. */
export interface WriteTarget {
  readonly description: KindDescription;
  readonly hasStatus: boolean;
  readonly storage: RecordStorage;
  /** Under this name the server remembers who wrote a field. */
  readonly fieldManager: string;
  /** Ids of the kind's changing handlers: some storages keep one record for each. */
  readonly handlers: readonly string[];
}

/** One PATCH. */
export interface PatchRequest {
  readonly subresource: "status" | undefined;
  readonly patch: JsonObject;
}

/**
 * The requests that turn `body` into what `plan` wants: none when it is so already, one in most cases, two where
 * metadata or spec change and the kind has its status apart.
 *
 * The request that carries the record comes last: if the process dies between the two, the handlers run again, and
 * nothing that they wanted is lost.
 */
export function requestsFor(body: KubeBody, plan: WritePlan, target: WriteTarget): PatchRequest[] {
  const desired = desiredBody(body, plan, target);
  const patch = createMergePatch(body, desired) as JsonObject | undefined;
  if (!patch) return [];
  if (patch.status === undefined || !target.hasStatus) return [{ subresource: undefined, patch }];
  const { status, ...rest } = patch;
  const requests: PatchRequest[] = [{ subresource: "status", patch: { status } }];
  if (Object.keys(rest).length > 0) {
    const main = { subresource: undefined, patch: rest };
    // Dropping the finalizer may end the object: nothing can follow it.
    if (target.storage.place === "status" && plan.finalizer !== "drop") requests.unshift(main);
    else requests.push(main);
  }
  return requests;
}

function desiredBody(body: KubeBody, plan: WritePlan, target: WriteTarget): KubeBody {
  let desired = (plan.changes ? applyMergePatch(body, plan.changes) : body) as KubeBody;
  if (plan.transforms?.length) {
    desired = deepClone(desired);
    for (const transform of plan.transforms) transform(desired);
  }
  if (plan.conditions) {
    const { changes, now } = plan.conditions;
    const observedGeneration = body.metadata?.generation;
    const moment = { now, ...(observedGeneration !== undefined && { observedGeneration }) };
    const patch = conditionsPatch(conditionsOf(desired), changes, moment);
    if (patch) desired = { ...desired, status: { ...(desired.status as object | undefined), ...patch } };
  }
  if (plan.record) desired = target.storage.write(desired, plan.record, target.handlers);
  if (plan.finalizer !== "keep") {
    const { finalizer, formerFinalizers = [] } = target.storage;
    const others = (body.metadata?.finalizers ?? []).filter(
      (name) => name !== finalizer && !formerFinalizers.includes(name),
    );
    const wanted = plan.finalizer === "add" ? [...others, target.storage.finalizer] : others;
    const { finalizers: _finalizers, ...metadata } = desired.metadata ?? {};
    // An empty list is not kept by the server: it would look like a difference for ever.
    desired = { ...desired, metadata: wanted.length > 0 ? { ...metadata, finalizers: wanted } : metadata };
  }
  return desired;
}

/** How a write ended. */
export type WriteResult =
  | {
      readonly type: "written";
      readonly body: KubeBody;
      /** What this operator has made of the object, apart from its status: another client may have changed it again before the rest was written. */
      readonly made: KubeBody;
      readonly requests: number;
      /** What the server took and did not keep: fields that its schema prunes. */
      readonly dropped: JsonObject | undefined;
      /** Another client may have changed the object before it was written. */
      readonly contested: boolean;
    }
  | { readonly type: "unchanged"; readonly contested: boolean }
  /** The object, or the one with this uid, is no more. */
  | { readonly type: "gone" }
  /** Beside other processes only: it is out of date for what the object is now, and was not written, or not all of it. */
  | { readonly type: "superseded" };

/** Nothing had to be written. */
export const UNCHANGED: WriteResult = { type: "unchanged", contested: false };

/** What keeps a write from doing harm where other processes may work on the same object. */
export interface WriteFence {
  /** Throws unless the write may leave now: asked right before each request does. */
  readonly pass: () => void;
  /**
   * Whether what shall be written is out of date. `own`: what an earlier request of this write has made of the object;
   * `contested`: another client may have written since.
   */
  readonly isSuperseded: (now: KubeBody, own: KubeBody | undefined, contested: boolean) => boolean;
}

const MERGE_PATCH = { "content-type": "application/merge-patch+json" };

/** Whether the server has kept all of a merge patch. */
function keeps(answer: unknown, patch: JsonObject): boolean {
  for (const key of Object.keys(patch)) {
    const wanted = patch[key];
    const kept = isObject(answer) && Object.hasOwn(answer, key) ? answer[key] : undefined;
    const isKept =
      wanted === null
        ? kept === undefined || kept === null
        : isObject(wanted)
          ? keeps(kept, wanted as JsonObject)
          : deepEqual(kept, wanted);
    if (!isKept) return false;
  }
  return true;
}

/** Nobody here asks who owns which field, which is a third of an answer. */
function withoutManagers(answer: KubeBody): KubeBody {
  if (answer.metadata?.managedFields === undefined) return answer;
  // Copied, because `delete` would make a dictionary of it.
  const { managedFields: _, ...metadata } = answer.metadata;
  answer.metadata = metadata;
  return answer;
}

/** What of a request the answer to it does not show. */
function missingIn(
  answer: KubeBody,
  plan: WritePlan,
  target: WriteTarget,
  { subresource }: PatchRequest,
): JsonObject | undefined {
  return requestsFor(answer, plan, target).find((one) => one.subresource === subresource)?.patch;
}

/** A client that writes to the object all the time must not keep this operator from it for ever. */
const TESTED_ROUNDS = 5;
const ROUNDS = 10;

/**
 * Sends what `plan` needs. Each PATCH carries the version that it was computed from: when the object has moved on, or
 * when an answer was lost and the write may or may not have landed, the object is read and the difference is computed
 * anew, so that a write is never guessed and never lands on another object of the same name. Behind a fence the new
 * difference is sent only where it is still worth it, and never without a version: a request may be under way for long,
 * and must not land on what another process has written meanwhile.
 */
export async function write(
  client: Client,
  newest: KubeBody,
  plan: WritePlan,
  target: WriteTarget,
  onWritten: (body: KubeBody) => void,
  fence?: WriteFence,
): Promise<WriteResult> {
  const { name, namespace, uid } = newest.metadata ?? {};
  if (!name || !uid) throw new TypeError("an object without a name or a uid cannot be written");
  const answered = new Set<PatchRequest["subresource"]>();
  let body = newest;
  let made: KubeBody | undefined;
  let dropped: JsonObject | undefined;
  let contested = false;
  if (fence?.isSuperseded(body, undefined, false)) return { type: "superseded" };
  for (let round = 1; ; round++) {
    const open = requestsFor(body, plan, target);
    const request = open.find(({ subresource }) => !answered.has(subresource));
    if (!request) {
      if (answered.size === 0) return { type: "unchanged", contested };
      return { type: "written", body, made: made ?? body, requests: answered.size, dropped, contested };
    }
    // Beside other processes only the last try goes without: the body was read a moment ago and is not superseded.
    const isTested = round <= (fence ? ROUNDS - 1 : TESTED_ROUNDS);
    const tested = isTested ? { uid, resourceVersion: body.metadata?.resourceVersion } : { uid };
    const patch = { ...request.patch, metadata: { ...(request.patch.metadata as JsonObject | undefined), ...tested } };
    try {
      const response = await client.raw({
        method: "PATCH",
        path: pathOf(target.description, { namespace, name, subresource: request.subresource }),
        query: { fieldManager: target.fieldManager },
        headers: MERGE_PATCH,
        body: patch,
        beforeSend: fence?.pass,
      });
      body = withoutManagers(await response.json<KubeBody>());
      answered.add(request.subresource);
      if (request.subresource === undefined) made = body;
      const kept = keeps(body, request.patch);
      // What is missing in the answer to the very request that carried it was taken and not kept.
      if (!kept) dropped = combinePatches(dropped, missingIn(body, plan, target, request));
      if (open.length === 1 && kept) {
        onWritten(body);
        return { type: "written", body, made: made ?? body, requests: answered.size, dropped, contested };
      }
    } catch (error) {
      if (saysGone(error, name)) return { type: "gone" };
      if (error instanceof FencedError || !isUncertain(error) || round >= ROUNDS) throw error;
      const fresh = await readObject(client, target.description, body);
      if (fresh?.metadata?.uid !== uid) return { type: "gone" };
      const own = answered.size > 0 ? body : undefined;
      body = fresh;
      contested = true;
      if (fence?.isSuperseded(fresh, own, true)) {
        onWritten(fresh);
        return { type: "superseded" };
      }
    }
    onWritten(body);
  }
}

/**
 * Whether the server says that this object is not there. A proxy in between, or an API server that does not serve the
 * kind at this moment, also answers 404, but names no object.
 */
function saysGone(error: unknown, name: string): boolean {
  return error instanceof NotFoundError && error.details?.name === name;
}

/** What a server says of an object that is too large: itself, its connection to etcd, etcd, or its own validation. */
const TOO_LARGE =
  /Request entity too large|message larger than max|request is too large|metadata\.annotations: Too long/;

/** Whether the server refuses an object for its size; waiting changes nothing about that. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 413 || TOO_LARGE.test(error.message));
}

/** Whether the object has to be read to know what happened: a conflict, or no answer at all. */
function isUncertain(error: unknown): boolean {
  if (error instanceof ConflictError || !(error instanceof ApiError)) return true;
  return error.status >= 500 && !isTooLarge(error);
}

/** The object as the API server has it now; undefined when no object has its name. */
export async function readObject(
  client: Client,
  kind: KindDescription,
  { metadata: { name = "", namespace } = {} }: KubeBody,
): Promise<KubeBody | undefined> {
  try {
    return (await client.get(kind, name, namespace === undefined ? {} : { namespace })).body as KubeBody;
  } catch (error) {
    if (saysGone(error, name)) return undefined;
    throw error;
  }
}
