/** The types of `operator.on`: what a handler gets follows from the resource and the options that it is declared with. */
import type { Login } from "@lotse/client";
import type { MutateOptions, ValidateOptions } from "./admission.ts";
import type { MutateContext, ValidateContext } from "./admission-context.ts";
import type { Reason } from "./cause.ts";
import type {
  ActivityContext,
  ChangeContext,
  EventContext,
  FailureContext,
  FieldContext,
  LoginContext,
} from "./context.ts";
import type { FieldPath } from "./field-path.ts";
import type { BodyOf, ObjectOf } from "./kind-types.ts";
import type { ChangeOptions, FieldOptions, ObjectHandlerOptions, ResourceInput } from "./options.ts";
import type { ClassOfVersion, ResourceClass } from "./resource.ts";
import type { ResourceBody } from "./resource-body.ts";
import type { RetryOptions } from "./retry.ts";
import type { Conversion } from "./versions.ts";

/** What a handler of changes gets: reduced to its field where it names one. */
type ContextOf<R, F extends FieldPath> = [F] extends [never]
  ? ChangeContext<BodyOf<R>, ObjectOf<R>>
  : FieldContext<BodyOf<R>, F, ObjectOf<R>>;

/** `(resource, handler)` or `(resource, options, handler)`. */
export interface DeclareChange {
  <R extends ResourceInput>(resource: R, handler: (context: ChangeContext<BodyOf<R>, ObjectOf<R>>) => unknown): void;
  <R extends ResourceInput, const F extends FieldPath = never>(
    resource: R,
    options: ChangeOptions<BodyOf<R>, F>,
    handler: (context: ContextOf<R, F>) => unknown,
  ): void;
}

