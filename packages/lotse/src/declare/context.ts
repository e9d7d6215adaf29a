import type { Client, KindDescription, KubeBody, KubeObject, MergePatch, ObjectMeta } from "@lotse/client";
import type { Duration } from "@lotse/client/meta";
import type { Logger } from "../report/index.ts";
import type { Difference, Memo, Reason } from "./cause.ts";
import type { FieldPath, FieldValue } from "./field-path.ts";
import type { Indexes } from "./indexes.ts";
import type { DeepReadonly } from "./readonly.ts";
import type { CachedReads } from "./reads.ts";
import type { FixedSettings, Settings } from "./settings.ts";
import type { Step } from "./steps.ts";

type Part<B, Key extends string> = Key extends keyof B ? NonNullable<B[Key]> : Record<string, unknown>;

/**
 * Changes to the object, sent as one merge patch together with Lotse's own record when the handler is done.
 * `null` removes a field; lists are replaced as a whole.
 */
export type Patch<B> = MergePatch<Omit<B, "metadata" | "spec" | "status" | "apiVersion" | "kind">> & {
  readonly metadata: { labels: MergePatch<Record<string, string>>; annotations: MergePatch<Record<string, string>> };
  readonly spec: MergePatch<Part<B, "spec">>;
  readonly status: MergePatch<Part<B, "status">>;
  /**
   * Changes the newest body in place, for what a merge patch cannot say: one item of a list. May be called several
   * times, because it is tried again when another client was faster; so it must look before it changes.
   */
  transform(change: (body: B) => void): void;
};

/** The patch of a daemon, which can be written while the daemon runs on. */
export type LivePatch<B> = Patch<B> & {
  /**
   * Writes what is in the patch, and conditions that were set, now; afterwards the patch is empty. Rejects when the
   * server refuses it: then everything is still in the patch.
   */
  flush(): Promise<void>;
};

/** Something that can belong to the handled object: a client object or a plain manifest. */
export type Adoptable = KubeObject | KubeBody;

/** How children are adopted. */
export interface AdoptOptions {
  /** Templates inside the children that get the labels as well: `["spec.template"]`. */
  readonly nested?: readonly string[];
  /** Overwrite names, namespaces and labels that are there. */
  readonly forced?: boolean;
  /** Name the children exactly as the owner, without a generated suffix. */
  readonly strict?: boolean;
}

