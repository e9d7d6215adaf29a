/** The half of the client that only looks; {@link Client} adds the writes. */

import { builtinClass } from "../builtin/index.ts";
import {
  type Discovery,
  type KindDescription,
  type KubeBody,
  type ObjectBody,
  parseApiVersion,
  pathOf,
} from "../kinds/index.ts";
import { type Clock, untilAborted } from "../meta/index.ts";
import {
  type AnyObject,
  type ClientCore,
  findObject,
  type GetOptions,
  getObject,
  type KindClass,
  type KindLike,
  KubeObject,
  type ListOptions,
  listObjects,
  type ObjectClient,
  type ObjectList,
  type ObjectWatchOptions,
  readServerVersion,
  readTable,
  requestPart,
  type SelectOptions,
  type ServerVersion,
  Session,
  splitReference,
  type Table,
  type TableOptions,
  type View,
  type WaitCondition,
  type WaitOptions,
  type WaitSelection,
  type WatchOptions,
  waitFor,
  waitForMany,
  watchObjects,
} from "../objects/index.ts";
import { Informer, type InformerOptions, type Watch } from "../streams/index.ts";
import {
  type AnswerLimits,
  identify,
  type KnownUser,
  linkSignals,
  type RawRequest,
  type RawResponse,
  type Reachability,
  type RequestOptions,
  supportWarning,
  type WebSocketConnection,
  type WebSocketRequest,
} from "../transport/index.ts";

type Conditions<T extends AnyObject> = WaitCondition<T> | readonly WaitCondition<T>[];

/** Group, version and kind, as a manifest or a description names them. */
export type GroupVersionKind =
  | { readonly apiVersion: string; readonly kind: string }
  | { readonly group: string; readonly version: string; readonly kind: string };

/** What a client can see. */
export abstract class ClientReads {
  readonly #session: Session;

  protected constructor(core: ClientCore, view: View) {
    this.#session = new Session(this as unknown as ObjectClient, core, view);
  }

  protected get session(): Session {
    return this.#session;
  }

