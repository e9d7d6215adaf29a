import {
  allNamespaces,
  apiVersionOf,
  type Discovery,
  type KindDescription,
  type KubeBody,
  type ObjectBody,
  pathOf,
} from "../kinds/index.ts";
import {
  ConfigError,
  durationMs,
  formatFieldSelector,
  formatLabelSelector,
  type JsonPatchOperation,
} from "../meta/index.ts";
import {
  linkSignals,
  NotFoundError,
  PATCH_MEDIA_TYPE,
  type RawRequest,
  type RawResponse,
  type RequestOptions,
} from "../transport/index.ts";
import type { ConnectOptions } from "./connect.ts";
import { createMany } from "./create-many.ts";
import { ObjectList } from "./list.ts";
import { type KindClass, KubeObject } from "./object.ts";
import type {
  ApplyOptions,
  CreateManyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  ReplaceOptions,
  WatchOptions,
} from "./options.ts";
import {
  forCreation,
  patchTypeOf,
  readDeleteOptions,
  readPage,
  readWriteQuery,
  requestPart,
  type ServerVersion,
  type UserInfo,
} from "./requests.ts";
import type { ClientCore, KindLike, View, ViewOptions, WriteVerb } from "./view.ts";
import { type WaitCondition, type WaitOptions, waitFor } from "./wait.ts";
import { Watch } from "./watch.ts";

type AnyObject = KubeObject<ObjectBody>;

/**
 * Talks to one Kubernetes API server.
 *
 * @example
 * ```ts
 * import { Client, ConfigMap, Pod } from "@lotse/client";
 *
 * await using client = await Client.connect();
 * for await (const pod of client.list(Pod, { namespace: "*" })) console.log(pod.namespace, pod.name);
 *
 * const settings = await client.create(ConfigMap.gen({ name: "settings", data: { color: "blue" } }));
 * await settings.patch({ data: { color: "green" } });
 * await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
 * await client.wait("deploy", "web", "condition=Available", { timeout: "2m" });
 * ```
 */
export class Client {
  static #default: Promise<Client> | undefined;

  readonly #core: ClientCore;
  readonly #view: View;

  private constructor(core: ClientCore, view: View) {
    this.#core = core;
    this.#view = view;
  }

  /**
   * Finds the server and the credentials: the options, the kubeconfig, or the pod's service account. Sends nothing.
   *
   * @example
   * ```ts
   * const staging = await Client.connect({ context: "staging", namespace: "team-a" });
   * ```
   */
  static async connect(o: ConnectOptions = {}): Promise<Client> {
    const { openCore } = await import("./connect.ts");
    const { core, fieldManager } = await openCore(o);
    return new Client(core, { namespace: core.access.namespace, fieldManager, signals: [], listeners: [] });
  }

