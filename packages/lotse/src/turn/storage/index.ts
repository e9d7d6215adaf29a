export { kopf } from "./kopf.ts";
export type { KopfOptions } from "./kopf-places.ts";
export { migrateStorage } from "./migrate-storage.ts";
export { annotationStorage, statusStorage } from "./own.ts";
export { allStorages, type StorageChoice, storageOf } from "./places.ts";
export { type RecordStorage, recall } from "./storage.ts";
