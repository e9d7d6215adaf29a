/** What every verb needs: requests of one view, and where objects are. */
import {
  allNamespaces,
  apiVersionOf,
  type KindDescription,
  type KubeBody,
  type ObjectBody,
  pathOf,
} from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import {
  linkSignals,
  type RawRequest,
  type RawResponse,
  type WebSocketConnection,
  type WebSocketRequest,
} from "../transport/index.ts";
import { UnsupportedError } from "./errors.ts";
import { type AnyObject, KubeObject, type ObjectClient } from "./object.ts";
import type { ClientCore, KindLike, RequestFollower, RequestListener, View, WriteVerb } from "./view.ts";

interface InNamespace {
  readonly namespace?: string | undefined;
}

const SWITCHING_PROTOCOLS = 101;

const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** What is asked by creating an object that the server does not keep. */
const QUESTIONS = /^\/apis\/(?:authorization|authentication)\.k8s\.io\//;

/** Whether a request may change something in the cluster. */
function isWrite(method: string, path: string): boolean {
  return !READING_METHODS.has(method) && !QUESTIONS.test(path);
}

/** Tells the followers, and the caller that asked for it with the request itself. */
function attemptListener(followers: readonly RequestFollower[], { onAttempt }: RawRequest): RawRequest["onAttempt"] {
  return (attempt) => {
    for (const one of followers) one.attempted?.(attempt);
    onAttempt?.(attempt);
  };
}

/** What a class or a description says by itself. */
export function describedBy(kind: Exclude<KindLike, string>): KindDescription {
  return "description" in kind ? kind.description : kind;
}

/** One view of a client at work; the client itself is its face. */
export class Session {
  readonly core: ClientCore;
  readonly view: View;
  readonly client: ObjectClient;

  constructor(client: ObjectClient, core: ClientCore, view: View) {
    this.client = client;
    this.core = core;
    this.view = view;
  }

  /** Sends a request as this view sends it. Most views have nothing to add but a signal: those cost nothing more. */
  raw(request: RawRequest): Promise<RawResponse> {
    const { view } = this;
    const [only, second] = view.signals;
    const linked = second !== undefined || (only !== undefined && request.signal !== undefined);
    if (linked || view.requestListeners || view.guards) return this.#rawWatched(request);
    return this.core.transport.request(this.#asSent(request, request.signal ?? only, request));
  }

  async #rawWatched(request: RawRequest): Promise<RawResponse> {
    const { requestListeners } = this.view;
    const followers = requestListeners && this.#announce(requestListeners, request, false);
    // Most requests have one signal or none: then there is nothing to link, and nothing to take off again.
    const { signal, unlink } = this.#signals(request.signal);
    const guard = this.#guard(request, request.method, false);
    const beforeSend = guard ?? request.beforeSend;
    const onAttempt = followers ? attemptListener(followers, request) : request.onAttempt;
    try {
      // A refusal says more than that the caller was told to end, which may be why.
      if (signal?.aborted) guard?.();
      const response = await this.core.transport.request(this.#asSent(request, signal, { beforeSend, onAttempt }));
      if (followers) for (const one of followers) one.ended?.({ status: response.status });
      if (unlink && request.stream) response.body.once("close", unlink);
      else unlink?.();
      return response;
    } catch (error) {
      if (followers) for (const one of followers) one.ended?.({ error });
      unlink?.();
      throw error;
    }
  }

  #signals(own: AbortSignal | undefined): {
    readonly signal: AbortSignal | undefined;
    readonly unlink: (() => void) | undefined;
  } {
    const { signals } = this.view;
    const [only] = signals;
    if (only === undefined) return { signal: own, unlink: undefined };
    if (signals.length === 1 && (own === undefined || own === only)) return { signal: only, unlink: undefined };
    return linkSignals([...signals, own]);
  }

