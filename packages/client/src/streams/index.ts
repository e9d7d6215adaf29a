export type { StreamClient, StreamOptions, StreamSink, StreamState } from "./contract.ts";
export { openStream } from "./stream.ts";
