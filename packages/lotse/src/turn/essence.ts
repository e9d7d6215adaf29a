/**
 * The essence: what somebody wants of an object. Only a change of it is a change; versions, generations, status,
 * finalizers, owners and everybody's bookkeeping are not.
 */
import { createHash } from "node:crypto";
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";

/** A body without everything that is not anybody's wish. */
export type Essence = Record<string, unknown>;

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Annotations of any Lotse operator: two of them on one object must not wake each other. */
const LOTSE_ANNOTATION = /(?:^|\.)lotse\.dev\//;

/** The essence of `body`. */
export function essenceOf(body: KubeBody): Essence {
  const { apiVersion: _apiVersion, kind: _kind, metadata, status: _status, ...rest } = body;
  const kept: Record<string, unknown> = {};
  const labels = nonEmpty(metadata?.labels ?? {});
  const annotations = nonEmpty(
    Object.fromEntries(
      Object.entries(metadata?.annotations ?? {}).filter(
        ([key]) => key !== LAST_APPLIED && !LOTSE_ANNOTATION.test(key),
      ),
    ),
  );
  if (labels) kept.labels = labels;
  if (annotations) kept.annotations = annotations;
  return nonEmpty(kept) ? { ...rest, metadata: kept } : rest;
}

/** A short stable hash of an essence; the order of keys does not matter. */
export function digestOf(essence: Essence): string {
  // 96 bits: two different essences of one object never meet in practice, and the record stays small.
  return createHash("sha256").update(canonical(essence)).digest("base64url").slice(0, 16);
}

/** JSON with sorted keys and without undefined. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) parts.push(`${JSON.stringify(key)}:${canonical(value[key])}`);
  }
  return `{${parts.join(",")}}`;
}

function nonEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
