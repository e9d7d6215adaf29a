/** Builds what handlers get. Views are made when they are asked for: most handlers look at two or three of them. */
import { type Client, type KindDescription, type KubeBody, KubeObject } from "@lotse/client";
import { deepClone, diff, durationMs, errorMessage, sleep } from "@lotse/client/meta";
import {
  type Adoptable,
  type AttemptContext,
  type CachedReads,
  type ChangeContext,
  type DaemonContext,
  type DeepReadonly,
  type Difference,
  deepFreeze,
  type EventContext,
  type FailureContext,
  type FieldPath,
  type FixedSettings,
  fieldKeys,
  type Indexes,
  type Memo,
  type ObjectContext,
  type Patch,
  type Reason,
  type Step,
  type TimerContext,
  valueAt,
} from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import type { ConditionsDraft } from "./conditions.ts";
import type { Essence } from "./essence.ts";
import { fenceOf } from "./fence.ts";
import { handlerClient } from "./handler-requests.ts";
import { adopt, type Children } from "./hierarchies.ts";
import type { ContextParts } from "./kind-work.ts";
import type { FinalFailure, RawEvent } from "./memory.ts";

const NOTHING: Readonly<Record<string, never>> = Object.freeze({});
const WHOLE: readonly string[] = [];

/**
 * What every handler of an object gets. What costs something to make is behind a getter of the context itself, so that a
 * copy of a context (`{ ...context }`) has all of it. The getters are the same functions for all contexts: an object that
 * is given accessors of its own becomes a dictionary, which costs more than all of the rest of a turn's context.
 */
class HandlerContext implements Omit<ObjectContext<KubeBody>, LazyPart> {
  readonly #parts: ContextParts;
  #reads: CachedReads | undefined;
  #client: Client | undefined;
  #memo: Memo | undefined;
  #step: Step | undefined;
  #diff: readonly Difference[] | undefined;
  /** What the handler is called for, where it is a change. */
  #change: KnownChange | undefined;

  readonly body: DeepReadonly<KubeBody>;
  readonly spec: ObjectContext<KubeBody>["spec"];
  readonly status: ObjectContext<KubeBody>["status"];
  readonly meta: ObjectContext<KubeBody>["meta"];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly resource: KindDescription;
  readonly patch: Patch<KubeBody>;
  readonly runId: string;
  readonly param: unknown;
  readonly indexes: Indexes;
  readonly settings: FixedSettings;
  readonly get: CachedReads["get"];
  readonly list: CachedReads["list"];
  readonly exists: CachedReads["exists"];
  readonly adopt: ObjectContext<KubeBody>["adopt"];
  readonly info: ObjectContext<KubeBody>["info"];
  readonly warn: ObjectContext<KubeBody>["warn"];
  readonly sleep: ObjectContext<KubeBody>["sleep"];

  constructor(parts: ContextParts) {
    this.#parts = parts;
    const { work, body, stop } = parts;
    const frozen = deepFreeze(body);
    const metadata = frozen.metadata ?? NOTHING;
    this.body = frozen;
    this.spec = (frozen.spec ?? NOTHING) as ObjectContext<KubeBody>["spec"];
    this.status = (frozen.status ?? NOTHING) as ObjectContext<KubeBody>["status"];
    this.meta = metadata;
    this.labels = metadata.labels ?? NOTHING;
    this.annotations = metadata.annotations ?? NOTHING;
    this.name = metadata.name ?? "";
    this.namespace = metadata.namespace;
    this.uid = metadata.uid ?? "";
    this.resource = work.kind;
    this.patch = parts.patch;
    this.runId = parts.runId;
    this.param = parts.handler.param;
    this.indexes = work.views.indexes;
    this.settings = work.runtime.settings;
    const get = (...args: Parameters<CachedReads["get"]>) => this.#readings.get(...args);
    get.live = (...args: Parameters<CachedReads["get"]["live"]>) => this.#readings.get.live(...args);
    this.get = get as CachedReads["get"];
    this.list = ((...args: Parameters<CachedReads["list"]>) => this.#readings.list(...args)) as CachedReads["list"];
    this.exists = (...args) => this.#readings.exists(...args);
    this.adopt = (children, options) =>
      adopt(children as Children, { ...options, owner: { body, kind: work.kind } }) as typeof children;
    this.info = (reason, message, about) => post(parts, "Normal", reason, message, about);
    this.warn = (reason, message, about) => post(parts, "Warning", reason, message, about);
    this.sleep = (duration) => sleep(work.runtime.clock, durationMs(duration), stop.signal);
    for (const [name, property] of LAZY) Object.defineProperty(this, name, property);
  }

  /** The context of a handler of changes. */
  static ofChange(parts: ContextParts, change: KnownChange): HandlerContext {
    const context = new HandlerContext(parts);
    context.#change = change;
    for (const [name, property] of LAZY_OF_CHANGES) Object.defineProperty(context, name, property);
    return context;
  }

  /** Made when the handler reads: most do not. */
  get #readings(): CachedReads {
    const { work, handler, body } = this.#parts;
    this.#reads ??= work.views.reads(handler.id, () => this.#handlerClient, body.metadata?.namespace);
    return this.#reads;
  }

