export type { StreamClient, StreamOptions, StreamSink, StreamState } from "./contract.ts";
export { ObjectStore, type StoreChange, type StoreKey, storeKey } from "./store.ts";
export { openStream } from "./stream.ts";
