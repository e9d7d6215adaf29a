import { deepEqual, isObject } from "@lotse/client/meta";
import { FieldSet, type FieldsV1 } from "./field-set.ts";

/** One entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldsV1;
  readonly subresource?: string;
}

/** Who an entry belongs to. An applier keeps its entry when it changes the version, an updater gets another one. */
export interface ManagerIdentity {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** What one manager owns. */
export interface ManagedSet {
  readonly identity: ManagerIdentity;
  readonly set: FieldSet;
  readonly time: string | undefined;
}

/** The managers of an object by their identity. */
export type Managers = Map<string, ManagedSet>;

/** The text that an entry is found by; managers are also listed in the order of these texts. */
export function identityKey(identity: ManagerIdentity): string {
  return JSON.stringify({
    manager: identity.manager,
    operation: identity.operation,
    ...(identity.operation === "Apply" ? {} : { apiVersion: identity.apiVersion }),
    ...(identity.subresource ? { subresource: identity.subresource } : {}),
  });
}

/** Reads entries; undefined when one of them is not valid, for then none can be trusted. */
export function decodeManagers(entries: unknown): Managers | undefined {
  const managers: Managers = new Map();
  if (entries === undefined || entries === null) return managers;
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    if (!isObject(entry)) return undefined;
    const { manager = "", operation, apiVersion, time, fieldsType, fieldsV1, subresource } = entry;
    if ((operation !== "Apply" && operation !== "Update") || fieldsType !== "FieldsV1") return undefined;
    if (typeof apiVersion !== "string" || apiVersion === "") return undefined;
    const identity: ManagerIdentity = {
      manager: String(manager),
      operation,
      apiVersion,
      ...(typeof subresource === "string" && subresource !== "" ? { subresource } : {}),
    };
    let set: FieldSet;
    try {
      set = FieldSet.decode(fieldsV1);
    } catch {
      return undefined;
    }
    managers.set(identityKey(identity), { identity, set, time: typeof time === "string" ? time : undefined });
  }
  return managers;
}

/** The entries as they are stored: appliers first, then by time and name. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] {
  const seconds = (time: string | undefined) => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...managers.values()]
    .sort(
      (a, b) =>
        text(a.identity.operation, b.identity.operation) ||
        seconds(a.time) - seconds(b.time) ||
        text(a.identity.manager, b.identity.manager) ||
        text(a.identity.apiVersion, b.identity.apiVersion) ||
        text(a.identity.subresource ?? "", b.identity.subresource ?? ""),
    )
    .map(({ identity, set, time }) => ({
      manager: identity.manager,
      operation: identity.operation,
      apiVersion: identity.apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: "FieldsV1",
      fieldsV1: set.encode(),
      ...(identity.subresource ? { subresource: identity.subresource } : {}),
    }));
}

/** Whether a client asks to forget all owners: an empty list, or a list of one empty entry. */
export function isReset(entries: unknown): boolean {
  return Array.isArray(entries) && (entries.length === 0 || (entries.length === 1 && deepEqual(entries[0], {})));
}

const MOST_UPDATERS = 10;

/** Joins the oldest updaters of each version into one, so that an object does not collect them for ever. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers.entries()]
    .filter(([, { identity }]) => identity.operation === "Update")
    .sort(([a, x], [b, y]) => {
      const difference = Date.parse(x.time ?? "1970-01-01") - Date.parse(y.time ?? "1970-01-01");
      return difference !== 0 ? difference : a < b ? -1 : 1;
    });
  let count = updaters.length;
  const first = new Map<string, string>();
  for (const [key, { identity, set, time }] of updaters) {
    if (count <= MOST_UPDATERS) return;
    const { apiVersion } = identity;
    const earlier = first.get(apiVersion);
    if (earlier === undefined) {
      first.set(apiVersion, key);
      continue;
    }
    const ancient: ManagerIdentity = { manager: "ancient-changes", operation: "Update", apiVersion };
    const bucket = identityKey(ancient);
    if (key === bucket) continue;
    const joined = managers.get(bucket) ?? managers.get(earlier);
    if (!managers.has(bucket)) managers.delete(earlier);
    managers.delete(key);
    managers.set(bucket, { identity: ancient, set: joined ? set.union(joined.set) : set, time });
    count--;
  }
}
