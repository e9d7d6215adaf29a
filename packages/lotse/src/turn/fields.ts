/** Small changes to bodies that never touch their input and return it when there is nothing to change. */
import type { KubeBody } from "@lotse/client";
import { isObject, setKey } from "@lotse/client/meta";

/** `value` without the member at `path`, and without parents that became empty by that. */
export function withoutField(
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
): Record<string, unknown> {
  const [key, ...rest] = path;
  if (key === undefined || !Object.hasOwn(value, key)) return value;
  if (rest.length === 0) return omit(value, [key]);
  const child = value[key];
  const next = isObject(child) ? withoutField(child, rest) : child;
  if (next === child) return value;
  return Object.keys(next as object).length === 0 ? omit(value, [key]) : { ...value, [key]: next };
}

/** `body` without the member at `path` of its status; the status itself stays, even if it is empty now. */
export function withoutStatus(body: KubeBody, path: readonly string[]): KubeBody {
  if (!isObject(body.status)) return body;
  const status = withoutField(body.status, path);
  return status === body.status ? body : { ...body, status };
}

/** `body` with `value` at `path` of its status. */
export function withStatus(body: KubeBody, path: readonly string[], value: unknown): KubeBody {
  return { ...body, status: withField(body.status, path, value) };
}

function withField(parent: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const members = isObject(parent) ? parent : {};
  return { ...members, [key]: withField(members[key], rest, value) };
}

/** `value` without `keys`; `value` itself when it has none of them. */
export function omit<T>(value: Readonly<Record<string, T>>, keys: Iterable<string>): Record<string, T> {
  const gone = new Set(keys);
  const all = Object.keys(value);
  const kept = all.filter((key) => !gone.has(key));
  if (kept.length === all.length) return value;
  const result: Record<string, T> = {};
  for (const key of kept) setKey(result, key, value[key]);
  return result;
}

/** `body` with these annotations; undefined removes one. */
export function withAnnotations(body: KubeBody, changes: Readonly<Record<string, string | undefined>>): KubeBody {
  const before = body.metadata?.annotations ?? {};
  const entries = Object.entries(changes);
  if (entries.every(([key, value]) => before[key] === value)) return body;
  const removed = entries.filter(([, value]) => value === undefined).map(([key]) => key);
  const annotations = { ...omit(before, removed) };
  for (const [key, value] of entries) if (value !== undefined) annotations[key] = value;
  const { annotations: _before, ...metadata } = body.metadata ?? {};
  return { ...body, metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata };
}

/** The paths of everything in `value` that has no members of its own: `spec.size`. Lists count as one. */
export function leafPaths(value: unknown, path = ""): string[] {
  if (!isObject(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, child]) => leafPaths(child, path ? `${path}.${key}` : key));
}
