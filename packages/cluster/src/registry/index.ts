export type { Admission, AdmissionAttributes, Annotate, RequestUser } from "./admission-hooks.ts";
export { admitPosted, type Posted } from "./admit.ts";
export { overlayConfiguration } from "./apply/index.ts";
export { decodeBody, unreadableBody, unreadableYaml } from "./body.ts";
export { builtinResources, lazyTables } from "./builtin.ts";
export { Catalog, type CatalogGroup, compareVersions, storageEndpoint } from "./catalog.ts";
export { CelSlot } from "./cel.ts";
export { createClusterIpAllocator, type ServiceRange, serviceRange } from "./cluster-ip.ts";
export { type Codec, DecodeError, type SchemaView } from "./codec.ts";
export { type Converter, convertObject, webhookConverter } from "./conversion.ts";
export { asCrd, type Crd, type CrdCondition, conditionOf, isEstablished, withCondition } from "./crd.ts";
export { decideNames } from "./crd-names.ts";
export { CLEANUP_FINALIZER } from "./crd-validation.ts";
export { create, createFromBody, matchNamespace } from "./create.ts";
export { customResource } from "./custom-resource.ts";
export { admitPod } from "./defaults-pod.ts";
export { type Deleted, type DeleteOptions, deletedStatus, type Propagation, remove } from "./delete.ts";
export { DEEPEST } from "./depth.ts";
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
export { type Listing, type ListOptions, list } from "./list.ts";
export { trackUpdate } from "./managed-fields.ts";
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
export {
  compilePatch,
  customPatchTypes,
  lenientOperation,
  PATCH_TYPES,
  type PatchOptions,
  type PatchType,
  patch,
} from "./patch-request.ts";
export { type Amounts, addAll, podAmounts, readAmounts } from "./pod-amounts.ts";
export { Provisions } from "./provisions.ts";
export { type Amount, addAmounts, formatAmount, NOTHING, readAmount } from "./quantity-form.ts";
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
export { decodeScale, hasReplicas, type Scale, toScale, withScale } from "./scale.ts";
export { type CelCompilation, type CelEngine, inlineSchema, type Schema } from "./schema/index.ts";
export { parseSelection, type Selection, selects } from "./select.ts";
export { subresourceEndpoint } from "./subresource-endpoint.ts";
export {
  createMessageTable,
  type MessageField,
  type MessageFields,
  type MessageTable,
  type ScalarType,
} from "./tables/index.ts";
export { Troubles, type TroublesOptions } from "./troubles.ts";
export type { BuiltinTables } from "./typed-shape.ts";
export { update, updateFromBody, type Written } from "./update.ts";
export { parseWatchStart, type WatchEvent, type Watching, type WatchOptions, type WatchSink, watch } from "./watch.ts";
