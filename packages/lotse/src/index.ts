/**
 * Lotse: write Kubernetes operators in TypeScript.
 *
 * @packageDocumentation
 */

export type { Duration } from "@lotse/client/meta";
// What handlers get
export type {
  Adoptable,
  AdoptOptions,
  AttemptContext,
  ChangeContext,
  ConditionState,
  Conditions,
  DaemonContext,
  DeepReadonly,
  Difference,
  EventContext,
  LifecycleContext,
  LoginContext,
  Memo,
  MergePatch,
  ObjectContext,
  Patch,
  Step,
  StepFunction,
  TimerContext,
} from "./declare/index.ts";
// Errors
export {
  Aborted,
  absent,
  all,
  any,
  type Backoff,
  type BodyOf,
  type ChangeOptions,
  type DaemonOptions,
  DeclarationError,
  type Declare,
  type DeclareLifecycle,
  type DueHandler,
  type ErrorMode,
  type Everything,
  everything,
  type FieldOptions,
  type Filters,
  type FixedSettings,
  type Indexes,
  type IndexHandle,
  type IndexTypes,
  type IndexView,
  type JsonSchemaSource,
  type KindPredicate,
  type Lifecycle,
  type LifecycleOptions,
  type LooseBody,
  type MapFilter,
  none,
  not,
  type ObjectHandlerOptions,
  type On,
  type OrderFunction,
  PermanentError,
  present,
  type Reason,
  type ResourceBody,
  type ResourceClass,
  type ResourceDefinition,
  type ResourceInput,
  type RetryOptions,
  resource,
  type SelectorFields,
  type SelectorInput,
  type SelectorScope,
  type Settings,
  type SettingsInput,
  TemporaryError,
  type TimerOptions,
  type ValueFilter,
} from "./declare/index.ts";
export type { Column } from "./generate/index.ts";
// Running
export {
  isOperator,
  Operator,
  type OperatorOptions,
  type RunningOperator,
  type StartOptions,
} from "./operator/index.ts";
export {
  atLeast,
  jsonSink,
  type LogFields,
  Logger,
  type LogLevel,
  type LogRecord,
  type LogSink,
  type ObjectReference,
  prettySink,
  type TextOutput,
} from "./report/index.ts";
// Declaring
// Persistence
// Hierarchies
export {
  adjustNamespace,
  adopt,
  annotationStorage,
  appendOwnerReference,
  type Child,
  type Children,
  disown,
  harmonizeNaming,
  type KopfOptions,
  kopf,
  label,
  type Owner,
  type RecordStorage,
  removeOwnerReference,
  statusStorage,
} from "./turn/index.ts";
