import type { KubeBody, ObjectMeta } from "../kinds/index.ts";
import { deepClone } from "../meta/index.ts";

const SERVER_FIELDS = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
] as const satisfies readonly (keyof ObjectMeta)[];

/** A copy with only what its author wrote. */
export function manifestOf(body: KubeBody): KubeBody {
  const { status: _, ...rest } = deepClone(body);
  const { labels, annotations, ...meta } = rest.metadata ?? {};
  for (const key of SERVER_FIELDS) delete meta[key];
  const metadata: ObjectMeta = { ...meta };
  if (labels && Object.keys(labels).length > 0) metadata.labels = labels;
  if (annotations && Object.keys(annotations).length > 0) metadata.annotations = annotations;
  return { ...rest, metadata };
}

/** The word that tells most: the deletion, the phase, or whether it is ready. */
export function stateOf(body: KubeBody): string | undefined {
  if (body.metadata?.deletionTimestamp) return "Terminating";
  const status = body.status as { phase?: unknown; conditions?: unknown } | undefined;
  if (typeof status?.phase === "string") return status.phase;
  if (!Array.isArray(status?.conditions)) return undefined;
  const ready = status.conditions.find((c: { type?: unknown }) => c?.type === "Ready" || c?.type === "Available");
  return ready ? `${ready.status === "True" ? "" : "not "}${String(ready.type).toLowerCase()}` : undefined;
}
