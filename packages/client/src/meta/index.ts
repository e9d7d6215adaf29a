export { type Clock, sleep, systemClock } from "./clock.ts";
export { type Diff, type DiffItem, diff } from "./diff.ts";
export { type Duration, durationMs, formatDuration, parseDuration } from "./duration.ts";
export { deepClone, deepEqual, setKey } from "./equality.ts";
export { errorMessage } from "./error-message.ts";
export { ConfigError, KubeError, type KubeErrorOptions } from "./errors.ts";
export {
  type FieldRequirement,
  type FieldSelector,
  type FieldSelectorInput,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
} from "./field-selectors.ts";
export { harmless, harmlessJson, harmlessLines } from "./harmless.ts";
export { fnv1a64, type Hash64, spread32 } from "./hash.ts";
export { type DeepReadonly, isObject, type Json, type JsonObject } from "./json.ts";
export {
  applyJsonPatch,
  createJsonPatch,
  formatJsonPointer,
  JsonPatchError,
  type JsonPatchOperation,
  parseJsonPointer,
} from "./json-patch.ts";
export { compileJsonPath, type JsonPath, JsonPathError } from "./jsonpath.ts";
export {
  type IdentityKey,
  identityKey,
  identityKeyOf,
  type KeyedBody,
  type KindKey,
  kindKey,
  nameIn,
  namespaceIn,
  type ObjectKey,
  objectKey,
  objectKeyIn,
  objectKeyOf,
  uidIn,
  type VersionedKindKey,
  versionedKindKey,
} from "./keys.ts";
export {
  byteLength,
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "./labels.ts";
export { lookup } from "./lookup.ts";
export { applyMergePatch, createMergePatch } from "./merge-patch.ts";
export { Nap } from "./nap.ts";
export { compareQuantities, parseQuantity, type Quantity, QuantityError } from "./quantity.ts";
export { isTimeZone, parseSchedule, type Schedule, ScheduleError } from "./schedule.ts";
export {
  formatLabelSelector,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorInput,
  matchesLabels,
  parseLabelSelector,
  SelectorError,
} from "./selectors.ts";
export {
  formatShardSelector,
  SHARD_HASH_END,
  type ShardRange,
  type ShardSelector,
  shardMatcher,
  shardOf,
} from "./shard-selector.ts";
export { untilAborted } from "./until-aborted.ts";
export { isComparableVersion, isOlderVersion } from "./versions.ts";
export { VirtualClock } from "./virtual-clock.ts";
export { foreignOrigin, isForeignHost, type WebHeaders } from "./web-guard.ts";
export { Commented, toYaml, toYamlStream } from "./yaml-write.ts";