/** `(resource, handler)` or `(resource, options, handler)`. */
export interface DeclareEvent {
  <R extends ResourceInput>(resource: R, handler: (context: EventContext<BodyOf<R>, ObjectOf<R>>) => unknown): void;
  <R extends ResourceInput, const F extends FieldPath = never>(
    resource: R,
    options: ObjectHandlerOptions<BodyOf<R>, F>,
    handler: (context: EventContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
}

/** `(resource, handler)` or `(resource, options, handler)`. */
export interface DeclareFailure {
  <R extends ResourceInput>(resource: R, handler: (context: FailureContext<BodyOf<R>, ObjectOf<R>>) => unknown): void;
  <R extends ResourceInput>(
    resource: R,
    options: ObjectHandlerOptions<BodyOf<R>>,
    handler: (context: FailureContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
}

/** `(resource, handler)` or `(resource, options, handler)`. */
export interface DeclareValidate {
  <R extends ResourceInput>(resource: R, handler: (context: ValidateContext<BodyOf<R>, ObjectOf<R>>) => unknown): void;
  <R extends ResourceInput, const F extends FieldPath = never>(
    resource: R,
    options: ValidateOptions<BodyOf<R>, F>,
    handler: (context: ValidateContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
}

/** `(resource, handler)` or `(resource, options, handler)`. */
export interface DeclareMutate {
  <R extends ResourceInput>(resource: R, handler: (context: MutateContext<BodyOf<R>, ObjectOf<R>>) => unknown): void;
  <R extends ResourceInput, const F extends FieldPath = never>(
    resource: R,
    options: MutateOptions<BodyOf<R>, F>,
    handler: (context: MutateContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
}

/** `(Kind, version, { to, from })`, where `Kind` is the class of the version in which objects are kept. */
export type DeclareConversion = <Spec, Status, Input, Versions, Name extends keyof Versions & string>(
  resource: ResourceClass<Spec, Status, Input, Versions>,
  version: Name,
  conversion: Conversion<BodyOf<ClassOfVersion<Versions, Name>>, ResourceBody<Spec, Status>>,
) => void;

/** Options of handlers of the operator itself. */
export interface ActivityOptions extends RetryOptions {
  /** Default: the function's name. */
  readonly id?: string;
  /** Handed to the handler as `param`. */
  readonly param?: unknown;
}

/** `(handler)` or `(options, handler)`. */
export interface DeclareActivity<Context = ActivityContext, Result = unknown> {
  (handler: (context: Context) => Result | Promise<Result>): void;
  (options: ActivityOptions, handler: (context: Context) => Result | Promise<Result>): void;
}

/**
 * The `operator.on` family.
 *
 * @example
 * ```ts
 * operator.on.create(ExchangeRate, async function publish({ spec, patch }) {
 *   patch.status.rate = await rateOf(spec.currency);
 * });
 * operator.on(["create", "update"], ExchangeRate, async function publish({ spec }) {});
 * ```
 */
export interface On {
  /** One handler for several causes. */
  <R extends ResourceInput>(
    reasons: readonly Reason[],
    resource: R,
    handler: (context: ChangeContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
  <R extends ResourceInput, const F extends FieldPath = never>(
    reasons: readonly Reason[],
    resource: R,
    options: ChangeOptions<BodyOf<R>, F>,
    handler: (context: ContextOf<R, F>) => unknown,
  ): void;
  /** The object is new to the operator. Runs to its end once in the object's life. */
  readonly create: DeclareChange;
  /** A user or another client wants something else of the object. */
  readonly update: DeclareChange;
  /** The object is being deleted; it stays until the handler is done, unless `optional`. */
  readonly delete: DeclareChange;
  /** The operator started and finds an object that it has handled before. */
  readonly resume: DeclareChange;
  /** A field of the object changes, appears or vanishes; `old`, `new` and `diff` are reduced to it. */
  readonly field: <R extends ResourceInput, const F extends FieldPath>(
    resource: R,
    options: FieldOptions<BodyOf<R>, F>,
    handler: (context: FieldContext<BodyOf<R>, F, ObjectOf<R>>) => unknown,
  ) => void;
  /** Every event of the raw stream, in order; never tried again. */
  readonly event: DeclareEvent;
  /** A handler of the object has failed for good; called once for each time, and never tried again itself. */
  readonly failure: DeclareFailure;
  /**
   * Judges what clients want to store, before it is stored: a handler that throws refuses the request, and the client is
   * told why ({@link AdmissionError}).
   */
  readonly validate: DeclareValidate;
  /** Changes what clients want to store, before it is judged and stored: by its `patch`. May refuse it, too. */
  readonly mutate: DeclareMutate;
  /**
   * How objects of an older version become those that are kept, and back: the same as the option `convert` of
   * `resource()`, which then says `convert: "on.convert"`.
   */
  readonly convert: DeclareConversion;
  /** Before anything is watched. A failure that is not temporary stops the operator. */
  readonly startup: DeclareActivity;
  /** After everything has stopped. */
  readonly cleanup: DeclareActivity;
  /**
   * Brings the credentials instead of the kubeconfig or the service account: at the start, when they expire, and when
   * the server refuses them. Several are tried by their `priority`. Not asked when the operator is given a client.
   */
  readonly login: DeclareActivity<LoginContext, Login | readonly Login[] | undefined>;
  /** Answers a question about the operator's health; the result is in `running.probe()` under the handler's id. */
  readonly probe: DeclareActivity;
  /**
   * This process begins to lead: of several replicas with `coordination: "leader"` it is the one that works. Runs beside the
   * handlers of objects, and its writes are refused when another one leads. A failure is told and ends nothing; `signal`
   * aborts when the process leads no longer. Never called where no process leads.
   *
   * @example
   * ```ts
   * operator.on.lead(async function announce({ logger }) {
   *   logger.info("this replica does the work now");
   * });
   * ```
   */
  readonly lead: DeclareActivity;
  /**
   * This process leads no longer, and stands by: called after its handlers have ended. A failure is told and ends nothing;
   * `signal` aborts when it leads again, or when the operator stops. Not called when a leader stops: see `on.cleanup`.
   *
   * @example
   * ```ts
   * operator.on.follow(async function forget({ memo }) {
   *   delete memo.token;
   * });
   * ```
   */
  readonly follow: DeclareActivity;
}