  get #handlerClient(): Client {
    if (this.#client) return this.#client;
    const { work, handler, memory, body, stop } = this.#parts;
    const writer = memory && work.handlers.reconcilers?.writerOf(memory, handler.id);
    this.#client = handlerClient(work, handler.id, body, stop.signal, writer, fenceOf(work, memory, body));
    return this.#client;
  }

  /** Each of what is made on demand, by the name that it has in a context. */
  static readonly lazily = {
    object(this: HandlerContext) {
      const { kind, kindClass } = this.#parts.work;
      const own = deepClone(this.#parts.body);
      return kindClass ? new kindClass(own, this.#handlerClient) : new KubeObject(own, this.#handlerClient, kind);
    },
    memo(this: HandlerContext): Memo {
      const { memory, work } = this.#parts;
      if (memory) return work.views.memoOf(memory);
      this.#memo ??= {};
      return this.#memo;
    },
    logger(this: HandlerContext): Logger {
      const { logger, handler, runId } = this.#parts;
      return logger.with({ handler: handler.id, runId });
    },
    client(this: HandlerContext): Client {
      return this.#handlerClient;
    },
    signal(this: HandlerContext): AbortSignal {
      return this.#parts.stop.signal;
    },
    conditions(this: HandlerContext): ConditionsDraft {
      return this.#parts.conditions();
    },
  };

  /** The same for what only handlers of changes have. */
  static readonly lazilyOfChanges = {
    step(this: HandlerContext): Step | undefined {
      this.#step ??= this.#change?.step();
      return this.#step;
    },
    diff(this: HandlerContext): readonly Difference[] {
      const change = this.#change as KnownChange;
      this.#diff ??= change.isUnknown ? [] : diff(change.old, change.new);
      return this.#diff;
    },
  };
}

type LazyPart = keyof typeof HandlerContext.lazily;

const LAZY = accessorsOf(HandlerContext.lazily);
const LAZY_OF_CHANGES = accessorsOf(HandlerContext.lazilyOfChanges);

function accessorsOf(
  getters: Readonly<Record<string, (this: HandlerContext) => unknown>>,
): readonly (readonly [string, PropertyDescriptor])[] {
  return Object.entries(getters).map(([name, get]) => [name, { get, enumerable: true, configurable: true }]);
}

/** A change as its handler is shown it. */
interface KnownChange {
  readonly old: unknown;
  readonly new: unknown;
  /** What was before is not known where it did not fit onto the object: then what has changed is not known either. */
  readonly isUnknown: boolean;
  readonly step: () => Step;
}

/** What every handler of an object gets. */
function objectContext(parts: ContextParts): ObjectContext<KubeBody> {
  // The rest of it are accessors that the constructor has defined.
  return new HandlerContext(parts) as unknown as ObjectContext<KubeBody>;
}

function post(
  { body, work }: ContextParts,
  type: "Normal" | "Warning",
  reason: string,
  message: string | Error,
  about: Adoptable | readonly Adoptable[] = body,
): void {
  const text = message instanceof Error ? `${message.name}: ${errorMessage(message)}` : message;
  const objects = Array.isArray(about) ? (about as readonly Adoptable[]) : [about as Adoptable];
  for (const one of objects)
    work.reporting.post(one instanceof KubeObject ? (one.body as KubeBody) : (one as KubeBody), type, reason, text);
}

/** When an attempt's effort began and how often it was tried. */
export interface AttemptParts {
  readonly retry: number;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  readonly now: number;
}

function attemptContext({ retry, startedAt, now }: AttemptParts): AttemptContext {
  return { retry, started: new Date(startedAt), runtime: Math.max(0, now - startedAt) };
}

/** For `on.create`, `on.update`, `on.delete`, `on.resume`. */
export function changeContext(
  parts: ContextParts,
  attempt: AttemptParts,
  change: {
    readonly reason: Reason;
    readonly old: Essence | undefined;
    readonly new: Essence | undefined;
    /** What the handler asked for: the rest of the change is not its business. */
    readonly field: FieldPath | undefined;
    readonly step: () => Step;
    readonly gone: boolean;
  },
): ChangeContext<KubeBody> {
  const path = change.field === undefined ? WHOLE : fieldKeys(change.field);
  const old = deepFreeze(valueAt(change.old, path));
  const now = deepFreeze(valueAt(change.new, path));
  const isUnknown = change.reason === "update" && change.old === undefined;
  const context = HandlerContext.ofChange(parts, { old, new: now, isUnknown, step: change.step });
  const told = context as unknown as Record<string, unknown>;
  told.retry = attempt.retry;
  told.started = new Date(attempt.startedAt);
  told.runtime = Math.max(0, attempt.now - attempt.startedAt);
  told.reason = change.reason;
  told.gone = change.gone;
  told.old = old;
  told.new = now;
  return context as unknown as ChangeContext<KubeBody>;
}

/** For timers. */
export function timerContext(parts: ContextParts, attempt: AttemptParts): TimerContext<KubeBody> {
  return Object.assign(objectContext(parts), attemptContext(attempt));
}

/** For daemons: the parts of the object are live. */
export function daemonContext(
  parts: ContextParts,
  attempt: AttemptParts,
  newest: () => KubeBody,
): DaemonContext<KubeBody> {
  const live = (...path: string[]) => liveView(() => valueAt(newest(), path));
  return Object.assign(objectContext(parts), {
    ...attemptContext(attempt),
    body: live() as DeepReadonly<KubeBody>,
    spec: live("spec"),
    status: live("status"),
    meta: live("metadata"),
    labels: live("metadata", "labels"),
    annotations: live("metadata", "annotations"),
  }) as DaemonContext<KubeBody>;
}

/** An object that always looks like what `current` gives at that moment, and cannot be written to. */
function liveView(current: () => unknown): object {
  const target = () => (deepFreeze(current()) ?? NOTHING) as object;
  const refuse = () => {
    throw new TypeError("what a handler is given cannot be changed; use patch");
  };
  return new Proxy(
    {},
    {
      get: (_, key) => Reflect.get(target(), key),
      has: (_, key) => Reflect.has(target(), key),
      ownKeys: () => Reflect.ownKeys(target()),
      getOwnPropertyDescriptor: (_, key) => {
        const property = Reflect.getOwnPropertyDescriptor(target(), key);
        // A proxy may call a property frozen only if its own target has it frozen.
        return property && { ...property, configurable: true };
      },
      set: refuse,
      deleteProperty: refuse,
      defineProperty: refuse,
    },
  );
}

/** For `on.failure`. */
export function failureContext(parts: ContextParts, failure: FinalFailure): FailureContext<KubeBody> {
  const { error } = failure;
  return Object.assign(objectContext(parts), {
    ...failure,
    error: error instanceof Error ? error : new Error(String(error)),
  });
}

/** For `on.event`. */
export function eventContext(parts: ContextParts, event: RawEvent): EventContext<KubeBody> {
  const object = deepFreeze(event.body) as DeepReadonly<KubeBody>;
  return Object.assign(objectContext(parts), { type: event.type, event: { type: event.type, object } });
}