  /** Written out, so that all requests look alike to the engine that runs this. */
  #asSent(
    request: RawRequest,
    signal: AbortSignal | undefined,
    { beforeSend, onAttempt }: Pick<RawRequest, "beforeSend" | "onAttempt">,
  ): RawRequest {
    const { method, path, query, body, retry, stream, anyStatus } = request;
    const own = this.view.headers;
    const headers = own && request.headers ? { ...own, ...request.headers } : (own ?? request.headers);
    const timeout = request.timeout ?? (stream ? undefined : this.view.timeout);
    return { method, path, query, headers, body, signal, timeout, retry, stream, anyStatus, beforeSend, onAttempt };
  }

  /** Opens a WebSocket with the view's signals and headers. */
  async webSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
    const { transport } = this.core;
    if (!transport.webSocket) {
      throw new UnsupportedError("the transport of this client has no WebSockets", {
        hint: "exec, attach and port-forward need the client's own transport over HTTP",
      });
    }
    const { requestListeners } = this.view;
    const followers = requestListeners && this.#announce(requestListeners, { method: "GET", path: request.path }, true);
    const { signal, unlink } = linkSignals([...this.view.signals, request.signal]);
    const { headers } = this.view;
    const beforeSend = this.#guard(request, "GET", true);
    try {
      const connection = await transport.webSocket({
        ...request,
        ...(beforeSend && { beforeSend }),
        ...(headers && { headers }),
        ...(signal && { signal }),
      });
      connection.closed.then(unlink, unlink);
      for (const one of followers ?? []) one.ended?.({ status: SWITCHING_PROTOCOLS });
      return connection;
    } catch (error) {
      for (const one of followers ?? []) one.ended?.({ error });
      unlink();
      throw error;
    }
  }

  /** Asks the guards of the view; undefined where there are none, or nothing is written. */
  #guard(
    { path, beforeSend }: Pick<RawRequest, "path" | "beforeSend">,
    method: string,
    websocket: boolean,
  ): (() => void) | undefined {
    const { guards } = this.view;
    if (!guards || !(websocket || isWrite(method, path))) return undefined;
    return () => {
      for (const guard of guards) guard({ method, path, websocket });
      beforeSend?.();
    };
  }

  /** Those who want to hear what becomes of the request; undefined when there are none. */
  #announce(
    listeners: readonly RequestListener[],
    { method, path, query }: Pick<RawRequest, "path" | "query"> & { readonly method: string },
    websocket: boolean,
  ): RequestFollower[] | undefined {
    const watch = query?.watch !== undefined && query.watch !== false;
    const announced = { method, path, watch, websocket };
    let followers: RequestFollower[] | undefined;
    for (const listener of listeners) {
      const follower = listener(announced);
      if (follower === undefined) continue;
      followers ??= [];
      followers.push(follower);
    }
    return followers;
  }

  async json(request: RawRequest): Promise<KubeBody> {
    return (await this.raw(request)).json<KubeBody>();
  }

  async resolve(kind: KindLike): Promise<KindDescription> {
    return typeof kind === "string" ? this.core.registry.resolve(kind) : describedBy(kind);
  }

  async describe(object: AnyObject): Promise<KindDescription> {
    if (object.hasDescription) return object.description;
    const { apiVersion = "", kind = "" } = object.body;
    if (apiVersion === "" || kind === "") return object.description;
    return this.core.registry.resolveManifest({ apiVersion, kind });
  }

  wrap(kind: KindLike, description: KindDescription, body: ObjectBody): AnyObject {
    if (typeof kind === "function") return new kind(body, this.client);
    return new KubeObject(body, this.client, description);
  }

  object(input: AnyObject | KubeBody): AnyObject {
    return input instanceof KubeObject ? input : new KubeObject(input, this.client);
  }

  /** An object of which only the name is known. */
  async reference(kind: KindLike, name: string, namespace?: string): Promise<AnyObject> {
    const description = await this.resolve(kind);
    return this.wrap(kind, description, {
      apiVersion: apiVersionOf(description),
      kind: description.kind,
      metadata: { name, ...(namespace !== undefined && description.namespaced && { namespace }) },
    });
  }

  path(description: KindDescription, name: string, o: InNamespace & { readonly subresource?: string | undefined }) {
    const namespace = o.namespace ?? this.view.namespace;
    if (description.namespaced && namespace === allNamespaces) {
      throw new ConfigError(`${description.kind} ${name}: one object lives in one namespace, not in "*"`, {
        hint: "name the namespace, or list with a field selector",
      });
    }
    return pathOf(description, { namespace, name, subresource: o.subresource });
  }

  namespaceFor(description: KindDescription, object: AnyObject, o: InNamespace): string | undefined {
    return description.namespaced ? (o.namespace ?? object.metadata.namespace ?? this.view.namespace) : undefined;
  }

  /** Sends a write; the object becomes what the server answered. */
  async write(
    verb: WriteVerb,
    object: AnyObject,
    description: KindDescription,
    request: RawRequest,
  ): Promise<AnyObject> {
    const body = await (await this.raw(request)).json<KubeBody>();
    object.withClient(this.client);
    // Some subresources answer with a kind of their own, such as Scale: that is not the object.
    if (body.kind !== undefined && body.kind !== description.kind) return object;
    object.body = body;
    if (request.query?.dryRun === undefined) this.tell(body, verb, description);
    return object;
  }

  tell(body: KubeBody, verb: WriteVerb, description: KindDescription): void {
    for (const listener of this.view.listeners) listener(body, verb, description);
  }
}
