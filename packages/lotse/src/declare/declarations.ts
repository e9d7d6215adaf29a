import type { KindClass, KindDescription, KubeBody } from "@lotse/client";
import { durationMs } from "@lotse/client/meta";
import type { ChangeContext, EventContext, LifecycleContext, TimerContext } from "./context.ts";
import { DeclarationError } from "./errors.ts";
import type { Filters } from "./filters.ts";
import {
  type ChangeHandler,
  type ChangeOptions,
  type EventHandler,
  type Handler,
  type LifecycleHandler,
  type ObjectHandlerOptions,
  planRetries,
  type Reason,
  type ResourceInput,
  type RetryOptions,
  type TimerHandler,
  type TimerOptions,
} from "./handler.ts";
import { callerPlace } from "./place.ts";

/** The body type of a resource: exact for classes, loose for names. */
export type BodyOf<R> = R extends KindClass<infer T> ? (T["body"] extends KubeBody ? T["body"] : KubeBody) : LooseBody;

/** The body of an object whose kind is only known by name. */
export interface LooseBody extends KubeBody {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

/** `(resource, handler)` or `(resource, options, handler)`. */
export interface Declare<Options extends "change" | "event"> {
  <R extends ResourceInput>(resource: R, handler: (context: ContextFor<Options, BodyOf<R>>) => unknown): void;
  <R extends ResourceInput>(
    resource: R,
    options: Options extends "change" ? ChangeOptions<BodyOf<R>> : ObjectHandlerOptions<BodyOf<R>>,
    handler: (context: ContextFor<Options, BodyOf<R>>) => unknown,
  ): void;
}

type ContextFor<Options, B extends KubeBody> = Options extends "change" ? ChangeContext<B> : EventContext<B>;

/** `(handler)` or `(options, handler)`. */
export interface DeclareLifecycle {
  (handler: (context: LifecycleContext) => unknown): void;
  (options: RetryOptions & { readonly id?: string }, handler: (context: LifecycleContext) => unknown): void;
}

/**
 * The `operator.on` family.
 *
 * @example
 * ```ts
 * operator.on.create(ExchangeRate, async ({ spec, patch }) => { patch.status.rate = await rateOf(spec.currency); });
 * operator.on(["create", "update"], ExchangeRate, async function publish({ spec }) {});
 * ```
 */
export interface On {
  /** One handler for several causes. */
  <R extends ResourceInput>(
    reasons: readonly Reason[],
    resource: R,
    handler: (context: ChangeContext<BodyOf<R>>) => unknown,
  ): void;
  <R extends ResourceInput>(
    reasons: readonly Reason[],
    resource: R,
    options: ChangeOptions<BodyOf<R>>,
    handler: (context: ChangeContext<BodyOf<R>>) => unknown,
  ): void;
  /** The object is new to the operator. Runs to its end once in the object's life. */
  readonly create: Declare<"change">;
  /** Somebody wants something else of the object. */
  readonly update: Declare<"change">;
  /** The object is being deleted; it stays until the handler is done, unless `optional`. */
  readonly delete: Declare<"change">;
  /** The operator started and finds an object that it has handled before. */
  readonly resume: Declare<"change">;
  /** Every event of the raw stream, in order; never tried again. */
  readonly event: Declare<"event">;
  /** Before anything is watched. A failure that is not temporary stops the operator. */
  readonly startup: DeclareLifecycle;
  /** After everything has stopped. */
  readonly cleanup: DeclareLifecycle;
}

/** All handlers of one resource. */
export interface ResourceDeclaration {
  readonly resource: ResourceInput;
  readonly handlers: readonly Handler[];
}

interface Entry {
  readonly resource: ResourceInput;
  readonly handlers: Handler[];
  /** Where each id was declared, to name the first place when a second one takes it. */
  readonly places: Map<string, string>;
}

/**
 * What the user asked for, collected while the operator's file is loaded. Wrong combinations are refused here, with the
 * place in the source, before anything runs.
 */
export class Declarations {
  readonly #entries = new Map<string, Entry>();
  readonly #lifecycle: LifecycleHandler[] = [];

  /** Declares handlers of changes and events. */
  readonly on: On;

  constructor() {
    const change =
      (...reasons: Reason[]) =>
      (resource: ResourceInput, ...rest: unknown[]) =>
        this.#change(reasons, resource, rest);
    const lifecycle =
      (type: LifecycleHandler["type"]) =>
      (...rest: unknown[]) =>
        this.#declareLifecycle(type, rest);
    this.on = Object.assign(
      (reasons: readonly Reason[], resource: ResourceInput, ...rest: unknown[]) =>
        this.#change(reasons, resource, rest),
      {
        create: change("create"),
        update: change("update"),
        delete: change("delete"),
        resume: change("resume"),
        event: (resource: ResourceInput, ...rest: unknown[]) => this.#event(resource, rest),
        startup: lifecycle("startup"),
        cleanup: lifecycle("cleanup"),
      },
    ) as unknown as On;
  }

