/**
 * What a write of the object's own turn tells one of its reconcilers. All who work for an object share one write, made
 * from the state before it. A reconciler has seen its own part of it; what others have put there is news. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { applyMergePatch, createMergePatch, deepClone, deepEqual, isObject, type JsonObject } from "@lotse/client/meta";
import { valueAt } from "../declare/index.ts";
import { type Contribution, conditionsOf } from "../turn/index.ts";

/** What others have changed. */
export interface News {
  /** `status.rate`, `condition Ready`. */
  readonly fields: readonly string[];
  /** Ids of those who did it. */
  readonly by: readonly string[];
  /** Whether it was other reconcilers alone: those may in turn be woken by this one, and so for ever. */
  readonly peers: boolean;
  /** The written object without their part, and with the version before: what the reconciler has seen. */
  before(): KubeBody;
}

/**
 * What is new to the reconciler `reader`, which has seen `saw`, after `written` was made from `saw` by what `by` wants.
 * Undefined when it knows all of it: its own part, and what the framework keeps for itself.
 */
export function newsFor(
  reader: string,
  saw: KubeBody,
  written: KubeBody,
  by: readonly Contribution[],
): News | undefined {
  const others = by.filter(({ handler }) => !isOf(reader, handler));
  if (others.length === 0) return undefined;
  const own = by.filter(({ handler }) => isOf(reader, handler));
  const expected = changed(saw, own);
  const differs = (path: readonly string[]) => !deepEqual(valueAt(expected, path), valueAt(written, path));
  const paths = touched(expected, others).filter(differs);
  const types = spokenOf(others).filter(
    (type) => !spokenOf(own).includes(type) && !deepEqual(condition(saw, type), condition(written, type)),
  );
  if (paths.length + types.length === 0) return undefined;
  const found = others.filter((one) => tells(one, expected, paths, types));
  // Transformations that build on each other may change together what none of them changes alone.
  const tellers = found.length > 0 ? found : others;
  return {
    fields: [...paths.map((path) => path.join(".")), ...types.map((type) => `condition ${type}`)],
    by: [...new Set(tellers.map(({ handler }) => handler))],
    peers: tellers.every(({ type }) => type === "reconcile"),
    before: () => without(saw, expected, written, paths, types),
  };
}

/** Whether a reconciler has itself put something into a write. */
export function hasPart(reader: string, by: readonly Contribution[]): boolean {
  return by.some(({ handler }) => isOf(reader, handler));
}

/** The cleanup of a reconciler is the reconciler. */
function isOf(reader: string, handler: string): boolean {
  return handler === reader || handler === `${reader}/onDelete`;
}

/** The body as `parts` want it, their conditions aside. */
function changed(body: KubeBody, parts: readonly Contribution[]): KubeBody {
  let next = body;
  for (const { changes } of parts) if (changes) next = applyMergePatch(next, changes);
  const transforms = parts.flatMap((part) => part.transforms);
  if (transforms.length === 0) return next;
  const own = deepClone(next);
  for (const transform of transforms) transform(own);
  return own;
}

/** The fields that `parts` have something to say of. */
function touched(body: KubeBody, parts: readonly Contribution[]): (readonly string[])[] {
  const paths = parts.flatMap(({ changes }) => leavesOf(changes, body));
  if (parts.some(({ transforms }) => transforms.length > 0)) {
    paths.push(...leavesOf(createMergePatch(body, changed(body, parts)), body));
  }
  return [...new Map(paths.map((path) => [path.join("\0"), path])).values()];
}

/** The paths at which a merge patch of `value` says something. */
function leavesOf(patch: unknown, value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (patch === undefined) return [];
  if (!isObject(patch)) return [path];
  const keys = Object.keys(patch);
  // An empty object only says that there has to be one.
  if (keys.length === 0) return isObject(value) ? [] : [path];
  return keys.flatMap((key) => leavesOf(patch[key], valueAt(value, [key]), [...path, key]));
}

function spokenOf(parts: readonly Contribution[]): string[] {
  const types = parts.flatMap(({ conditions }) =>
    conditions ? [...conditions.set.map(({ type }) => type), ...conditions.remove] : [],
  );
  return [...new Set(types)];
}

function condition(body: KubeBody, type: string): unknown {
  return conditionsOf(body)?.find((one) => one.type === type);
}

function tells(
  part: Contribution,
  body: KubeBody,
  paths: readonly (readonly string[])[],
  types: readonly string[],
): boolean {
  if (spokenOf([part]).some((type) => types.includes(type))) return true;
  const names = new Set(paths.map((path) => path.join("\0")));
  return touched(body, [part]).some((path) => names.has(path.join("\0")));
}

function without(
  saw: KubeBody,
  expected: KubeBody,
  written: KubeBody,
  paths: readonly (readonly string[])[],
  types: readonly string[],
): KubeBody {
  let back: JsonObject = {};
  for (const path of paths) back = withLeaf(back, path, valueAt(expected, path) ?? null);
  const before = applyMergePatch<KubeBody>(written, back);
  // A filter by generation asks for the spec: it has moved by the others' part only if they touched it.
  const wanted = paths.some(([section]) => section !== "metadata" && section !== "status");
  const { generation } = (wanted ? saw : written).metadata ?? {};
  const { resourceVersion } = saw.metadata ?? {};
  const metadata = {
    ...before.metadata,
    ...(generation !== undefined && { generation }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  if (types.length === 0) return { ...before, metadata };
  const kept = (conditionsOf(before) ?? []).filter(({ type }) => !types.includes(type));
  const former = (conditionsOf(saw) ?? []).filter(({ type }) => types.includes(type));
  return {
    ...before,
    metadata,
    status: { ...(before.status as object | undefined), conditions: [...kept, ...former] },
  };
}

function withLeaf(patch: JsonObject, [key = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const inner = isObject(patch[key]) ? (patch[key] as JsonObject) : {};
  return { ...patch, [key]: (rest.length === 0 ? value : withLeaf(inner, rest, value)) as JsonObject };
}