/** A condition as it is in the status; the server's form. */
export interface ConditionState {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** A condition as it is read from the status of an object. */
// An alias and no interface, so that it may stand for an object of any fields.
export type Condition = {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
  /** The generation that it speaks of. */
  readonly observedGeneration?: number;
};

/**
 * Kubernetes conditions of an object.
 *
 * @example
 * ```ts
 * conditions.set("Ready", true, "Published", "the rate is 1.08");
 * ```
 */
export interface Conditions {
  /** The time of the transition changes only when the status does. */
  set(type: string, status: boolean | "True" | "False" | "Unknown", reason: string, message?: string): void;
  remove(type: string): void;
  /** As it is now, with what was set in this attempt. */
  get(type: string): ConditionState | undefined;
}

/** What every handler of an object gets. */
export interface ObjectContext<B extends KubeBody, O = KubeObject<B>> extends CachedReads {
  /** The object with its verbs: `object.label({...})`, `object.delete()`, and those of its class: `object.exec([...])`. */
  readonly object: O;
  /** The object as the API server gave it. */
  readonly body: DeepReadonly<B>;
  readonly spec: DeepReadonly<Part<B, "spec">>;
  readonly status: DeepReadonly<Partial<Part<B, "status">>>;
  readonly meta: DeepReadonly<ObjectMeta>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
  /** The kind of the object. */
  readonly resource: KindDescription;
  /** Changes to the object, sent when the handler is done. */
  readonly patch: Patch<B>;
  /** In-memory notes for this object, shared by its handlers. */
  readonly memo: Memo;
  /** Its lines are about the object, and have the `runId`. */
  readonly logger: Logger;
  /** The id of this run: in each of its log lines, in its span, and in `lotse explain`. Another attempt has another one. */
  readonly runId: string;
  /** A client whose default namespace is the object's; its calls end with `signal`. */
  readonly client: Client;
  /** Aborts when the attempt should end: deletion, timeout, shutdown, another replica takes over (`signal.reason.why`). */
  readonly signal: AbortSignal;
  readonly param: unknown;
  /** How the operator works. */
  readonly settings: FixedSettings;
  /** The operator's indexes: `indexes(podsByNode).get("node-1")`. */
  readonly indexes: Indexes;
  /** Makes children belong to this object: owner reference, namespace and name prefix. Returns what it was given. */
  adopt<T extends Adoptable | readonly Adoptable[]>(children: T, options?: AdoptOptions): T;
  /** Kubernetes conditions of the object: transition times and `observedGeneration` are kept for you. */
  readonly conditions: Conditions;
  /** Posts a Kubernetes Event about the object, or about others: `info("Published", "the rate is 1.08")`. */
  info(reason: string, message: string, about?: Adoptable | readonly Adoptable[]): void;
  /** Posts a Kubernetes Event that warns; an error says its own message. */
  warn(reason: string, message: string | Error, about?: Adoptable | readonly Adoptable[]): void;
  /** Waits; ends early, by throwing the signal's reason, when the attempt should end. Follows the clock of tests. */
  sleep(duration: Duration): Promise<void>;
}

/** What a handler that may be tried again gets. */
export interface AttemptContext {
  /** How many attempts there were before this one. */
  readonly retry: number;
  /** When the first attempt began. */
  readonly started: Date;
  /** Milliseconds since then. */
  readonly runtime: number;
}

/** What `on.create`, `on.update`, `on.delete` and `on.resume` handlers get. */
export interface ChangeContext<B extends KubeBody, O = KubeObject<B>> extends ObjectContext<B, O>, AttemptContext {
  readonly reason: Reason;
  /** What users wanted of the object before; undefined at creation. */
  readonly old: DeepReadonly<Partial<B>> | undefined;
  /** What users want of it now. */
  readonly new: DeepReadonly<Partial<B>> | undefined;
  readonly diff: readonly Difference[];
  /** Durable sub-steps: each runs once for this change. */
  readonly step: Step;
  /** The object is gone already: an optional delete handler has only its last known state. */
  readonly gone: boolean;
}

/** What handlers of changes get when they name a `field`: the change is reduced to it. */
export interface FieldContext<B extends KubeBody, F extends FieldPath, O = KubeObject<B>>
  extends Omit<ChangeContext<B, O>, "old" | "new"> {
  /** What the field was before; undefined when it was not there. */
  readonly old: DeepReadonly<FieldValue<B, F>> | undefined;
  /** What the field is now; undefined when it is not there. */
  readonly new: DeepReadonly<FieldValue<B, F>> | undefined;
}

/** What `on.event` handlers get: the raw stream. */
export interface EventContext<B extends KubeBody, O = KubeObject<B>> extends ObjectContext<B, O> {
  /** The event's type; undefined for objects that were there when the operator started. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | undefined;
  readonly event: { readonly type: "ADDED" | "MODIFIED" | "DELETED" | undefined; readonly object: DeepReadonly<B> };
}

/**
 * What `on.failure` handlers get: a handler, timer, daemon or reconciler of the object has failed for good, and will not
 * be tried again before a user or another client changes the object.
 *
 * @example
 * ```ts
 * operator.on.failure(Machine, async function alert({ name, handler, error }) {
 *   await pager.send(`${handler} gave up on ${name}: ${error.message}`);
 * });
 * ```
 */
export interface FailureContext<B extends KubeBody, O = KubeObject<B>> extends ObjectContext<B, O> {
  /** The id of who failed. */
  readonly handler: string;
  /** Why it was called. */
  readonly reason: Reason | "timer" | "daemon" | "reconcile";
  /** What it failed with. */
  readonly error: Error;
  /** How often it was tried. */
  readonly attempts: number;
}

/** What timers get. */
export interface TimerContext<B extends KubeBody, O = KubeObject<B>> extends ObjectContext<B, O>, AttemptContext {}

/**
 * What daemons get. `body`, `spec`, `status`, `meta`, `labels` and `annotations` are live: they always show the newest
 * state, also when they were taken out of the context long ago.
 */
export interface DaemonContext<B extends KubeBody, O = KubeObject<B>>
  extends Omit<ObjectContext<B, O>, "patch">,
    AttemptContext {
  /** Changes to the object, sent when the daemon ends, and by `await patch.flush()` in between. */
  readonly patch: LivePatch<B>;
}

/** What `on.login` handlers get. */
export interface LoginContext extends AttemptContext {
  readonly logger: Logger;
  /** The id of this run: in each of its log lines, and in its span. Another attempt has another one. */
  readonly runId: string;
  readonly memo: Memo;
  readonly signal: AbortSignal;
  readonly settings: FixedSettings;
  readonly param: unknown;
}

/** What `on.startup`, `on.cleanup`, `on.lead`, `on.follow` and `on.probe` handlers get. */
export interface ActivityContext extends AttemptContext {
  readonly client: Client;
  readonly logger: Logger;
  /** The id of this run: in each of its log lines, and in its span. Another attempt has another one. */
  readonly runId: string;
  /** Notes of the operator: each object's `memo` begins with what is in it. */
  readonly memo: Memo;
  readonly signal: AbortSignal;
  /** How the operator works; `on.startup` handlers may change it. */
  readonly settings: Settings;
  readonly param: unknown;
  /** The operator's indexes; empty before it has started. */
  readonly indexes: Indexes;
  /** Which of them this is. */
  readonly activity: "startup" | "cleanup" | "probe" | "lead" | "follow";
}

/** Why an attempt's signal was aborted: the `reason` of {@link ObjectContext.signal}. */
export class Aborted extends Error {
  override readonly name = "Aborted";
  /** `ownership`: another process of the operator works on the object from now on, or may do so. */
  readonly why: "deletion" | "mismatch" | "timeout" | "shutdown" | "superseded" | "ownership";

  constructor(why: Aborted["why"], message: string) {
    super(message);
    this.why = why;
  }
}
