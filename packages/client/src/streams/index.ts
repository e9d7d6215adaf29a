export type { StreamClient, StreamOptions, StreamSink, StreamState } from "./contract.ts";
export { Informer, type InformerEvents, type InformerOptions } from "./informer.ts";
export { Reflector, type ReflectorChange, type ReflectorListener } from "./reflector.ts";
export { ObjectStore, type StoreChange } from "./store.ts";
export { openStream } from "./stream.ts";
export { Watch, type WatchEvent } from "./watch.ts";
