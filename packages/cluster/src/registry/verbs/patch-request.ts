import {
  applyJsonPatch,
  applyMergePatch,
  deepClone,
  JsonPatchError,
  type JsonPatchOperation,
  lookup,
} from "@lotse/client/meta";
import {
  badRequest,
  bareInternal,
  notFound,
  patchNotApplicable,
  StatusError,
  unsupportedMediaType,
} from "../errors.ts";
import { type ApiObject, isRecord } from "../object.ts";
import { applyStrategicMergePatch, StrategicPatchError } from "../patch/index.ts";
import { storeKey } from "../resource.ts";
import { decodePatched, strictYaml } from "./body.ts";
import { create } from "./create.ts";
import { DEEPEST, nestsDeeperThan } from "./depth.ts";
import { type ApplyRequest, applyConfiguration } from "./managed-fields.ts";
import type { Backend, ParsedBody, Requester, Target, WriteOptions } from "./request.ts";
import { update, type Written } from "./update.ts";

/** Types of patches by their media type. */
export const PATCH_TYPES = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
} as const;

/** How a patch is to be read. */
export type PatchType = (typeof PATCH_TYPES)[keyof typeof PATCH_TYPES];

/** What a patch asks for besides its body. */
export interface PatchOptions extends WriteOptions {
  /** Take over fields that others manage; only for apply. */
  readonly force: boolean;
}

/** A longer patch is more likely a mistake, or an attempt to keep the server busy. */
const MOST_OPERATIONS = 10_000;

/** PATCH of an object or of its status. */
export async function patch(
  backend: Backend,
  requester: Requester,
  target: Target,
  type: PatchType,
  body: ParsedBody,
  options: PatchOptions,
): Promise<Written> {
  if (type === "strategic" && target.endpoint.resource.custom) throw unsupportedMediaType(customPatchTypes());
  if (type === "apply") return apply(backend, requester, target, body, options);
  const { resource } = target.endpoint;
  const name = target.name as string;
  // Whether a patch makes sense is only asked when there is something to patch.
  if (!backend.store.get(resource.table, storeKey(target.namespace, name))) throw notFound(resource, name);
  const patchOf = compilePatch(target, type, body.value);
  return update(backend, requester, target, options, {
    by: "patch",
    tracked: false,
    next: (current) => {
      const { endpoint } = target;
      const patched = patchOf(current);
      const { duplicateFields: twice, value } = body;
      const merge = type === "strategic" ? value : undefined;
      const object = decodePatched(endpoint, patched, twice, options.fieldValidation, requester, merge);
      // A default that the patch took away is there again before it is told who changed what.
      endpoint.version.codec.applyDefaults(object);
      return object;
    },
  });
}

/** Custom resources have no strategic merge: their schemas do not say how their lists are joined. */
export function customPatchTypes(): string[] {
  return Object.keys(PATCH_TYPES).filter((type) => type !== "application/strategic-merge-patch+json");
}

/** Checks the form of a patch once, so that it can be applied to every state that the object has meanwhile. */
export function compilePatch(
  target: Target,
  type: Exclude<PatchType, "apply">,
  value: unknown,
): (current: ApiObject) => Record<string, unknown> {
  if (type === "json") {
    const operations = readOperations(value);
    return (current) => expectObject(applyOperations(current, operations));
  }
  if (value === null) throw badRequest("Invalid JSON Patch");
  if (!isRecord(value)) {
    const found = Array.isArray(value) ? "array" : typeof value;
    const prefix = type === "merge" ? "error decoding patch: " : "";
    throw badRequest(`${prefix}json: cannot unmarshal ${found} into Go value of type map[string]interface {}`);
  }
  if (type === "merge") return (current) => expectObject(applyMergePatch(current, value));
  return (current) => {
    const view = target.endpoint.version.codec.schema;
    try {
      return expectObject(applyStrategicMergePatch(deepClone(current), value, view.schema, view.resolve));
    } catch (error) {
      if (error instanceof StrategicPatchError) throw strategicStatus(error);
      throw error;
    }
  };
}