  /** The client of objects that were given none: `Client.connect()`, once for the process. */
  static default(): Promise<Client> {
    if (Client.#default === undefined) {
      const connecting = Client.connect();
      Client.#default = connecting;
      connecting.catch(() => {
        if (Client.#default === connecting) Client.#default = undefined;
      });
    }
    return Client.#default;
  }

  /** Replaces the default client; `undefined` lets the next use connect anew. */
  static setDefault(client: Client | undefined): void {
    Client.#default = client === undefined ? undefined : Promise.resolve(client);
  }

  /** Where this client is connected to. */
  get config(): ClientCore["access"] {
    return { ...this.#core.access, namespace: this.#view.namespace };
  }

  /** Where namespaced objects are looked for when a call does not say. */
  get namespace(): string {
    return this.#view.namespace;
  }

  /** A cheap view that shares connections and discovery. Signals and listeners add to those of this view. */
  with(o: ViewOptions): Client {
    return new Client(this.#core, {
      namespace: o.namespace ?? this.#view.namespace,
      fieldManager: o.fieldManager ?? this.#view.fieldManager,
      signals: o.signal ? [...this.#view.signals, o.signal] : this.#view.signals,
      listeners: o.onWrite ? [...this.#view.listeners, o.onWrite] : this.#view.listeners,
      timeout: o.timeout ?? this.#view.timeout,
    });
  }

  /** The same client in another namespace. */
  inNamespace(namespace: string): Client {
    return this.with({ namespace });
  }

  /** Reads one object; a NotFoundError when there is none. */
  get<T extends AnyObject>(kind: KindClass<T>, name: string, o?: GetOptions): Promise<T>;
  get(kind: KindDescription | string, name: string, o?: GetOptions): Promise<KubeObject>;
  async get(kind: KindLike, name: string, o: GetOptions = {}): Promise<AnyObject> {
    const description = await this.resolve(kind);
    const path = this.#path(description, name, o);
    return this.#wrap(kind, description, await this.#json({ ...requestPart(o), method: "GET", path }));
  }

  /** The objects of a kind, page by page. `namespace: "*"` means all namespaces. */
  list<T extends AnyObject>(kind: KindClass<T>, o?: ListOptions): ObjectList<T>;
  list(kind: KindDescription | string, o?: ListOptions): ObjectList<KubeObject>;
  list(kind: KindLike, o: ListOptions = {}): unknown {
    let description: KindDescription | undefined;
    return new ObjectList<AnyObject>(
      async ({ continueToken, limit }) => {
        description = await this.resolve(kind);
        const path = pathOf(description, { namespace: o.namespace ?? this.namespace });
        const query = {
          limit: limit ?? o.pageSize ?? 500,
          continue: continueToken,
          labelSelector: formatLabelSelector(o.labelSelector) || undefined,
          fieldSelector: formatFieldSelector(o.fieldSelector) || undefined,
          // A continue token already says which version it is about.
          resourceVersion: continueToken === undefined ? o.resourceVersion : undefined,
        };
        return readPage(await this.#json({ ...requestPart(o), method: "GET", path, query }), description);
      },
      (body) => this.#wrap(kind, description as KindDescription, body),
    );
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
    const { clock, random } = this.#core;
    const { namespace = this.namespace, labelSelector, fieldSelector, initial = "list", onState } = o;
    const inactivityMs = o.inactivity === undefined ? undefined : durationMs(o.inactivity);
    const subject = async () => {
      const description = await this.resolve(kind);
      return { kind: description, wrap: (body: ObjectBody) => this.#wrap(kind, description, body) };
    };
    const signals = [...this.#view.signals, o.signal];
    const what = { namespace, labelSelector, fieldSelector, initial };
    return new Watch<AnyObject>(this, subject, { ...what, signals, onState, inactivityMs, clock, random });
  }

  /**
   * Creates one object, or many: Namespaces and CustomResourceDefinitions first, the rest side by side; an
   * AggregateError holds every failure. Each object's `body` becomes what the server answered.
   */
  create<T extends AnyObject>(object: T, o?: CreateOptions): Promise<T>;
  create<T extends AnyObject>(objects: readonly T[], o?: CreateManyOptions): Promise<T[]>;
  create(body: KubeBody, o?: CreateOptions): Promise<KubeObject>;
  async create(input: AnyObject | KubeBody | readonly AnyObject[], o: CreateManyOptions = {}): Promise<unknown> {
    if (Array.isArray(input)) return createMany(input as AnyObject[], o, (object) => this.create(object, o));
    const object = this.#object(input as AnyObject | KubeBody);
    const description = await this.describe(object);
    const path = pathOf(description, { namespace: this.#namespaceFor(description, object, o) });
    return this.#write("create", object, description, {
      ...requestPart(o),
      method: "POST",
      path,
      query: readWriteQuery(o, this.#view.fieldManager),
      body: forCreation(object.body),
    });
  }

  /** Server-side apply: the server merges what this manager wants with what others want. */
  apply<T extends AnyObject>(object: T, o?: ApplyOptions): Promise<T>;
  apply(body: KubeBody, o?: ApplyOptions): Promise<KubeObject>;
  async apply(input: AnyObject | KubeBody, o: ApplyOptions = {}): Promise<AnyObject> {
    const object = this.#object(input);
    const description = await this.describe(object);
    const namespace = this.#namespaceFor(description, object, o);
    const manifest = object.toManifest() as KubeBody;
    if (o.subresource === "status") manifest.status = object.status;
    return this.#write("apply", object, description, {
      ...requestPart(o),
      method: "PATCH",
      path: pathOf(description, { namespace, name: object.name, subresource: o.subresource }),
      query: { ...readWriteQuery(o, this.#view.fieldManager), force: o.force },
      headers: { "content-type": PATCH_MEDIA_TYPE.apply },
      body: manifest,
    });
  }

  /** A merge patch, or JSON patch operations when it is an array. */
  patch<T extends AnyObject>(object: T, patch: object, o?: PatchOptions): Promise<T>;
  patch<T extends AnyObject>(kind: KindClass<T>, name: string, patch: object, o?: PatchOptions): Promise<T>;
  patch(
    kind: KindDescription | string,
    name: string,
    patch: object | readonly JsonPatchOperation[],
    o?: PatchOptions,
  ): Promise<KubeObject>;
  async patch(
    target: AnyObject | KindLike,
    second: string | object,
    third?: object,
    fourth?: PatchOptions,
  ): Promise<AnyObject> {
    const { object, description, body, o } = await this.#patchTarget(target, second, third, fourth);
    const namespace = this.#namespaceFor(description, object, o);
    return this.#write("patch", object, description, {
      ...requestPart(o),
      method: "PATCH",
      path: pathOf(description, { namespace, name: object.name, subresource: o.subresource }),
      query: readWriteQuery(o, this.#view.fieldManager),
      headers: { "content-type": PATCH_MEDIA_TYPE[patchTypeOf(body, o)] },
      body,
    });
  }

  /** Puts the object in the place of what the server has; a ConflictError when that is newer. */
  replace<T extends AnyObject>(object: T, o?: ReplaceOptions): Promise<T>;
  replace(body: KubeBody, o?: ReplaceOptions): Promise<KubeObject>;
  async replace(input: AnyObject | KubeBody, o: ReplaceOptions = {}): Promise<AnyObject> {
    const object = this.#object(input);
    const description = await this.describe(object);
    const namespace = this.#namespaceFor(description, object, o);
    return this.#write("replace", object, description, {
      ...requestPart(o),
      method: "PUT",
      path: pathOf(description, { namespace, name: object.name, subresource: o.subresource }),
      query: readWriteQuery(o, this.#view.fieldManager),
      body: object.body,
    });
  }

  /** Deletes an object. `wait` resolves only when it is gone. */
  delete(object: AnyObject, o?: DeleteOptions): Promise<void>;
  delete(kind: KindLike, name: string, o?: DeleteOptions): Promise<void>;
  async delete(target: AnyObject | KindLike, second?: string | DeleteOptions, third?: DeleteOptions): Promise<void> {
    const given = target instanceof KubeObject;
    const o = (given ? (second as DeleteOptions | undefined) : third) ?? {};
    const object = given ? target : await this.#reference(target, second as string);
    const description = await this.describe(object);
    const path = this.#path(description, object.name, { namespace: this.#namespaceFor(description, object, o) });
    try {
      const body = await this.#json({ ...requestPart(o), method: "DELETE", path, body: readDeleteOptions(o) });
      if (!o.dryRun) for (const listener of this.#view.listeners) listener(body, "delete", description);
    } catch (error) {
      if (!(error instanceof NotFoundError && o.ignoreNotFound)) throw error;
      return;
    }
    if (o.wait === undefined || o.wait === false || o.dryRun) return;
    await this.wait(object, "delete", { signal: o.signal, timeout: o.wait === true ? undefined : o.wait });
  }

  /** Waits until a condition holds; resolves with the object. */
  wait<T extends AnyObject>(
    object: T,
    condition: WaitCondition<T> | readonly WaitCondition<T>[],
    o?: WaitOptions,
  ): Promise<T>;
  wait<T extends AnyObject>(
    kind: KindClass<T>,
    name: string,
    condition: WaitCondition<T> | readonly WaitCondition<T>[],
    o?: WaitOptions & { namespace?: string },
  ): Promise<T>;
  wait(
    kind: KindDescription | string,
    name: string,
    condition: WaitCondition | readonly WaitCondition[],
    o?: WaitOptions & { namespace?: string },
  ): Promise<KubeObject>;
  async wait(target: AnyObject | KindLike, ...rest: unknown[]): Promise<AnyObject> {
    const given = target instanceof KubeObject;
    const [name, condition, options] = given ? [undefined, rest[0], rest[1]] : rest;
    const o = (options ?? {}) as WaitOptions & { namespace?: string };
    const object = given ? target : await this.#reference(target, name as string);
    const kind = await this.describe(object);
    const { signal, unlink } = linkSignals([...this.#view.signals, o.signal]);
    const seen = await waitFor<AnyObject>(
      this,
      { kind, name: object.name, namespace: this.#namespaceFor(kind, object, o), uid: object.uid },
      condition as WaitCondition<AnyObject> | WaitCondition<AnyObject>[],
      (body) => this.#wrap(given ? (object.constructor as KindClass<AnyObject>) : target, kind, body),
      { timeout: o.timeout, signal, clock: this.#core.clock },
    ).finally(unlink);
    if (seen) object.body = seen.body;
    return object;
  }

  /** The kinds that the server has; asked once, and again with `refresh`. */
  discover(o?: { readonly refresh?: boolean }): Promise<Discovery> {
    return this.#core.registry.discover(o);
  }

  /**
   * The kind behind a name: `"po"`, `"Deployment"`, `"deployments.apps"`, `"deployment.v1.apps"`, `"apps/v1/deployments"`.
   * A name that is not known is looked up again, because its CustomResourceDefinition may be new.
   */
  async resolve(kind: KindLike): Promise<KindDescription> {
    if (typeof kind === "string") return this.#core.registry.resolve(kind);
    return "description" in kind ? kind.description : kind;
  }

  /** The kind of an object; asks the server only when the object's class does not know it. */
  async describe(object: AnyObject): Promise<KindDescription> {
    if (object.hasDescription) return object.description;
    const { apiVersion = "", kind = "" } = object.body;
    if (apiVersion === "" || kind === "") return object.description;
    return this.#core.registry.resolveManifest({ apiVersion, kind });
  }

  /** Who the server takes this client for. */
  async whoami(o: RequestOptions = {}): Promise<UserInfo> {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const answer = await this.#json({ ...requestPart(o), method: "POST", path, body });
    const {
      username = "",
      uid,
      groups = [],
      extra = {},
    } = (answer.status as { userInfo?: Partial<UserInfo> }).userInfo ?? {};
    return { username, groups, extra, ...(uid === undefined ? {} : { uid }) };
  }

  /** The server's version. */
  async version(o: RequestOptions = {}): Promise<ServerVersion> {
    return (await this.#json({ ...requestPart(o), method: "GET", path: "/version" })) as unknown as ServerVersion;
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
  async raw(request: RawRequest): Promise<RawResponse> {
    const { signal, unlink } = linkSignals([...this.#view.signals, request.signal]);
    const timeout = request.timeout ?? (request.stream ? undefined : this.#view.timeout);
    try {
      const response = await this.#core.transport.request({
        ...request,
        ...(signal && { signal }),
        ...(timeout !== undefined && { timeout }),
      });
      if (request.stream) response.body.once("close", unlink);
      else unlink();
      return response;
    } catch (error) {
      unlink();
      throw error;
    }
  }

  /** Closes the idle connections and refuses new requests, for all views. */
  close(): Promise<void> {
    return this.#core.transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #json(request: RawRequest): Promise<KubeBody> {
    return (await this.raw(request)).json<KubeBody>();
  }

  async #write(
    verb: WriteVerb,
    object: AnyObject,
    description: KindDescription,
    request: RawRequest,
  ): Promise<AnyObject> {
    const body = await this.#json(request);
    // Some subresources answer with a kind of their own, such as Scale.
    if (body.kind === undefined || body.kind === description.kind) object.body = body;
    object.withClient(this);
    const dryRun = request.query?.dryRun !== undefined;
    if (!dryRun) for (const listener of this.#view.listeners) listener(body, verb, description);
    return object;
  }

  #wrap(kind: KindLike, description: KindDescription, body: ObjectBody): AnyObject {
    if (typeof kind === "function") return new kind(body, this);
    return new KubeObject(body, this, description);
  }

  #object(input: AnyObject | KubeBody): AnyObject {
    return input instanceof KubeObject ? input : new KubeObject(input, this);
  }

  /** An object of which only the name is known. */
  async #reference(kind: KindLike, name: string): Promise<AnyObject> {
    const description = await this.resolve(kind);
    return this.#wrap(kind, description, {
      apiVersion: apiVersionOf(description),
      kind: description.kind,
      metadata: { name },
    });
  }

  async #patchTarget(target: AnyObject | KindLike, second: string | object, third?: object, fourth?: PatchOptions) {
    if (target instanceof KubeObject) {
      const o = (third ?? {}) as PatchOptions;
      return { object: target, description: await this.describe(target), body: second as object, o };
    }
    const object = await this.#reference(target, second as string);
    return { object, description: object.description, body: third as object, o: fourth ?? {} };
  }

  #path(description: KindDescription, name: string, o: GetOptions): string {
    const namespace = o.namespace ?? this.namespace;
    if (description.namespaced && namespace === allNamespaces) {
      throw new ConfigError(`${description.kind} ${name}: one object lives in one namespace, not in "*"`, {
        hint: "name the namespace, or list with a field selector",
      });
    }
    return pathOf(description, { namespace, name, subresource: o.subresource });
  }

  #namespaceFor(
    description: KindDescription,
    object: AnyObject,
    o: { readonly namespace?: string | undefined },
  ): string | undefined {
    return description.namespaced ? (o.namespace ?? object.metadata.namespace ?? this.namespace) : undefined;
  }
}
