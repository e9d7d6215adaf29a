/**
 * A write of the shadow, made on the object as the shadow knows it. What the API server is asked is only the difference,
 * and what it makes of it counts. Pure.
 */
import type { KindDescription, KubeBody, RawRequest } from "@lotse/client";
import {
  applyJsonPatch,
  applyMergePatch,
  createMergePatch,
  isObject,
  type JsonObject,
  type JsonPatchOperation,
} from "@lotse/client/meta";
import { RECORD_FIELD } from "../schema/index.ts";
import { withoutBookkeeping } from "../turn/index.ts";
import { asStored } from "./secrets.ts";

/** The media type of each sort of PATCH. */
export const MEDIA_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** How a PATCH is to be read. */
export type PatchKind = keyof typeof MEDIA_TYPES;

/** By the request's own word; a merge patch where it says nothing. */
export function patchKindOf({ headers }: Pick<RawRequest, "headers">): PatchKind {
  const type = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const kinds = Object.entries(MEDIA_TYPES) as [PatchKind, string][];
  return kinds.find(([, media]) => String(type ?? "").startsWith(media))?.[0] ?? "merge";
}

/** The object as the request wants it. */
export function wishedBy(would: KubeBody, kind: PatchKind | "replace", body: unknown): KubeBody {
  if (kind === "replace") return asStored(body as KubeBody);
  if (kind === "json") return asStored(applyJsonPatch<KubeBody>(would, body as readonly JsonPatchOperation[]));
  return asStored(applyMergePatch<KubeBody>(would, body));
}

/** The server's own, whatever a request says of it. */
const SERVERS_OWN = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
] as const;

/** What of a wish the server would look at, as a merge patch; undefined when nothing changes. */
export function deltaOf(
  would: KubeBody,
  wished: KubeBody,
  subresource: string | undefined,
  { subresources }: Pick<KindDescription, "subresources">,
): JsonObject | undefined {
  const patch = createMergePatch(would, wished) as JsonObject | undefined;
  if (!patch) return undefined;
  const { apiVersion: _, kind: __, metadata, status, ...rest } = patch;
  if (subresource === "status") return status === undefined ? undefined : { status };
  const kept = isObject(metadata) ? without(metadata as JsonObject, SERVERS_OWN) : undefined;
  const statusToo = status !== undefined && !subresources.includes("status");
  return nonEmpty({ ...(kept && { metadata: kept }), ...rest, ...(statusToo && { status }) });
}

/** What of it the server is asked: what Lotse keeps on objects for itself is nobody else's business. */
export function askedOf(delta: JsonObject): JsonObject | undefined {
  const { metadata, status, ...rest } = delta;
  const kept = isObject(metadata) ? metadataOf(metadata as JsonObject) : undefined;
  const said = isObject(status) ? without(status as JsonObject, [RECORD_FIELD]) : (status ?? undefined);
  return nonEmpty({ ...(kept && { metadata: kept }), ...rest, ...(said !== undefined && { status: said }) });
}

function metadataOf({ finalizers: _, annotations, ...rest }: JsonObject): JsonObject | undefined {
  const kept = isObject(annotations) ? withoutBookkeeping(annotations as Record<string, string>) : {};
  return nonEmpty({ ...rest, ...(Object.keys(kept).length > 0 && { annotations: kept }) });
}

function without(object: JsonObject, keys: readonly string[]): JsonObject | undefined {
  return nonEmpty(Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key))) as JsonObject);
}

function nonEmpty(object: JsonObject): JsonObject | undefined {
  return Object.keys(object).length > 0 ? object : undefined;
}

/** The delta as the server has answered it: its values, and without what it did not keep. */
export function acceptedOf(delta: JsonObject, asked: JsonObject | undefined, answer: KubeBody | undefined): JsonObject {
  if (!asked || !answer) return delta;
  return take(delta, asked, answer) as JsonObject;
}

function take(delta: unknown, asked: unknown, answer: unknown): unknown {
  if (asked === undefined || delta === null) return delta;
  if (!isObject(delta)) return answer ?? null;
  const [wanted, given] = [isObject(asked) ? asked : {}, isObject(answer) ? answer : {}];
  return Object.fromEntries(Object.entries(delta).map(([key, value]) => [key, take(value, wanted[key], given[key])]));
}

/** What a strategic merge patch has changed, by the server's answer: lists as a whole. */
export function answeredOf(patch: unknown, answer: unknown): unknown {
  if (!isObject(patch)) return answer ?? null;
  const given = isObject(answer) ? answer : {};
  const names = Object.keys(patch).filter((key) => !key.startsWith("$"));
  return Object.fromEntries(names.map((key) => [key, answeredOf(patch[key], given[key])]));
}

/** The object after a change that was accepted; a generation counts changes of what is wanted. */
export function changed(would: KubeBody, accepted: JsonObject): KubeBody {
  const next = applyMergePatch<KubeBody>(would, accepted);
  const { generation } = would.metadata ?? {};
  const wanted = Object.keys(accepted).some((key) => key !== "metadata" && key !== "status");
  if (generation === undefined || !wanted) return next;
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } };
}
