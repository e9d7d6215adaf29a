import type { Access, Credentials } from "../config/index.ts";
import type { KindDescription, KindRegistry, KubeBody } from "../kinds/index.ts";
import type { Clock, Duration } from "../meta/index.ts";
import type { AnswerLimits, Reachability, RequestAttempt, RequestHeaders, Transport } from "../transport/index.ts";
import type { AnyObject, KindClass, KubeObject } from "./object.ts";

/** A kind as callers name it: a class, a description, or a text in any of kubectl's spellings. */
export type KindLike = KindClass<AnyObject> | KindDescription | string;

/** The objects of a kind: those of its class, or of any kind where it is only named. */
export type ObjectOf<K> = K extends KindClass<infer T> ? T : KubeObject;

/** What may be written of a kind: what its class takes, else anything. */
export type Written<K> = K extends new (body: infer Body, ...rest: never[]) => AnyObject ? Body : KubeBody;

/** What was done to an object. */
export type WriteVerb = "create" | "patch" | "apply" | "replace" | "delete";

/** Hears the body that the server answered a successful write with. */
export type WriteListener = (body: KubeBody, verb: WriteVerb, description: KindDescription) => void;

/** A request before it is sent; `websocket` for those that open one, such as exec. */
export interface AnnouncedRequest {
  readonly method: string;
  readonly path: string;
  readonly watch: boolean;
  readonly websocket: boolean;
}

/** Hears what becomes of one request. */
export interface RequestFollower {
  /** It has gone to the server: once, and again for each repetition. */
  attempted?(attempt: RequestAttempt): void;
  /** The caller has its answer, or its error. A stream has begun by then, and a WebSocket is open. */
  ended?(end: { readonly status: number } | { readonly error: unknown }): void;
}

/** Hears of each request before it is sent, and may follow it to its end. */
// biome-ignore lint/suspicious/noConfusingVoidType: most only listen, and return nothing
export type RequestListener = (request: AnnouncedRequest) => RequestFollower | void;

/**
 * Asked right before a write leaves the process, and again before each repetition of it; what it throws is what the caller
 * gets, and nothing is sent.
 */
export type WriteGuard = (request: Omit<AnnouncedRequest, "watch">) => void;

/** What a view of a client may do differently. */
export interface ViewOptions {
  readonly namespace?: string | undefined;
  /** Aborts every request made through the view. */
  readonly signal?: AbortSignal | undefined;
  readonly fieldManager?: string | undefined;
  readonly onWrite?: WriteListener | undefined;
  readonly onRequest?: RequestListener | undefined;
  /** Whether writes may leave at all. All guards of a view and of those that it was made from are asked. */
  readonly guard?: WriteGuard | undefined;
  /** For each call that does not say. */
  readonly timeout?: Duration | undefined;
  /** Classes for `client.object()` and `client.classFor()`: own kinds, and own classes for built-in ones. */
  readonly kinds?: readonly KindClass<AnyObject>[] | undefined;
}

/** Shared by a client and all of its views. */
export interface ClientCore {
  readonly access: Omit<Access, "credentials" | "headers">;
  readonly transport: Transport;
  readonly reachability: Reachability;
  readonly registry: KindRegistry;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: AnswerLimits;
  readonly credentials: Credentials;
  /** Hears what is doubtful; the same text once. */
  readonly warnOnce: (message: string) => void;
  /** Sent with each request: impersonation by the kubeconfig. */
  readonly headers: RequestHeaders;
}

/** What a view does by itself. */
export interface View {
  readonly namespace: string;
  readonly fieldManager: string;
  readonly signals: readonly AbortSignal[];
  readonly listeners: readonly WriteListener[];
  readonly requestListeners?: readonly RequestListener[] | undefined;
  readonly guards?: readonly WriteGuard[] | undefined;
  readonly timeout?: Duration | undefined;
  readonly headers?: RequestHeaders | undefined;
  readonly kinds: readonly KindClass<AnyObject>[];
}
