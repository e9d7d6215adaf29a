export type { Admission, AdmissionAttributes, RequestUser } from "./admission-hooks.ts";
export { unreadableBody } from "./body.ts";
export { builtinResources, lazyTables } from "./builtin.ts";
export { Catalog, type CatalogGroup, compareVersions, storageEndpoint } from "./catalog.ts";
export { CelSlot } from "./cel.ts";
export { API_SERVER_IP, createClusterIpAllocator } from "./cluster-ip.ts";
export type { Codec, SchemaView } from "./codec.ts";
export { asCrd, type Crd, type CrdCondition, conditionOf, isEstablished, withCondition } from "./crd.ts";
export { decideNames } from "./crd-names.ts";
export { CLEANUP_FINALIZER } from "./crd-validation.ts";
export { create, createFromBody } from "./create.ts";
export { customResource } from "./custom-resource.ts";
export { type Deleted, type DeleteOptions, deletedStatus, type Propagation, remove } from "./delete.ts";
export {
  badRequest,
  conflict,
  expired,
  forbidden,
  invalid,
  methodNotAllowed,
  notFound,
  type Status,
  StatusError,
  tooLarge,
  tooLargeResourceVersion,
  unauthorized,
  unknownResource,
  unsupportedMediaType,
  unsupportedPatchType,
  verbNotSupported,
} from "./errors.ts";
export { type FieldError, forbiddenField, invalidValue, notSupported, required } from "./fields.ts";
export { type Listing, type ListOptions, list } from "./list.ts";
export { trackUpdate } from "./managed-fields.ts";
export {
  type ApiMeta,
  type ApiObject,
  fromStore,
  isRecord,
  listAt,
  type OwnerReference,
  objectAt,
  timestamp,
  toStore,
} from "./object.ts";
export {
  compilePatch,
  customPatchTypes,
  PATCH_TYPES,
  type PatchOptions,
  type PatchType,
  patch,
} from "./patch-request.ts";
export type { Backend, FieldValidation, ParsedBody, Scope, Target, WriteOptions } from "./request.ts";
export {
  apiVersionOf,
  type Endpoint,
  gvkOf,
  type PrinterColumn,
  type Resource,
  type ResourceVersion,
  type Subresource,
  storeKey,
} from "./resource.ts";
export { toScale, withScale } from "./scale.ts";
export { parseSelection, type Selection, selects } from "./select.ts";
export {
  createMessageTable,
  type MessageField,
  type MessageFields,
  type MessageTable,
  type ScalarType,
} from "./tables/index.ts";
export type { BuiltinTables } from "./typed-shape.ts";
export { update, updateFromBody, type Written } from "./update.ts";
export { parseWatchStart, type WatchEvent, type Watching, type WatchOptions, type WatchSink, watch } from "./watch.ts";
