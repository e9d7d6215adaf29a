export type { Admission, AdmissionAttributes, Annotate } from "./admission-hooks.ts";
export { overlayConfiguration } from "./apply/index.ts";
export { builtinResources, lazyTables } from "./builtin/builtin.ts";
export { createClusterIpAllocator, type ServiceRange, serviceRange } from "./builtin/cluster-ip.ts";
export { admitPod } from "./builtin/defaults-pod.ts";
export { type Amounts, addAll, podAmounts, readAmounts } from "./builtin/pod-amounts.ts";
export { subresourceEndpoint } from "./builtin/subresource-endpoint.ts";
export type { BuiltinTables } from "./builtin/typed-shape.ts";
export { Catalog, type CatalogGroup, compareVersions, storageEndpoint } from "./catalog.ts";
export { CelSlot } from "./cel.ts";
export type { Converter } from "./codec.ts";
export { type Codec, DecodeError, type SchemaView } from "./codec.ts";
export { convertObject, webhookConverter } from "./custom/converter.ts";
export { asCrd, type Crd, type CrdCondition, conditionOf, isEstablished, withCondition } from "./custom/crd.ts";
export { decideNames } from "./custom/crd-names.ts";
export { CLEANUP_FINALIZER } from "./custom/crd-validation.ts";
export { customResource } from "./custom/custom-resource.ts";
export {
  badRequest,
  bareInternal,
  conflict,
  expired,
  forbidden,
  internal,
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
export {
  type AccessCheck,
  type AccessQuestion,
  authorizerValue,
  type Declarations,
  describeFailure,
  Expressions,
  fromCel,
  misplacedType,
  namespaceValue,
  ObjectValue,
  PatchValue,
  requestValue,
  toCel,
  variablesValue,
} from "./expressions/index.ts";
export { describeError, type FieldError, forbiddenField, invalidValue, notSupported, required } from "./fields.ts";
export { checkReviewKind, type HookClient, HookError, HookSetupError, type HookTarget } from "./hook-client.ts";
export { readSelector } from "./label-selectors.ts";
export {
  type ApiMeta,
  type ApiObject,
  ensureObject,
  fromStore,
  isRecord,
  listAt,
  type OwnerReference,
  objectAt,
  timestamp,
  toStore,
} from "./object.ts";
export { generateName } from "./object-meta.ts";
export { Pace, type PaceOptions, type Patience } from "./pace.ts";
export { Provisions } from "./provisions.ts";
export { type Amount, addAmounts, formatAmount, NOTHING, readAmount } from "./quantity-form.ts";
export {
  apiVersionOf,
  type Endpoint,
  gvkOf,
  type PrinterColumn,
  parseStoreKey,
  type Resource,
  type ResourceVersion,
  type Subresource,
  storeKey,
} from "./resource.ts";
export { type CelCompilation, type CelEngine, inlineSchema, type Schema } from "./schema/index.ts";
export {
  createMessageTable,
  type MessageField,
  type MessageFields,
  type MessageTable,
  type ScalarType,
} from "./tables/index.ts";
export { Troubles, type TroublesOptions } from "./troubles.ts";
export type { RequestUser } from "./user.ts";
export { admitPosted, type Posted } from "./verbs/admit.ts";
export { decodeBody, unreadableBody, unreadableYaml } from "./verbs/body.ts";
export { create, createFromBody, matchNamespace } from "./verbs/create.ts";
export { type Deleted, type DeleteOptions, deletedStatus, type Propagation, remove } from "./verbs/delete.ts";
export { DEEPEST } from "./verbs/depth.ts";
export { type Listing, type ListOptions, list } from "./verbs/list.ts";
export { trackUpdate } from "./verbs/managed-fields.ts";
export {
  compilePatch,
  customPatchTypes,
  lenientOperation,
  PATCH_TYPES,
  type PatchOptions,
  type PatchType,
  patch,
} from "./verbs/patch-request.ts";
export type { Backend, FieldValidation, ParsedBody, Requester, Target, WriteOptions } from "./verbs/request.ts";
export { decodeScale, hasReplicas, type Scale, toScale, withScale } from "./verbs/scale.ts";
export { parseSelection, type Selection, selects } from "./verbs/select.ts";
export { update, updateFromBody, type Written } from "./verbs/update.ts";
export {
  parseWatchStart,
  type WatchEvent,
  type Watching,
  type WatchOptions,
  type WatchSink,
  watch,
} from "./verbs/watch.ts";
