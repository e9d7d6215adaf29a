import {
  ApplyError,
  formatConflicts,
  type ManagedFieldsEntry,
  applyConfiguration as mergeConfiguration,
  trackUpdate as track,
} from "../apply/index.ts";
import type { SchemaView } from "../codec.ts";
import { badRequest, bareInternal, conflict, StatusError } from "../errors.ts";
import { type ApiObject, isRecord } from "../object.ts";
import { apiVersionOf, type Endpoint, gvkOf } from "../resource.ts";

/** Records which manager owns the fields that differ between `live` and `object`; changes `object`. */
export function trackUpdate(
  endpoint: Endpoint,
  live: ApiObject | undefined,
  object: ApiObject,
  manager: string,
  subresource: string | undefined,
  now: number,
): void {
  const { schema, resolve } = endpoint.version.codec.tracked;
  const managedFields = track({
    manager,
    apiVersion: apiVersionOf(endpoint.resource.group, endpoint.version.version),
    subresource,
    schema,
    resolve,
    now,
    ignore: ignoredFields(endpoint, subresource, live, object),
    old: live,
    zero: endpoint.version.codec.zero,
    next: object,
  });
  setManagedFields(object, subresource === "scale" ? untimed(managedFields) : managedFields);
}

/** The object without the times of its managers: a write that changes nothing else changes nothing. */
export function withoutTimes(object: ApiObject): ApiObject {
  const { managedFields } = object.metadata;
  if (!managedFields) return object;
  const entries = (managedFields as ManagedFieldsEntry[]).map(({ time: _, ...rest }) => rest);
  return { ...object, metadata: { ...object.metadata, managedFields: entries } };
}

/** Changes of the scale carry no time, so that scaling up and down does not churn the record. */
function untimed(managedFields: readonly ManagedFieldsEntry[]): object[] {
  const entries = managedFields.map((entry) => {
    if (entry.subresource !== "scale") return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
  return entries.sort((a, b) => Number("time" in a) - Number("time" in b));
}

/** A server-side apply to one object. */
export interface ApplyRequest {
  readonly endpoint: Endpoint;
  /** What the client sent. */
  readonly value: unknown;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource: string | undefined;
  readonly now: number;
  readonly name: string;
}

/** The object that an apply makes of `live`, with its ownership recorded; `live` itself when nothing changes. */
export function applyConfiguration(request: ApplyRequest, live: ApiObject | undefined): ApiObject {
  const applied = checkApplied(request, live);
  const { endpoint } = request;
  const view = endpoint.version.codec.tracked;
  const result = merge(request, applied, live, view);
  if ("conflicts" in result) {
    const { message, causes } = formatConflicts(result.conflicts);
    throw new StatusError({ code: 409, reason: "Conflict", message, details: { causes } });
  }
  if (!result.changed && live) return structuredClone(live);
  const { object } = endpoint.version.codec.decode(result.object);
  const { managedFields } = result;
  setManagedFields(object, request.subresource === "scale" ? untimed(managedFields) : managedFields);
  return object;
}

function merge(request: ApplyRequest, applied: Record<string, unknown>, live: ApiObject | undefined, view: SchemaView) {
  const { endpoint, manager, force, subresource, now } = request;
  try {
    return mergeConfiguration({
      manager,
      apiVersion: gvkOf(endpoint).apiVersion,
      subresource,
      schema: view.schema,
      resolve: view.resolve,
      now,
      ignore: ignoredFields(endpoint, subresource, live, applied),
      live,
      applied,
      force,
    });
  } catch (error) {
    if (error instanceof ApplyError) throw bareInternal(error.message);
    throw error;
  }
}

function checkApplied(request: ApplyRequest, live: ApiObject | undefined): Record<string, unknown> {
  const { endpoint, value, name } = request;
  const body = isRecord(value) ? value : {};
  const expected = gvkOf(endpoint);
  if (body.kind !== expected.kind || body.apiVersion !== expected.apiVersion) {
    const apiVersion = typeof body.apiVersion === "string" ? body.apiVersion : "";
    const qualified = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
    throw badRequest(`invalid object type: ${qualified}, Kind=${typeof body.kind === "string" ? body.kind : ""}`);
  }
  const metadata = isRecord(body.metadata) ? body.metadata : {};
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest("metadata.managedFields must be nil");
  }
  if (!live && typeof metadata.uid === "string" && metadata.uid !== "") {
    const text = `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`;
    throw conflict(endpoint.resource, name, text);
  }
  // An object that exists lends its name; for one that does not, nothing else than the configuration could.
  if (!live && !metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (!live && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  return { ...body, metadata };
}

function setManagedFields(object: ApiObject, managedFields: readonly unknown[]): void {
  if (managedFields.length > 0) object.metadata.managedFields = [...managedFields];
  else delete object.metadata.managedFields;
}

/** What this endpoint does not write, so that no manager gets to own it there. */
function ignoredFields(
  endpoint: Endpoint,
  subresource: string | undefined,
  ...objects: (Readonly<Record<string, unknown>> | undefined)[]
): string[][] {
  const { resource } = endpoint;
  const fixed = (resource.strategy.fixedFields ?? []).map((field) => [field]);
  if (subresource === undefined) return resource.strategy.hasStatus ? [["status"], ...fixed] : fixed;
  if (subresource !== "status") return [];
  const keys = new Set(objects.flatMap((object) => Object.keys(object ?? {})));
  keys.delete("status");
  // Built-in kinds let labels and the like through with the status; custom resources do not.
  if (!resource.custom) keys.delete("metadata");
  const ignored = [...keys].map((key) => [key]);
  return [...ignored, ...(resource.strategy.statusKeeps ?? []).map((key) => ["metadata", key])];
}
