/** Where the records of an operator lie: those of now, and those that it may have left elsewhere before. */
import { migrateStorage } from "./migrate-storage.ts";
import { annotationStorage, statusStorage } from "./own.ts";
import type { RecordStorage } from "./storage.ts";

/** What decides about it. */
export interface StorageChoice {
  readonly operator: string;
  /** Names that the operator had before. */
  readonly formerNames: readonly string[];
  /** What the user has chosen. */
  readonly storage: RecordStorage | undefined;
  /** Whether the status of the kind keeps a record. */
  readonly keepsRecord: boolean;
}

/**
 * The storage of a kind. A kind whose schema has changed finds its records in the other place, and an operator that was
 * renamed finds those under its former names: records and finalizers are taken over, and nothing is handled again.
 */
export function storageOf({ operator, formerNames, storage, keepsRecord }: StorageChoice): RecordStorage {
  const now = storage ?? inEitherPlace(operator, keepsRecord);
  return formerNames.reduce((to, name) => migrateStorage(inEitherPlace(name, keepsRecord), to), now);
}

function inEitherPlace(operator: string, keepsRecord: boolean): RecordStorage {
  const status = statusStorage(operator);
  const annotation = annotationStorage(operator);
  return keepsRecord ? migrateStorage(annotation, status) : migrateStorage(status, annotation);
}

/** Every place where an operator may have left something. */
export function allStorages(
  operator: string,
  formerNames: readonly string[],
  storage: RecordStorage | undefined,
): readonly RecordStorage[] {
  const own = [operator, ...formerNames].flatMap((name) => [statusStorage(name), annotationStorage(name)]);
  return storage ? [storage, ...own] : own;
}
