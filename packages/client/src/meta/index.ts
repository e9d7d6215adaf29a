export { type Clock, sleep, systemClock } from "./clock.ts";
export { type Duration, durationMs, formatDuration } from "./duration.ts";
export { ConfigError, KubeError, type KubeErrorOptions } from "./errors.ts";
export { isObject, type Json, type JsonObject } from "./json.ts";
export { VirtualClock } from "./virtual-clock.ts";
