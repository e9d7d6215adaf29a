/** Builds what handlers get. Views are made when they are asked for: most handlers look at two or three of them. */
import { type Client, type KindClass, type KindDescription, type KubeBody, KubeObject } from "@lotse/client";
import { deepClone, diff } from "@lotse/client/meta";
import {
  type AttemptContext,
  type ChangeContext,
  type DaemonContext,
  type DeepReadonly,
  deepFreeze,
  type EventContext,
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
import { adopt, type Children } from "./hierarchies.ts";
import type { RawEvent } from "./memory.ts";

/** What a context is made of. */
export interface ContextParts {
  readonly body: KubeBody;
  readonly kind: KindDescription;
  /** The user's class, where the resource was declared by one. */
  readonly kindClass: KindClass | undefined;
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly memo: Memo;
  readonly param: unknown;
  readonly patch: Patch<KubeBody>;
  readonly indexes: Indexes;
  readonly settings: FixedSettings;
  readonly conditions: ConditionsDraft;
  /** Posts a Kubernetes Event about the object. */
  readonly post: (type: "Normal" | "Warning", reason: string, message: string) => void;
}

const NOTHING: Readonly<Record<string, never>> = Object.freeze({});

/** What every handler of an object gets. */
export function objectContext(parts: ContextParts): ObjectContext<KubeBody> {
  const { body, kind, client, signal, logger, memo, param, patch, indexes, settings, conditions, post } = parts;
  const frozen = deepFreeze(body);
  const metadata = frozen.metadata ?? NOTHING;
  return {
    get object() {
      const own = deepClone(body);
      return parts.kindClass ? new parts.kindClass(own, client) : new KubeObject(own, client, kind);
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
    patch,
    memo,
    logger,
    client,
    signal,
    param,
    indexes,
    settings,
    adopt: (children, options) => adopt(children as Children, { ...options, owner: { body, kind } }) as typeof children,
    conditions,
    info: (reason, message) => post("Normal", reason, message),
    warn: (reason, message) => post("Warning", reason, message),
  };
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
    readonly step: Step;
  },
): ChangeContext<KubeBody> {
  const path = change.field === undefined ? [] : fieldKeys(change.field);
  const [old, now] = [valueAt(change.old, path), valueAt(change.new, path)];
  const context = {
    ...attemptContext(attempt),
    reason: change.reason,
    step: change.step,
    old: deepFreeze(old),
    new: deepFreeze(now),
    get diff() {
      return diff(old, now);
    },
  };
  return extend(objectContext(parts), context) as unknown as ChangeContext<KubeBody>;
}

/** For timers. */
export function timerContext(parts: ContextParts, attempt: AttemptParts): TimerContext<KubeBody> {
  return extend(objectContext(parts), attemptContext(attempt));
}

/** For daemons: the parts of the object are live. */
export function daemonContext(
  parts: ContextParts,
  attempt: AttemptParts,
  newest: () => KubeBody,
): DaemonContext<KubeBody> {
  const live = (...path: string[]) => liveView(() => valueAt(newest(), path));
  return extend(objectContext(parts), {
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

/** For `on.event`. */
export function eventContext(parts: ContextParts, event: RawEvent): EventContext<KubeBody> {
  const object = deepFreeze(event.body) as DeepReadonly<KubeBody>;
  return extend(objectContext(parts), { type: event.type, event: { type: event.type, object } });
}

/** `base` with the properties of `more`, getters kept as getters. */
function extend<A extends object, B extends object>(base: A, more: B): A & B {
  return Object.defineProperties(base, Object.getOwnPropertyDescriptors(more)) as A & B;
}
