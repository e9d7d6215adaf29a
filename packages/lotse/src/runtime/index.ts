export type { HandlerWrite, KindStore, StoredObject } from "./kind-store.ts";
export { ALONE, type Ownership } from "./ownership.ts";
export { runIds } from "./run-ids.ts";
export type { Runtime } from "./runtime.ts";
