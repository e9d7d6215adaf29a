/** Builds what handlers get. Views are made when they are asked for: most handlers look at two or three of them. */
import { type Client, type KubeBody, KubeObject } from "@lotse/client";
import { deepClone, diff, durationMs, errorMessage, sleep } from "@lotse/client/meta";
import {
  type Adoptable,
  type AttemptContext,
  type CachedReads,
  type ChangeContext,
  type DaemonContext,
  type DeepReadonly,
  deepFreeze,
  type EventContext,
  type FailureContext,
  type FieldPath,
  fieldKeys,
  type Memo,
  type ObjectContext,
  type Reason,
  type Step,
  type TimerContext,
  valueAt,
} from "../declare/index.ts";
import type { Essence } from "./essence.ts";
import { fenceOf } from "./fence.ts";
import { handlerClient } from "./handler-requests.ts";
import { adopt, type Children } from "./hierarchies.ts";
import type { ContextParts } from "./kind-work.ts";
import type { FinalFailure, RawEvent } from "./memory.ts";

const NOTHING: Readonly<Record<string, never>> = Object.freeze({});

/** What every handler of an object gets. */
export function objectContext(parts: ContextParts): ObjectContext<KubeBody> {
  const { work, handler, memory, body, stop } = parts;
  const { kind, kindClass, runtime, views } = work;
  const { id, param } = handler;
  const frozen = deepFreeze(body);
  const metadata = frozen.metadata ?? NOTHING;
  let memo: Memo | undefined;
  let client: Client | undefined;
  const clientOf = () => {
    const writer = memory && work.handlers.reconcilers?.writerOf(memory, id);
    client ??= handlerClient(work, id, body, stop.signal, writer, fenceOf(work, memory, body));
    return client;
  };
  return {
    ...readsOf(() => views.reads(id, clientOf, metadata.namespace)),
    get object() {
      const own = deepClone(body);
      return kindClass ? new kindClass(own, this.client) : new KubeObject(own, this.client, kind);
    },
    body: frozen,
    spec: (frozen.spec ?? NOTHING) as ObjectContext<KubeBody>["spec"],
    status: (frozen.status ?? NOTHING) as ObjectContext<KubeBody>["status"],
    meta: metadata,
    labels: metadata.labels ?? NOTHING,
    annotations: metadata.annotations ?? NOTHING,
    name: metadata.name ?? "",
    namespace: metadata.namespace,
    uid: metadata.uid ?? "",
    resource: kind,
    patch: parts.patch,
    get memo() {
      if (memory) return views.memoOf(memory);
      memo ??= {};
      return memo;
    },
    get logger() {
      return parts.logger.with({ handler: id, runId: parts.runId });
    },
    runId: parts.runId,
    get client() {
      return clientOf();
    },
    get signal() {
      return stop.signal;
    },
    param,
    indexes: views.indexes,
    settings: runtime.settings,
    adopt: (children, options) => adopt(children as Children, { ...options, owner: { body, kind } }) as typeof children,
    get conditions() {
      return parts.conditions();
    },
    info: (reason, message, about) => post(parts, "Normal", reason, message, about),
    warn: (reason, message, about) => post(parts, "Warning", reason, message, about),
    sleep: (duration) => sleep(runtime.clock, durationMs(duration), stop.signal),
  };
}

/** Made when the handler reads: most do not. */
function readsOf(make: () => CachedReads): CachedReads {
  let made: CachedReads | undefined;
  const reads = () => {
    made ??= make();
    return made;
  };
  const get = (...args: Parameters<CachedReads["get"]>) => reads().get(...args);
  const live = (...args: Parameters<CachedReads["get"]["live"]>) => reads().get.live(...args);
  return {
    get: Object.assign(get, { live }) as CachedReads["get"],
    list: ((...args: Parameters<CachedReads["list"]>) => reads().list(...args)) as CachedReads["list"],
    exists: (...args) => reads().exists(...args),
  };
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
  const path = change.field === undefined ? [] : fieldKeys(change.field);
  const [old, now] = [valueAt(change.old, path), valueAt(change.new, path)];
  const context = objectContext(parts);
  Object.assign(context, attemptContext(attempt), {
    reason: change.reason,
    gone: change.gone,
    old: deepFreeze(old),
    new: deepFreeze(now),
  });
  lazily(context, "step", change.step);
  // What was before is not known where it did not fit onto the object: then what has changed is not known either.
  const unknown = change.reason === "update" && change.old === undefined;
  lazily(context, "diff", () => (unknown ? [] : diff(old, now)));
  return context as ChangeContext<KubeBody>;
}

/** A property that costs nothing until it is looked at. */
function lazily(context: object, name: string, make: () => unknown): void {
  let made: { readonly value: unknown } | undefined;
  const get = () => {
    made ??= { value: make() };
    return made.value;
  };
  Object.defineProperty(context, name, { get, enumerable: true, configurable: true });
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