  /** Where this client is connected to. */
  get config(): ClientCore["access"] {
    return { ...this.#session.core.access, namespace: this.namespace };
  }

  /** Where namespaced objects are looked for when a call does not say. */
  get namespace(): string {
    return this.#session.view.namespace;
  }

  /** Time as this client sees it. */
  get clock(): Clock {
    return this.#session.core.clock;
  }

  /** Where those who wait for the server hear that it answers again; streams of this client listen there by themselves. */
  get reachability(): Reachability {
    return this.#session.core.reachability;
  }

  /** How much of the server's answers this client keeps in memory. */
  get limits(): AnswerLimits {
    return this.#session.core.limits;
  }

  /** Reads one object, also by kubectl's `deployment/web`; a NotFoundError when there is none. */
  get<T extends AnyObject>(kind: KindClass<T>, name: string, o?: GetOptions): Promise<T>;
  get(kind: KindDescription | string, name: string, o?: GetOptions): Promise<KubeObject>;
  get(reference: string, o?: GetOptions): Promise<KubeObject>;
  get(kind: KindLike, second?: string | GetOptions, third?: GetOptions): Promise<AnyObject> {
    if (typeof second === "string") return getObject(this.#session, kind, second, third ?? {});
    return this.#getReference(kind as string, second ?? {});
  }

  async #getReference(text: string, o: GetOptions): Promise<AnyObject> {
    const { kind, name } = splitReference(text);
    return getObject(this.#session, kind, name, o);
  }

  /** The one object that the selectors mean; a NotFoundError when there is none, an AmbiguousError with several. */
  find<T extends AnyObject>(kind: KindClass<T>, o: SelectOptions): Promise<T>;
  find(kind: KindDescription | string, o: SelectOptions): Promise<KubeObject>;
  async find(kind: KindLike, o: SelectOptions): Promise<AnyObject> {
    return findObject((options) => listObjects(this.#session, kind, options), await this.resolve(kind), o);
  }

  /** The objects of a kind, page by page. `namespace: "*"` means all namespaces. */
  list<T extends AnyObject>(kind: KindClass<T>, o?: ListOptions): ObjectList<T>;
  list(kind: KindDescription | string, o?: ListOptions): ObjectList<KubeObject>;
  list(kind: KindLike, o: ListOptions = {}): unknown {
    return listObjects(this.#session, kind, o);
  }

  /** What `kubectl get` prints: rows and columns, made by the server. */
  async table(kind: KindLike, o: TableOptions = {}): Promise<Table> {
    return readTable(this.#session, await this.resolve(kind), o);
  }

  /**
   * The changes of a kind's objects. Never ends by itself and survives what happens to connections; `break` closes it.
   *
   * @example
   * ```ts
   * for await (const { type, object } of client.watch(Pod)) console.log(type, object.name);
   * ```
   */
  watch<T extends AnyObject>(kind: KindClass<T>, o?: WatchOptions): Watch<T>;
  watch(kind: KindDescription | string, o?: WatchOptions): Watch<KubeObject>;
  watch(kind: KindLike, o: WatchOptions = {}): unknown {
    return watchObjects(this.#session, kind, o);
  }

  /** The changes of one object, which follows them: what `object.watch()` does. */
  watchObject<T extends AnyObject>(object: T, o: ObjectWatchOptions = {}): Watch<T> {
    const place = { namespace: object.namespace, fieldSelector: { "metadata.name": object.name } };
    const follow = ({ type, object: body }: { type: string; object: ObjectBody }) => {
      // What is known of a deletion may be the metadata alone; the last full state says more.
      if (type !== "DELETED") object.body = body;
    };
    return watchObjects(this.#session, classOf(object), { ...o, ...place }, follow) as unknown as Watch<T>;
  }

  /**
   * A local copy of a kind's objects that follows the cluster, with events and indexes.
   *
   * @example
   * ```ts
   * await using pods = client.informer(Pod, { namespace: "*", labelSelector: { app: "web" } });
   * await pods.synced;
   * pods.on("deleted", (pod) => console.log(pod.name, "is gone"));
   * console.log(pods.list().length, pods.get("web-1"));
   * ```
   */
  informer<T extends AnyObject>(kind: KindClass<T>, o?: InformerOptions<T>): Informer<T>;
  informer(kind: KindDescription | string, o?: InformerOptions<KubeObject>): Informer<KubeObject>;
  informer(kind: KindLike, o: InformerOptions<AnyObject> = {}): unknown {
    const wrap = (description: KindDescription) => (body: ObjectBody) => this.#session.wrap(kind, description, body);
    const { clock, random } = this.#session.core;
    return new Informer<AnyObject>(
      this,
      async () => {
        const description = await this.resolve(kind);
        return { kind: description, wrap: wrap(description) };
      },
      { namespace: this.namespace, ...o },
      { clock, random, signals: this.#session.view.signals },
    );
  }

  /** Waits until a condition holds; resolves with the object, or with all objects that the selectors mean. */
  wait<T extends AnyObject>(object: T, condition: Conditions<T>, o?: WaitOptions): Promise<T>;
  wait<T extends AnyObject>(
    kind: KindClass<T>,
    name: string,
    condition: Conditions<T>,
    o?: WaitOptions & { namespace?: string },
  ): Promise<T>;
  wait<T extends AnyObject>(
    kind: KindClass<T>,
    which: WaitSelection,
    condition: Conditions<T>,
    o?: WaitOptions,
  ): Promise<T[]>;
  wait(
    kind: KindDescription | string,
    name: string,
    condition: Conditions<KubeObject>,
    o?: WaitOptions & { namespace?: string },
  ): Promise<KubeObject>;
  wait(
    kind: KindDescription | string,
    which: WaitSelection,
    condition: Conditions<KubeObject>,
    o?: WaitOptions,
  ): Promise<KubeObject[]>;
  async wait(target: AnyObject | KindLike, ...rest: unknown[]): Promise<AnyObject | AnyObject[]> {
    const given = target instanceof KubeObject;
    const [which, condition, options] = given ? [undefined, rest[0], rest[1]] : rest;
    const { namespace, ...o } = (options ?? {}) as WaitOptions & { namespace?: string };
    const { signal, unlink } = linkSignals([...this.#session.view.signals, o.signal]);
    const patience = { timeout: o.timeout, signal, clock: this.clock };
    const conditions = condition as Conditions<AnyObject>;
    try {
      if (typeof which === "object")
        return await this.#waitForMany(target as KindLike, which ?? {}, conditions, patience);
      const object = given ? target : await this.#session.reference(target, which as string);
      const kind = await this.describe(object);
      const subject = { kind, name: object.name, namespace: this.#session.namespaceFor(kind, object, { namespace }) };
      const wrap = (body: ObjectBody) => this.#session.wrap(given ? classOf(object) : target, kind, body);
      const seen = await waitFor<AnyObject>(this, { ...subject, uid: object.uid }, conditions, wrap, patience);
      if (seen) object.body = seen.body;
      return object;
    } finally {
      unlink();
    }
  }

  async #waitForMany(
    target: KindLike,
    which: WaitSelection,
    conditions: Conditions<AnyObject>,
    patience: WaitOptions & { clock: Clock },
  ): Promise<AnyObject[]> {
    const kind = await this.resolve(target);
    const selection = { ...which, namespace: which.namespace ?? this.namespace };
    const wrap = (body: ObjectBody) => this.#session.wrap(target, kind, body);
    return waitForMany<AnyObject>(this, { kind, selection, wrap }, conditions, patience);
  }

  /**
   * The kinds that the server has; asked once, and again with `refresh`. Parts of the API that do not answer are named in
   * `failures`, and hide no others; it rejects only when nothing can be had at all.
   *
   * @example
   * ```ts
   * const { kinds, failures } = await client.discover();
   * for (const { apiVersion, message } of failures) console.error(`${apiVersion} does not answer: ${message}`);
   * ```
   */
  async discover(
    o: { readonly refresh?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Discovery> {
    const { signal, unlink } = linkSignals([...this.#session.view.signals, o.signal]);
    try {
      return await untilAborted(this.#session.core.registry.discover({ refresh: o.refresh }), signal);
    } finally {
      unlink();
    }
  }

  /**
   * The kind behind a name: `"po"`, `"Deployment"`, `"deployments.apps"`, `"deployment.v1.apps"`, `"apps/v1/deployments"`.
   * A name that is not known is looked up again, because its CustomResourceDefinition may be new.
   */
  resolve(kind: KindLike): Promise<KindDescription> {
    return this.#session.resolve(kind);
  }

  /** The kind of an object; asks the server only when the object's class does not know it. */
  describe(object: AnyObject): Promise<KindDescription> {
    return this.#session.describe(object);
  }

  /** The class for a kind: one of this view's, else a built-in one. */
  classFor(kind: GroupVersionKind): KindClass<AnyObject> | undefined {
    const wanted = "apiVersion" in kind ? { ...parseApiVersion(kind.apiVersion), kind: kind.kind } : kind;
    const own = this.#session.view.kinds.find(
      ({ description: d }) => d.group === wanted.group && d.version === wanted.version && d.kind === wanted.kind,
    );
    return own ?? builtinClass(wanted);
  }

  /** The body as an object of the class for its kind, or a plain {@link KubeObject} where there is none. Sends nothing. */
  object<T extends AnyObject = KubeObject>(body: KubeBody | ObjectBody): T {
    const { apiVersion, kind } = body;
    const Class = apiVersion && kind ? this.classFor({ apiVersion, kind }) : undefined;
    const client = this.#session.client;
    return (Class ? new Class(body, client) : new KubeObject(body, client)) as unknown as T;
  }

  /**
   * The path of a kind, of an object, or of a subresource, for `raw()`.
   *
   * @example
   * ```ts
   * client.path(Pod, { name: "web", subresource: "log" }); // "/api/v1/namespaces/default/pods/web/log"
   * ```
   */
  path(kind: KindClass<AnyObject> | KindDescription, o?: PathOptions): string;
  path(kind: string, o?: PathOptions): Promise<string>;
  path(kind: KindLike, o: PathOptions = {}): string | Promise<string> {
    if (typeof kind === "string") return this.resolve(kind).then((description) => this.path(description, o));
    const description = "description" in kind ? kind.description : kind;
    return pathOf(description, { ...o, namespace: o.namespace ?? this.namespace });
  }

  /** Who the server takes this client for; where it does not tell, who the credentials are for. */
  whoami(o: RequestOptions = {}): Promise<KnownUser> {
    const { core, view } = this.#session;
    const { credentials, headers } = core;
    return identify({ send: (request) => this.raw(request), credentials, headers: view.headers ?? headers }, o);
  }

  /**
   * The server's version: `(await client.version()).atLeast(1, 31)`. A server that this client is not made for is worth
   * a warning, once.
   */
  async version(o: RequestOptions = {}): Promise<ServerVersion> {
    const version = readServerVersion(await this.#session.json({ ...requestPart(o), method: "GET", path: "/version" }));
    const warning = supportWarning(version.gitVersion);
    if (warning !== undefined) this.#session.core.warnOnce(warning);
    return version;
  }

  /** Reads the credentials anew. A refused request does that by itself; this is for those who know better. */
  async reauthenticate(): Promise<void> {
    await this.#session.core.transport.reauthenticate?.();
  }

  /**
   * Any request, with this client's credentials, retries and errors.
   *
   * @example
   * ```ts
   * const response = await client.raw({ method: "GET", path: "/readyz", query: { verbose: true } });
   * console.log(await response.text());
   * ```
   */
  raw(request: RawRequest): Promise<RawResponse> {
    return this.#session.raw(request);
  }

  /** A WebSocket to the server. `exec`, `attach` and `portForward` of pods use it. */
  webSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
    return this.#session.webSocket(request);
  }
}

/** Which path. */
export interface PathOptions {
  /** Default: the client's; `"*"` for all. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The class of an object, or its kind where it has none. */
function classOf(object: AnyObject): KindLike {
  return object.constructor === KubeObject ? object.description : (object.constructor as KindClass<AnyObject>);
}
