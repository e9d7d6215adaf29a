import { timestamp } from "../registry/index.ts";

/**
 * Who owns the fields of an object that is the same in every cluster. Finding it out by schema takes longer than all the
 * rest of its creation, and a cluster has to start at once.
 */
export function knownOwner(manager: string, now: number, fieldsV1: unknown): unknown[] {
  return [{ manager, operation: "Update", apiVersion: "v1", time: timestamp(now), fieldsType: "FieldsV1", fieldsV1 }];
}
