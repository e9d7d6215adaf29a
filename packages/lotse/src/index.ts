/**
 * Lotse: write Kubernetes operators in TypeScript.
 *
 * Each group below begins with a comment that stands by itself: the formatter sorts inside of groups only.
 *
 * @packageDocumentation
 */

// An operator, and the kinds that it brings: `new Operator({...})`, `resource({...})`.

export type { OperatorOptions } from "./declare/index.ts";
export {
  type ClassOfKind,
  type ClassOfShortForm,
  type ClassOfVersion,
  type ColumnsIn,
  type CommonStatus,
  DeclarationError,
  type FieldsIn,
  type JsonPathIn,
  type KindDefinition,
  type NewBody,
  type Objective,
  type ObjectiveInput,
  type ResourceBody,
  type ResourceClass,
  type ResourceDefinition,
  resource,
  type ScaleIn,
} from "./declare/index.ts";
export { isOperator, Operator } from "./operator/index.ts";
export type { Column, JsonSchemaSource, ScalePlaces, SchemaGap, ServerRule } from "./schema/index.ts";

// What schemas of any library can be told for the API server, and schemas that need no library.

export {
  type Annotated,
  atomic,
  duration,
  embedded,
  immutable,
  intOrString,
  listMap,
  listSet,
  type OwnSchema,
  podTemplate,
  quantity,
  type RuleMessage,
  rule,
  type SchemaLiteral,
  type SchemaOf,
  type SchemaPart,
  schema,
  type ValueOf,
  type ZodFace,
} from "./schema/index.ts";

// Kinds with several versions, and how objects get from one to another.

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
  VersionedDefinition,
  VersionTypes,
} from "./declare/index.ts";

// How handlers are declared: `operator.on.create(Kind, options, handler)` and its siblings, with their options.

export type {
  ActivityOptions,
  Backoff,
  ChangeOptions,
  DaemonOptions,
  DeclareActivity,
  DeclareChange,
  DeclareEvent,
  ErrorMode,
  FieldOptions,
  HandlerOrder,
  IndexOptions,
  ObjectHandlerOptions,
  On,
  OperatorScheduleOptions,
  OrderFunction,
  Reason,
  RetryOptions,
  ScheduleOptions,
  SourceFunction,
  SourceOptions,
  TimerOptions,
  WokenObject,
} from "./declare/index.ts";

// What a handler is for: kinds by class, by name or by predicate, and filters over their objects.

export {
  absent,
  all,
  any,
  type BodyOf,
  type Everything,
  everything,
  type Filters,
  type KindPredicate,
  type MapFilter,
  none,
  not,
  type ObjectOf,
  present,
  type ResourceInput,
  type SelectorFields,
  type SelectorInput,
  type SelectorScope,
  type ValueFilter,
  type WhenContext,
} from "./declare/index.ts";

// What handlers get: one context to destructure, and what is in it.

export type {
  ActivityContext,
  Adoptable,
  AdoptOptions,
  AttemptContext,
  ChangeContext,
  Condition,
  ConditionState,
  Conditions,
  DaemonContext,
  DeepReadonly,
  Difference,
  EventContext,
  FailureContext,
  FieldContext,
  FieldValue,
  LivePatch,
  LoginContext,
  Memo,
  ObjectContext,
  OutsideContext,
  Patch,
  ScheduleContext,
  Step,
  StepFunction,
  TimerContext,
} from "./declare/index.ts";

// What handlers throw, and why their signal was aborted.

export {
  Aborted,
  type AdmissionCause,
  AdmissionError,
  type AdmissionErrorOptions,
  FencedError,
  PermanentError,
  TemporaryError,
} from "./declare/index.ts";

// More than one process of an operator: one works, all share the objects, or they give way to each other.

export {
  type Coordination,
  type LeaderCoordination,
  type LeaseOptions,
  leader,
  type PeeringCoordination,
  peering,
  type ShardedObject,
  type ShardKey,
  type ShardsCoordination,
  shards,
} from "./declare/index.ts";

// Requests that are judged before they are stored: `on.validate`, `on.mutate` and `operator.policy`.

export type {
  AdmissionNamespaces,
  AdmissionOperation,
  AdmissionRequest,
  DeclareMutate,
  DeclareValidate,
  MatchCondition,
  MutateContext,
  MutateOptions,
  NamespaceSelector,
  PeerCertificate,
  PolicyMutation,
  PolicyOptions,
  PolicyParams,
  PolicyReason,
  PolicyRule,
  RequestedKind,
  RequestedResource,
  UserInfo,
  ValidateContext,
  ValidateOptions,
  WebhookOptions,
} from "./declare/index.ts";

// What handlers read without a request: the operator's own copy of the cluster, and its indexes.

export type {
  CachedGet,
  CachedList,
  CachedReads,
  Indexes,
  IndexHandle,
  IndexTypes,
  IndexView,
  KeptBody,
  ListQuery,
  PathsIn,
  ReadableKind,
  ReadOptions,
  TrackedGet,
  TrackedList,
  TrackedReads,
} from "./declare/index.ts";

// Level-based work: `operator.reconcile`, and the children that `operator.children` keeps.

export {
  type ChangeFilter,
  type CheckedChildren,
  type CheckedObject,
  type ChildObject,
  type ChildOrder,
  type ChildrenOptions,
  child,
  type DesiredChild,
  type DesiredChildren,
  type Drift,
  type DriftAnswer,
  type DriftedField,
  type ExternalChild,
  externalChild,
  type Mapped,
  type OrderedChild,
  type RateLimit,
  type ReconcileContext,
  type ReconcileOptions,
  type Requeue,
  requeue,
  type Watches,
  type WatchOptions,
} from "./declare/index.ts";

// Hierarchies: owners, names and labels of objects that belong to another one.

export {
  adjustNamespace,
  adopt,
  appendOwnerReference,
  type Child,
  type Children,
  disown,
  harmonizeNaming,
  label,
  type Owner,
  removeOwnerReference,
} from "./turn/index.ts";

// How an operator works: its settings, and where it remembers what it has done.

export { type Duration, parseDuration } from "@lotse/client/meta";
export type { FixedSettings, KindSelectors, Settings, SettingsInput } from "./declare/index.ts";
export {
  annotationStorage,
  type KopfOptions,
  kopf,
  migrateStorage,
  type RecordStorage,
  statusStorage,
} from "./turn/index.ts";

// Running it, and taking it off a cluster.

export { type UninstallRequest, type UninstallResult, uninstallOperator } from "./install/index.ts";
export type {
  RetryAnswer,
  RunningOperator,
  RunningShadow,
  StartOptions,
} from "./operator/index.ts";

// A new version beside the old one: `start({ shadow })`, and what it would have done otherwise.

export {
  type ShadowDifference,
  ShadowError,
  type ShadowField,
  type ShadowOptions,
  type ShadowReport,
  type ShadowVerdict,
  type Untried,
} from "./shadow/index.ts";

// Its log: records, and where they go.

export {
  jsonSink,
  type LogFields,
  Logger,
  type LogLevel,
  type LogRecord,
  type LogSink,
  minLevel,
  type ObjectReference,
  prettySink,
  type TextOutput,
} from "./report/index.ts";

// What its handlers ask the API server for, written down: the role of `lotse generate` is made of it.

export type { Actor, OnBehalf, RecordedRequest } from "./report/index.ts";
export { parseRecording, requestRecorder } from "./report/index.ts";
