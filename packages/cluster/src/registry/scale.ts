import { deepClone, formatLabelSelector } from "@lotse/client/meta";
import { badRequest, conflict, internal, invalid } from "./errors.ts";
import { invalidValue } from "./fields.ts";
import { type ApiObject, isRecord, objectAt } from "./object.ts";
import type { Endpoint, ScalePaths } from "./resource.ts";

/** The autoscaling/v1 view of anything that has replicas. */
export interface Scale {
  readonly kind: "Scale";
  readonly apiVersion: "autoscaling/v1";
  readonly metadata: Record<string, unknown>;
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly replicas: number; readonly selector?: string };
}

/** Shows the replicas of an object. A custom resource without any cannot be shown, but can be given some. */
export function toScale(endpoint: Endpoint, object: ApiObject, strict: boolean): Scale {
  const paths = endpoint.version.scale as ScalePaths;
  const replicas = valueAt(object, paths.spec);
  if (replicas === undefined && strict && endpoint.resource.custom) {
    throw internal(`the spec replicas field ".${paths.spec}" does not exist`);
  }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.selector === undefined ? undefined : selectorText(valueAt(object, paths.selector));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: Number(valueAt(object, paths.status) ?? 0),
      ...(selector ? { selector } : {}),
    },
  };
}

/** The object with the replicas that a Scale asks for. Its version counts when the Scale carries one. */
export function withScale(endpoint: Endpoint, current: ApiObject, scale: unknown): ApiObject {
  if (!isRecord(scale)) throw badRequest("a Scale must be an object");
  if (scale.kind !== undefined && scale.kind !== "Scale") {
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
  const wanted = objectAt(scale, "spec").replicas ?? 0;
  if (!Number.isInteger(wanted)) throw badRequest("spec.replicas must be a number, at least 0");
  if ((wanted as number) < 0) {
    const path = `.${(endpoint.version.scale as ScalePaths).spec}`;
    const error = invalidValue(path, wanted, "should be a non-negative integer");
    throw invalid(endpoint.resource, current.metadata.name, [error]);
  }
  const version = objectAt(scale, "metadata").resourceVersion;
  if (typeof version === "string" && version !== "" && version !== current.metadata.resourceVersion) {
    throw conflict(endpoint.resource, current.metadata.name);
  }
  const object = deepClone(current);
  setAt(object, (endpoint.version.scale as ScalePaths).spec, wanted);
  return object;
}

function valueAt(object: unknown, path: string): unknown {
  let node: unknown = object;
  for (const key of path.split(".")) node = isRecord(node) ? node[key] : undefined;
  return node;
}

function setAt(object: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() as string;
  let node = object;
  for (const key of keys) {
    const child = node[key];
    const next: Record<string, unknown> = isRecord(child) ? child : {};
    node[key] = next;
    node = next;
  }
  node[last] = value;
}

function selectorText(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) ? formatLabelSelector(value as Record<string, string>) : "";
}