  /**
   * Calls `handler` again and again for each object.
   *
   * @example
   * ```ts
   * operator.timer(ExchangeRate, { interval: "1h" }, async function refresh({ spec, patch }) {});
   * ```
   */
  timer<R extends ResourceInput>(
    resource: R,
    options: TimerOptions<BodyOf<R>>,
    handler: (context: TimerContext<BodyOf<R>>) => unknown,
  ): void {
    const fn = functionOf("timer", [handler]);
    if (options?.interval === undefined) {
      throw declarationError("a timer needs an interval", 'write operator.timer(Kind, { interval: "1h" }, handler)');
    }
    this.#add(resource, {
      type: "timer",
      id: this.#idOf("timer", resource, options, fn),
      filters: filtersOf(options),
      retry: planRetries(options),
      intervalMs: durationMs(options.interval),
      initialDelayMs: durationMs(options.initialDelay ?? 0),
      idleMs: options.idle === undefined ? undefined : durationMs(options.idle),
      sharp: options.sharp ?? false,
      param: options.param,
      fn: fn as TimerHandler["fn"],
    });
  }

  /** The resources that have handlers, in the order of their first declaration. */
  get resources(): readonly ResourceDeclaration[] {
    return [...this.#entries.values()];
  }

  /** Startup and cleanup handlers, in the order of their declaration. */
  get lifecycle(): readonly LifecycleHandler[] {
    return this.#lifecycle;
  }

  #change(reasons: readonly Reason[], resource: ResourceInput, rest: unknown[]): void {
    if (reasons.length === 0) {
      throw declarationError("a handler without a cause is never called", 'write on(["create", "update"], Kind, fn)');
    }
    const label = reasons.join("-");
    const fn = functionOf(label, rest);
    const options = optionsOf<ChangeOptions<KubeBody>>(rest);
    if (options.optional !== undefined && !reasons.includes("delete")) {
      throw declarationError(`"optional" has no meaning for on.${label}`, "it belongs to on.delete");
    }
    if (options.deleted !== undefined && !reasons.includes("resume")) {
      throw declarationError(`"deleted" has no meaning for on.${label}`, "it belongs to on.resume");
    }
    this.#add(resource, {
      type: "change",
      id: this.#idOf(label, resource, options, fn),
      reasons: new Set(reasons),
      filters: filtersOf(options),
      retry: planRetries(options),
      optional: options.optional ?? false,
      deleted: options.deleted ?? false,
      param: options.param,
      fn: fn as ChangeHandler["fn"],
    });
  }

  #event(resource: ResourceInput, rest: unknown[]): void {
    const fn = functionOf("event", rest);
    const options = optionsOf<ObjectHandlerOptions<KubeBody>>(rest);
    this.#add(resource, {
      type: "event",
      id: this.#idOf("event", resource, options, fn),
      filters: filtersOf(options),
      param: options.param,
      fn: fn as EventHandler["fn"],
    });
  }

  #declareLifecycle(type: LifecycleHandler["type"], rest: unknown[]): void {
    const fn = functionOf(type, rest);
    const options = optionsOf<RetryOptions & { id?: string }>(rest);
    this.#lifecycle.push({
      type,
      id: options.id ?? (fn.name || `${type}-${this.#lifecycle.length + 1}`),
      retry: planRetries(options),
      fn: fn as LifecycleHandler["fn"],
    });
  }

  /** The `id` option, else the function's name, else its kind with a running number. */
  #idOf(label: string, resource: ResourceInput, options: { readonly id?: string }, fn: { readonly name: string }) {
    const named = options.id ?? fn.name;
    if (named) return named;
    const taken = this.#entries.get(resourceKey(resource))?.places;
    let number = 1;
    while (taken?.has(`${label}-${number}`)) number++;
    return `${label}-${number}`;
  }

  #add(resource: ResourceInput, handler: Handler): void {
    const key = resourceKey(resource);
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { resource, handlers: [], places: new Map() };
      this.#entries.set(key, entry);
    }
    const first = entry.places.get(handler.id);
    if (first !== undefined) {
      throw declarationError(
        `handler id "${handler.id}" is used twice for ${key} (first at ${first})`,
        'name one of them with { id: "…" }, or declare one handler for several causes: on(["create", "update"], …)',
      );
    }
    entry.places.set(handler.id, callerPlace() ?? "an unknown place");
    entry.handlers.push(handler);
  }
}

/** Two inputs with the same key are the same resource: one informer, one set of handlers. */
export function resourceKey(resource: ResourceInput): string {
  if (typeof resource === "string") return resource;
  const { group, version, plural } = descriptionOf(resource);
  return group ? `${plural}.${version}.${group}` : `${plural}.${version}`;
}

function descriptionOf(resource: KindClass | KindDescription): KindDescription {
  return "description" in resource ? resource.description : resource;
}

function filtersOf<B>(options: Filters<B>): Filters<KubeBody> {
  const { labels, annotations, when } = options as Filters<KubeBody>;
  return { ...(labels && { labels }), ...(annotations && { annotations }), ...(when && { when }) };
}

function functionOf(label: string, rest: readonly unknown[]): (...args: never[]) => unknown {
  const fn = rest.at(-1);
  if (typeof fn === "function") return fn as (...args: never[]) => unknown;
  throw declarationError(`on.${label} needs a handler function as its last argument`, "got something else");
}

function optionsOf<T extends object>(rest: readonly unknown[]): T {
  return (rest.length > 1 && typeof rest[0] === "object" && rest[0] !== null ? rest[0] : {}) as T;
}

function declarationError(message: string, hint: string): DeclarationError {
  const place = callerPlace();
  return new DeclarationError(place ? `${message} at ${place}` : message, { hint });
}
