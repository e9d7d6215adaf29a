export type { StreamClient, StreamOptions, StreamSink, StreamState } from "./contract.ts";
export { Informer, type InformerEvents, type InformerOptions } from "./informer.ts";
export { ObjectStore, type StoreChange, type StoreKey, storeKey } from "./store.ts";
export { openStream } from "./stream.ts";
export { Watch, type WatchEvent } from "./watch.ts";
