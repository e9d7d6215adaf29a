export type {
  AdmissionDeclaration,
  AdmissionHandler,
  AdmissionNamespaces,
  MatchCondition,
  MutateOptions,
  NamespaceSelector,
  ValidateOptions,
  WebhookOptions,
} from "./admission.ts";
export type {
  AdmissionOperation,
  AdmissionRequest,
  MutateContext,
  PeerCertificate,
  RequestedKind,
  RequestedResource,
  UserInfo,
  ValidateContext,
} from "./admission-context.ts";
export { type Backoff, type BackoffPlan, backoffMs, planBackoff } from "./backoff.ts";
export type { Difference, Memo, Reason } from "./cause.ts";
export type { CheckedChildren, CheckedObject } from "./checked-children.ts";
export { child, externalChild } from "./child.ts";
export type {
  ChildObject,
  ChildOrder,
  ChildrenOptions,
  DesiredChild,
  DesiredChildren,
  ExternalChild,
  OrderedChild,
} from "./children.ts";
export type { ColumnsIn, FieldsIn, JsonPathIn, ScaleIn } from "./columns.ts";
export { commonLabels } from "./common-labels.ts";
export {
  Aborted,
  type ActivityContext,
  type Adoptable,
  type AdoptOptions,
  type AttemptContext,
  type ChangeContext,
  type Condition,
  type ConditionState,
  type Conditions,
  type DaemonContext,
  type EventContext,
  type FailureContext,
  type FieldContext,
  type LivePatch,
  type LoginContext,
  type ObjectContext,
  type Patch,
  type TimerContext,
} from "./context.ts";
export {
  type Coordination,
  type CoordinationPlan,
  LEASE_JITTER,
  type LeaderCoordination,
  type LeaseOptions,
  type LeaseTimes,
  leader,
  type PeeringCoordination,
  peering,
  planCoordination,
  type ShardedObject,
  type ShardKey,
  type ShardsCoordination,
  shards,
} from "./coordination.ts";
export { Cutter, isCut } from "./cut.ts";
export { Declarations, type ResourceDeclaration } from "./declarations.ts";
export type { Drift, DriftAnswer, DriftedField } from "./drift.ts";
export {
  type AdmissionCause,
  AdmissionError,
  type AdmissionErrorOptions,
  DeclarationError,
  FencedError,
  PermanentError,
  TemporaryError,
} from "./errors.ts";
export { type FieldPath, type FieldValue, fieldKeys, type PathIn } from "./field-path.ts";
export {
  absent,
  all,
  any,
  type ChangeFilters,
  type FilterCause,
  type FilterContext,
  type Filters,
  filterContext,
  type MapFilter,
  matchesChange,
  matchesFilters,
  none,
  not,
  present,
  type ValueFilter,
  valueAt,
  type WhenContext,
} from "./filters.ts";
export type {
  ActivityHandler,
  ChangeHandler,
  DaemonHandler,
  EventHandler,
  FailureHandler,
  Handler,
  IndexHandler,
  SchedulePlan,
  TimerHandler,
} from "./handler.ts";
export { leaseOf } from "./handler.ts";
export { type HandlerOrder, type OrderFunction, orderDue } from "./handler-order.ts";
export type { Indexes, IndexHandle, IndexTypes, IndexView } from "./indexes.ts";
export { covers, type Kept, type KeptBody, keptText, type PathsIn, planKeep, unionOf } from "./kept.ts";
export {
  isFollowedBy,
  isFollowedByAny,
  type KindPlan,
  needsDiscovery,
  type Plan,
  type PlanProblem,
  planKinds,
  reconciledKinds,
} from "./kind-plan.ts";
export type { BodyOf, ObjectOf } from "./kind-types.ts";
export { type NamespaceFilter, parseNamespaces } from "./namespaces.ts";
export type { Objective, ObjectiveInput } from "./objective.ts";
export type {
  ActivityOptions,
  DeclareActivity,
  DeclareChange,
  DeclareEvent,
  DeclareMutate,
  DeclareValidate,
  On,
} from "./on.ts";
export { checkName, type OperatorOptions, settingsFor } from "./operator-options.ts";
export type {
  ChangeOptions,
  DaemonOptions,
  FieldOptions,
  IndexOptions,
  InitialDelay,
  ObjectHandlerOptions,
  ResourceInput,
  ScheduleOptions,
  TimerOptions,
} from "./options.ts";
export {
  type PolicyDeclaration,
  type PolicyMutation,
  type PolicyOptions,
  type PolicyParams,
  type PolicyReason,
  type PolicyRule,
  paramKindOf,
} from "./policy.ts";
export { type KindReader, keptFor, readersOf } from "./readers.ts";
export { type DeepReadonly, deepFreeze } from "./readonly.ts";
export type {
  CachedGet,
  CachedList,
  CachedReads,
  ListQuery,
  ReadableKind,
  ReadOptions,
  TrackedGet,
  TrackedList,
  TrackedReads,
} from "./reads.ts";
export {
  type ChangeFilter,
  type ChildrenPlan,
  isRequeue,
  type Mapped,
  type RateLimit,
  type ReconcileContext,
  type ReconcileHandler,
  type ReconcileOptions,
  type Requeue,
  requeue,
  type Watches,
  type WatchOptions,
} from "./reconcile.ts";
export {
  domainOf,
  parseRegistered,
  REGISTERED_ANNOTATION,
  REGISTERED_GROUP,
  type RegisteredName,
  registeredArgument,
  registeredLabels,
  registeredLease,
  registeredText,
} from "./registered.ts";
export {
  type ClassOfKind,
  type ClassOfShortForm,
  type ClassOfVersion,
  isResourceClass,
  type KindDefinition,
  type ResourceClass,
  type ResourceDefinition,
  resource,
  type VersionedDefinition,
} from "./resource.ts";
export type { CommonStatus, NewBody, ResourceBody } from "./resource-body.ts";
export type { ErrorMode, RetryOptions, RetryPlan } from "./retry.ts";
export { planRetries, withUsualBackoff } from "./retry.ts";
export {
  describeSelector,
  type Everything,
  everything,
  type KindPredicate,
  parseSelector,
  type ResourceSelector,
  type Selection,
  type SelectorFields,
  type SelectorInput,
  type SelectorScope,
  selectKinds,
  selects,
} from "./selectors.ts";
export {
  describeSelection,
  type IdleSelector,
  idleSelectors,
  isSelected,
  type KindSelectors,
  planFieldSelectors,
  planLabelSelectors,
  type SelectorPlan,
  type ServerSelection,
  selectionOf,
} from "./server-selectors.ts";
export {
  type FixedSettings,
  planSettings,
  type Settings,
  type SettingsInput,
  type SettingsPlan,
  settingsOf,
} from "./settings.ts";
export { type CallerFrame, callerFrame, callerLocation } from "./source-location.ts";
export type {
  OperatorScheduleOptions,
  OutsideContext,
  ScheduleContext,
  ScheduledHandler,
  SourceFunction,
  SourceHandler,
  SourceOptions,
  WokenObject,
} from "./sources.ts";
export type { Step, StepFunction } from "./steps.ts";
export type {
  Essence,
  FailedRun,
  ObjectRecord,
  OpenCycle,
  RecordPlace,
  RecordReading,
  RecordStorage,
  RunRecord,
  StepRecord,
} from "./storage.ts";
export type {
  BodyOfVersion,
  CheckedVersions,
  Conversion,
  ConversionsOf,
  Converted,
  KindVersion,
  StorageOf,
  TypesOfVersions,
  VersionDefinition,
  VersionTypes,
} from "./versions.ts";