function strategicStatus(error: StrategicPatchError): StatusError {
  switch (error.code) {
    case 400:
      return badRequest(`error decoding patch: ${error.message}`);
    case 422:
      return patchNotApplicable();
    case 500:
      return bareInternal(error.message);
  }
}

/** All that the copies of one patch may add: each could double the object. */
const COPIED_BYTES = 3 * 1_024 * 1_024;

function applyOperations(current: ApiObject, operations: readonly JsonPatchOperation[]): unknown {
  let left = COPIED_BYTES;
  try {
    return operations.reduce<unknown>((value, operation) => {
      const next = applyJsonPatch(value, [lenientOperation(value, operation)]);
      if (operation.op === "copy") {
        if (nestsDeeperThan(next, DEEPEST)) throw badRequest("exceeded max depth");
        left -= JSON.stringify(next).length - JSON.stringify(value).length;
        if (left < 0) throw patchNotApplicable();
      }
      return next;
    }, current);
  } catch (error) {
    if (error instanceof JsonPatchError) throw patchNotApplicable();
    throw error;
  }
}

/** A real server replaces a member of an object whether it is there or not. */
export function lenientOperation(value: unknown, operation: JsonPatchOperation): JsonPatchOperation {
  if (operation.op !== "replace" || typeof operation.path !== "string" || operation.path === "") return operation;
  const keys = operation.path.split("/").slice(1, -1);
  let parent = value;
  for (const key of keys) {
    if (typeof parent !== "object" || parent === null) return operation;
    parent = lookup(parent as Record<string, unknown>, key.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return isRecord(parent) ? { op: "add", path: operation.path, value: operation.value } : operation;
}

function readOperations(value: unknown): JsonPatchOperation[] {
  if (!Array.isArray(value)) {
    const found = isRecord(value) ? "object" : typeof value;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${found} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (value.length > MOST_OPERATIONS) {
    throw new StatusError({
      code: 413,
      reason: "RequestEntityTooLarge",
      message: `Request entity too large: The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${value.length}`,
    });
  }
  const wrong = value.find((operation) => !isRecord(operation));
  if (wrong !== undefined) {
    const found = Array.isArray(wrong) ? "array" : typeof wrong === "boolean" ? "bool" : typeof wrong;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${found} into Go value of type handlers.jsonPatchOp`,
    );
  }
  for (const operation of value as Record<string, unknown>[]) {
    for (const field of ["op", "path", "from"]) {
      const text = operation[field] ?? "";
      if (typeof text === "string") continue;
      const found = Array.isArray(text) ? "array" : typeof text === "boolean" ? "bool" : typeof text;
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${found} into Go struct field jsonPatchOp.${field} of type string`,
      );
    }
  }
  return value as unknown as JsonPatchOperation[];
}

function expectObject(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw patchNotApplicable();
  if (nestsDeeperThan(value, DEEPEST)) throw badRequest("exceeded max depth");
  return value;
}

/** Server-side apply: the only patch that creates what is not there. */
async function apply(
  backend: Backend,
  requester: Requester,
  target: Target,
  body: ParsedBody,
  options: PatchOptions,
): Promise<Written> {
  const complaints = body.complaints ?? [];
  if (complaints.length > 0 && options.fieldValidation === "Strict") {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strictYaml(complaints)}`);
  }
  if (options.fieldValidation === "Warn") for (const text of complaints) requester.warn(text);
  const request: ApplyRequest = {
    endpoint: target.endpoint,
    value: body.value,
    manager: options.fieldManager,
    force: options.force,
    subresource: target.subresource,
    now: backend.clock.now(),
    name: target.name as string,
  };
  const key = storeKey(target.namespace, target.name as string);
  const exists = backend.store.get(target.endpoint.resource.table, key) !== undefined;
  if (!exists && target.subresource === undefined) {
    const object = applyConfiguration(request, undefined);
    delete (object.metadata as Partial<ApiObject["metadata"]>).resourceVersion;
    return { object: await create(backend, requester, target, object, options, true), created: true };
  }
  return update(backend, requester, target, options, {
    by: "apply",
    tracked: true,
    next: (current) => applyConfiguration(request, current),
  });
}
