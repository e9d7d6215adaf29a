import { lookup } from "@lotse/client/meta";
import type { StoredObject } from "../store/index.ts";

/** One owner of an object. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The metadata that every stored object carries. */
export interface ApiMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
  selfLink?: string;
}

/** An object on its way through the registry. What comes out of the store must be cloned before it is changed. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ApiMeta;
  [field: string]: unknown;
}

/** The registry puts only whole objects into the store, so what comes out is one. */
export function fromStore(object: StoredObject): ApiObject {
  return object as unknown as ApiObject;
}

/** The metadata's version is set by the store itself when it commits. */
export function toStore(object: ApiObject): StoredObject {
  return object as unknown as StoredObject;
}

/** A nested object of a body, or an empty one that is not attached to it. */
export function objectAt(body: unknown, ...path: string[]): Record<string, unknown> {
  let node: unknown = body;
  for (const key of path) node = isRecord(node) ? lookup(node, key) : undefined;
  return isRecord(node) ? node : {};
}

/** The objects of a list at a path; empty where there is none, for bodies that are not checked yet. */
export function listAt(body: unknown, ...path: string[]): Record<string, unknown>[] {
  const last = path.at(-1) as string;
  const value = objectAt(body, ...path.slice(0, -1))[last];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The object at `key`, created when it is missing. */
export function ensureObject(body: Record<string, unknown>, key: string): Record<string, unknown> {
  const value = body[key];
  if (isRecord(value)) return value;
  const created: Record<string, unknown> = {};
  body[key] = created;
  return created;
}

/** Whether a value is an object, neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whole seconds in UTC: how the API writes points in time. */
export function timestamp(ms: number): string {
  return new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}
