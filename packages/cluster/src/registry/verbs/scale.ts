import { deepClone, formatLabelSelector, lookup, setKey } from "@lotse/client/meta";
import { badRequest, conflict, internal, invalid, type StatusError } from "../errors.ts";
import { invalidValue } from "../fields.ts";
import { type ApiObject, isRecord, objectAt } from "../object.ts";
import type { Endpoint, ScalePaths } from "../resource.ts";
import type { FieldValidation, ParsedBody, Requester, Target } from "./request.ts";

/** The autoscaling/v1 view of anything that has replicas. */
export interface Scale {
  readonly kind: "Scale";
  readonly apiVersion: "autoscaling/v1";
  readonly metadata: Record<string, unknown>;
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly replicas: number; readonly selector?: string };
}

/** Whether the object says how many replicas it wants. */
export function hasReplicas(endpoint: Endpoint, object: ApiObject): boolean {
  return valueAt(object, (endpoint.version.scale as ScalePaths).spec) !== undefined;
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

/** What a Scale may say. */
const FIELDS: Readonly<Record<string, readonly string[] | undefined>> = {
  apiVersion: undefined,
  kind: undefined,
  metadata: undefined,
  spec: ["replicas"],
  status: ["replicas", "selector"],
};

function unknownFields(scale: Record<string, unknown>): string[] {
  return Object.entries(scale).flatMap(([key, value]) => {
    if (!Object.hasOwn(FIELDS, key)) return [key];
    const known = FIELDS[key];
    return known && isRecord(value)
      ? Object.keys(value)
          .filter((name) => !known.includes(name))
          .map((name) => `${key}.${name}`)
      : [];
  });
}

/** Reads a Scale, or what a patch made of one. */
export function decodeScale(
  target: Target,
  body: ParsedBody,
  validation: FieldValidation,
  requester: Pick<Requester, "warn">,
  patched = false,
): Record<string, unknown> {
  const scale = body.value;
  if (!isRecord(scale)) throw badRequest("a Scale must be an object");
  if (scale.kind !== undefined && scale.kind !== "Scale") {
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
  const fail = (detail: string): StatusError => {
    if (!patched) return badRequest(`Scale in version "v1" cannot be handled as a Scale: ${detail}`);
    return invalid({ group: "", kind: "" }, "", [invalidValue("patch", JSON.stringify(scale), detail)]);
  };
  const { replicas } = objectAt(scale, "spec");
  if (replicas !== undefined && replicas !== null && !Number.isInteger(replicas)) {
    const found =
      typeof replicas === "number" ? `number ${replicas}` : typeof replicas === "boolean" ? "bool" : typeof replicas;
    throw fail(`json: cannot unmarshal ${found} into Go struct field ScaleSpec.spec.replicas of type int32`);
  }
  const found = [
    ...(patched ? body.duplicateFields.map((field) => `duplicate field ${JSON.stringify(field)}`) : []),
    ...unknownFields(scale).map((field) => `unknown field ${JSON.stringify(field)}`),
  ];
  if (validation === "Strict" && found.length > 0) throw fail(`strict decoding error: ${found.join(", ")}`);
  if (validation === "Warn") for (const text of found) requester.warn(text);
  const { name } = objectAt(scale, "metadata");
  if (typeof name === "string" && name !== "" && name !== target.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
  }
  return scale;
}

/** The object with the replicas that a Scale asks for. Its version counts when the Scale carries one. */
export function withScale(endpoint: Endpoint, current: ApiObject, scale: Record<string, unknown>): ApiObject {
  const wanted = objectAt(scale, "spec").replicas ?? 0;
  const { name } = current.metadata;
  const paths = endpoint.version.scale as ScalePaths;
  if ((wanted as number) < 0) {
    throw endpoint.resource.custom
      ? invalid(endpoint.resource, name, [invalidValue(`.${paths.spec}`, wanted, "should be a non-negative integer")])
      : invalid({ group: "autoscaling", kind: "Scale" }, name, [
          invalidValue("spec.replicas", wanted, "must be greater than or equal to 0"),
        ]);
  }
  const version = objectAt(scale, "metadata").resourceVersion;
  if (typeof version === "string" && version !== "" && version !== current.metadata.resourceVersion) {
    throw conflict(endpoint.resource, name);
  }
  const object = deepClone(current);
  setAt(object, paths.spec, wanted);
  return object;
}

function valueAt(object: unknown, path: string): unknown {
  let node: unknown = object;
  for (const key of path.split(".")) node = isRecord(node) ? lookup(node, key) : undefined;
  return node;
}

function setAt(object: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() as string;
  let node = object;
  for (const key of keys) {
    const child = lookup(node, key);
    const next: Record<string, unknown> = isRecord(child) ? child : {};
    setKey(node, key, next);
    node = next;
  }
  setKey(node, last, value);
}

function selectorText(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) ? formatLabelSelector(value as Record<string, string>) : "";
}
