import type { Json, Step } from "../script.ts";
import { withoutProse } from "../views.ts";

/** Everything of a step that its verb does not say. */
export type Rest = Omit<Step, "name" | "method" | "path" | "body">;

const verb =
  (method: string) =>
  (name: string, path: string, body?: Json, rest: Rest = {}): Step => ({
    name,
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...rest,
  });

export const post = verb("POST");
export const put = verb("PUT");
export const remove = verb("DELETE");

export function get(name: string, path: string, query: Step["query"] = {}, rest: Rest = {}): Step {
  return { name, path, query, ...rest };
}

const patches = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export function patch(type: keyof typeof patches, name: string, path: string, body: Json, rest: Rest = {}): Step {
  return { name, method: "PATCH", path, body, contentType: patches[type], ...rest };
}

/** Server-side apply as a manager. */
export function apply(manager: string, name: string, path: string, body: Json, rest: Rest = {}): Step {
  return patch("apply", name, path, body, { ...rest, query: { fieldManager: manager, ...rest.query } });
}

export const tables = "application/json;as=Table;g=meta.k8s.io;v=v1";
export const partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
export const partialList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** Reads an object or a list of a built-in kind as kubectl prints it. */
export function table(name: string, path: string, query: Step["query"] = {}, rest: Rest = {}): Step {
  return get(name, path, query, { accept: tables, view: withoutProse, ...rest });
}

/** A ConfigMap; `more` goes beside its metadata, `meta` into it. */
export function configMap(name: string, more: { [key: string]: Json } = {}, meta: { [key: string]: Json } = {}): Json {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...meta }, ...more };
}
