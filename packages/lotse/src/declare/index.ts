export { type Backoff, type BackoffPlan, backoffMs, planBackoff } from "./backoff.ts";
export {
  Aborted,
  type Adoptable,
  type AttemptContext,
  type ChangeContext,
  type Difference,
  type EventContext,
  type LifecycleContext,
  type Memo,
  type ObjectContext,
  type Patch,
  type TimerContext,
} from "./context.ts";
export {
  type BodyOf,
  Declarations,
  type Declare,
  type DeclareLifecycle,
  type LooseBody,
  type On,
  type ResourceDeclaration,
  resourceKey,
} from "./declarations.ts";
export { DeclarationError, PermanentError, TemporaryError } from "./errors.ts";
export { absent, type Filters, type MapFilter, matchesFilters, present, type ValueFilter } from "./filters.ts";
export type {
  ChangeHandler,
  ChangeOptions,
  ErrorMode,
  EventHandler,
  Handler,
  LifecycleHandler,
  ObjectHandlerOptions,
  Reason,
  ResourceInput,
  RetryOptions,
  RetryPlan,
  TimerHandler,
  TimerOptions,
} from "./handler.ts";
export { type DeepReadonly, deepFreeze, type MergePatch } from "./readonly.ts";
export {
  isResourceClass,
  type JsonSchemaSource,
  type ResourceBody,
  type ResourceClass,
  type ResourceDefinition,
  resource,
} from "./resource.ts";
