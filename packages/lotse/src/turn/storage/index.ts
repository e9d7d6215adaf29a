export { type KopfOptions, kopf } from "./kopf.ts";
export { annotationStorage, statusStorage } from "./own.ts";
export { type RecordStorage, recall } from "./storage.ts";
