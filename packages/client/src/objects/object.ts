/**
 * An object of the cluster with its verbs, and the two things that it cannot be told without: the client that it asks
 * (an interface: what a client is made of is no business of objects) and the class that makes it.
 */
import type { KindDescription, KubeBody, ObjectBody, ObjectMeta } from "../kinds/index.ts";
import { type Clock, ConfigError, type JsonPatchOperation } from "../meta/index.ts";
import type { StreamClient, Watch } from "../streams/index.ts";
import {
  NotFoundError,
  type RawRequest,
  type RawResponse,
  type RequestOptions,
  type WebSocketConnection,
  type WebSocketRequest,
} from "../transport/index.ts";
import type { Change } from "./changes.ts";
import { DefaultClient } from "./default-client.ts";
import { type LabelChanges, readLabelChanges } from "./label-args.ts";
import { ObjectList } from "./list.ts";
import { ObjectBase } from "./object-base.ts";
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  ReplaceOptions,
  ScaleOptions,
  SelectOptions,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from "./options.ts";
import { type OwnerOptions, withOwner } from "./owners.ts";
import type { ForeignForm, PatchFor, ReadonlyMergePatch, StrategicPatch } from "./patches.ts";
import type { WaitCondition, WaitOptions } from "./wait.ts";

/** An object of any kind. */
export type AnyObject = KubeObject<ObjectBody>;

/** What objects need of a client: the verbs, and a way to the server for what has no verb. `Client` has it all. */
export interface ObjectClient extends StreamClient {
  /** Where namespaced objects are looked for when neither a call nor the object says. */
  readonly namespace: string;
  /** Time as this client sees it. */
  readonly clock: Clock;
  /** Reads one object; a NotFoundError when there is none. */
  get<T extends AnyObject>(kind: KindClass<T>, name: string, o?: GetOptions): Promise<T>;
  get(kind: KindDescription | string, name: string, o?: GetOptions): Promise<KubeObject>;
  /** The one object that the selectors mean. */
  find<T extends AnyObject>(kind: KindClass<T>, o: SelectOptions): Promise<T>;
  /** The objects of a kind, page by page. */
  list<T extends AnyObject>(kind: KindClass<T>, o?: ListOptions): ObjectList<T>;
  /** The changes of one object, which follows them. */
  watchObject<T extends AnyObject>(object: T, o?: ObjectWatchOptions): Watch<T>;
  /** Waits until the conditions hold. */
  wait<T extends AnyObject>(
    object: T,
    condition: WaitCondition<T> | readonly WaitCondition<T>[],
    o?: WaitOptions,
  ): Promise<T>;
  /** Creates the object; its body becomes what the server answered, as with the other writes. */
  create<T extends AnyObject>(object: T, o?: CreateOptions): Promise<T>;
  /** Server-side apply. */
  apply<T extends AnyObject>(object: T, o?: ApplyOptions): Promise<T>;
  /** A merge patch, or JSON patch operations when it is an array. */
  patch<T extends AnyObject, const O extends PatchOptions = PatchOptions>(
    object: T,
    patch: PatchFor<T["body"], O>,
    o?: O,
  ): Promise<T>;
  /** Puts the object in the place of what the server has. */
  replace<T extends AnyObject>(object: T, o?: ReplaceOptions): Promise<T>;
  /** Sets the number of replicas. */
  scale<T extends AnyObject>(object: T, replicas: number, o?: ScaleOptions): Promise<T>;
  /** Deletes the object. */
  delete(object: AnyObject, o?: DeleteOptions): Promise<void>;
  /** The kind of an object; asks the server only when the object's class does not know it. */
  describe(object: AnyObject): Promise<KindDescription>;
  /** Any request. */
  raw(request: RawRequest): Promise<RawResponse>;
  /** A WebSocket to the server. */
  webSocket(request: WebSocketRequest): Promise<WebSocketConnection>;
}

/** The client of objects that were given none. */
export const defaultClient = new DefaultClient<ObjectClient>();

/** With which client, where a class is asked and not an object. */
export interface ClientOption {
  /** Default: `Client.default()`. */
  readonly client?: ObjectClient | undefined;
}

/** What every class of objects can do by itself. */
export interface KindStatics {
  /** Reads one object: `Pod.get("web")`. */
  get<T extends AnyObject>(this: KindClass<T>, name: string, o?: GetOptions & ClientOption): Promise<T>;
  /** The objects of the kind: `Pod.list({ labelSelector: { app: "web" } })`. */
  list<T extends AnyObject>(this: KindClass<T>, o?: ListOptions & ClientOption): ObjectList<T>;
  /** The one object that the selectors mean; an AmbiguousError when there are several. */
  find<T extends AnyObject>(this: KindClass<T>, o: SelectOptions & ClientOption): Promise<T>;
  /** An object of which only the name is known. Sends nothing. */
  ref<T extends AnyObject>(
    this: KindClass<T>,
    name: string,
    o?: { readonly namespace?: string | undefined } & ClientOption,
  ): T;
}

/**
 * A class of objects: what `client.get(Pod, …)` takes. `Input` is the body that makes one, where that is not the body that
 * is read: a field that the server fills may be left out.
 */
export interface KindClass<T extends AnyObject = KubeObject, Input = BodyFor<T>> extends KindStatics {
  new (body: Input, client?: ObjectClient): T;
  readonly description: KindDescription;
}

/**
 * The body that a class takes. Where the class may be any class no body is wrong for the compiler: otherwise a class of a
 * known kind, which takes less than every body, would not pass as "some class".
 */
// biome-ignore lint/suspicious/noExplicitAny: the only type that is a fine argument for every class
type BodyFor<T extends AnyObject> = KubeBody extends T["body"] ? any : T["body"];

/** Options of an object's `watch`. */
export type ObjectWatchOptions = Pick<WatchOptions, "signal" | "initial" | "inactivity" | "onState">;

/**
 * An object of the cluster: plain JSON in `body`, and the verbs. Constructing one does no I/O; the first verb uses the
 * client that the object came from, the one given, or `Client.default()`. After each write `body` is what the server
 * answered; the value that was passed in is never changed.
 *
 * @example
 * ```ts
 * const pod = await client.get(Pod, "web");
 * console.log(pod.spec?.containers[0]?.image);
 * await pod.label({ tier: "front", old: null });
 * await pod.wait("condition=Ready", { timeout: "1m" });
 * await pod.delete();
 * ```
 */
export class KubeObject<out B extends ObjectBody = KubeBody> extends ObjectBase<B> {
  #client: ObjectClient | undefined;

  /* biome-ignore-start lint/complexity/noThisInStatic: `this` is the class that was asked, often a subclass */
  /** Reads one object: `Pod.get("web")`; a NotFoundError when there is none. */
  static async get<T extends AnyObject>(
    this: KindClass<T>,
    name: string,
    { client, ...o }: GetOptions & ClientOption = {},
  ): Promise<T> {
    return (client ?? (await defaultClient.get())).get(this, name, o);
  }

  /** The objects of the kind: `Pod.list({ labelSelector: { app: "web" } })`. */
  static list<T extends AnyObject>(
    this: KindClass<T>,
    { client, ...o }: ListOptions & ClientOption = {},
  ): ObjectList<T> {
    return ObjectList.deferred(async () => (client ?? (await defaultClient.get())).list(this, o));
  }

  /** The one object that the selectors mean; an AmbiguousError when there are several. */
  static async find<T extends AnyObject>(
    this: KindClass<T>,
    { client, ...o }: SelectOptions & ClientOption,
  ): Promise<T> {
    return (client ?? (await defaultClient.get())).find(this, o);
  }

  /** An object of which only the name is known. Sends nothing. */
  static ref<T extends AnyObject>(
    this: KindClass<T>,
    name: string,
    o: { readonly namespace?: string | undefined } & ClientOption = {},
  ): T {
    const metadata: ObjectMeta = { name, ...(o.namespace !== undefined && { namespace: o.namespace }) };
    return new this({ metadata } as T["body"], o.client);
  }
  /* biome-ignore-end lint/complexity/noThisInStatic: see above */

  /** Does no I/O. `description`: of the kind, where neither the class nor the body says it. */
  constructor(body: B, client?: ObjectClient, description?: KindDescription) {
    super(body, description);
    this.#client = client;
  }

  protected get clientNamespace(): string | undefined {
    return this.#client?.namespace;
  }

  /** Uses `client` from now on. */
  withClient(client: ObjectClient): this {
    this.#client = client;
    return this;
  }

  async create(o?: CreateOptions): Promise<this> {
    await (await this.connected()).create(this, o);
    return this;
  }

  /** Whether the server has it. Any other failure than "not found" is thrown. */
  async exists(o?: RequestOptions): Promise<boolean> {
    try {
      await this.#fetch(o);
      return true;
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  }

  /** Throws a NotFoundError when the server does not have it. */
  async assertExists(o?: RequestOptions): Promise<this> {
    await this.#fetch(o);
    return this;
  }

  /** Reads the object again. */
  async refresh(o?: RequestOptions): Promise<this> {
    this.body = await this.#fetch(o);
    return this;
  }

  /** A merge patch, or JSON patch operations when it is an array. */
  async patch(patch: StrategicPatch<B>, o: PatchOptions & { readonly type: "strategic" }): Promise<this>;
  async patch(patch: object, o: PatchOptions & { readonly subresource: ForeignForm }): Promise<this>;
  async patch(patch: ReadonlyMergePatch<B> | readonly JsonPatchOperation[], o?: PatchOptions): Promise<this>;
  async patch(patch: object, o?: PatchOptions): Promise<this> {
    return sendPatch(this, patch, o);
  }

  /** A merge patch for `status`, by way of the status subresource. */
  async patchStatus(status: ReadonlyMergePatch<NonNullable<B["status"]>>, o?: PatchOptions): Promise<this> {
    return sendPatch(this, { status }, { ...o, subresource: o?.subresource ?? "status" });
  }

  /** Sets labels; `null` removes one, and one that is not there is fine. Also in kubectl's words. */
  async label(labels: LabelChanges, o?: WriteOptions): Promise<this>;
  async label(...words: readonly string[]): Promise<this>;
  async label(...given: readonly unknown[]): Promise<this> {
    const { changes: labels, o } = readLabelChanges("label", given);
    return sendPatch(this, { metadata: { labels } }, o);
  }

  /** Removes labels. */
  async unlabel(...keys: readonly string[]): Promise<this> {
    return this.label(Object.fromEntries(keys.map((key) => [key, null])));
  }

  /** Sets annotations; `null` removes one, and one that is not there is fine. Also in kubectl's words. */
  async annotate(annotations: LabelChanges, o?: WriteOptions): Promise<this>;
  async annotate(...words: readonly string[]): Promise<this>;
  async annotate(...given: readonly unknown[]): Promise<this> {
    const { changes: annotations, o } = readLabelChanges("annotation", given);
    return sendPatch(this, { metadata: { annotations } }, o);
  }

  /**
   * Makes `owner` an owner beside those that are there (`append: false`: instead of them); the object goes when its
   * owners are gone. Before creation this only changes `body`; an object of the cluster is patched.
   */
  async setOwner(owner: AnyObject, o: OwnerOptions & WriteOptions = {}): Promise<this> {
    const body = withOwner(this, owner, o);
    if (this.uid === undefined) {
      this.body = body;
      return this;
    }
    const { ownerReferences } = body.metadata ?? {};
    // With the version: two writers that each add an owner must not lose one another's.
    const { resourceVersion } = this.metadata;
    return sendPatch(this, { metadata: { ownerReferences, resourceVersion } }, o);
  }

  /** Makes this object an owner of `child`: the other end of `setOwner`. */
  async adopt<T extends AnyObject>(child: T, o?: OwnerOptions & WriteOptions): Promise<T> {
    return child.setOwner(this, o);
  }

  async delete(o?: DeleteOptions): Promise<void> {
    await (await this.connected()).delete(this, o);
  }

  /** Server-side apply of what `toManifest()` has. */
  async apply(o?: ApplyOptions): Promise<this> {
    await (await this.connected()).apply(this, o);
    return this;
  }

  /** Puts the whole body in the place of what the server has; fails with a ConflictError when that is newer. */
  async replace(o?: ReplaceOptions): Promise<this> {
    await (await this.connected()).replace(this, o);
    return this;
  }

  /**
   * Changes the object as a function says and puts it back. When another client has written meanwhile the object is
   * read again and the function called again; nothing is sent when it changes nothing.
   *
   * @example
   * ```ts
   * await map.update((body) => { body.data = { ...body.data, visits: String(Number(body.data?.visits ?? 0) + 1) }; });
   * ```
   */
  async update(change: Change<B>, o: UpdateOptions = {}): Promise<this> {
    const client = await this.connected();
    const { updateObject } = await import("./changes.ts");
    await updateObject(client.clock, this, change, o);
    return this;
  }

  /** Creates what the function makes of this object, or patches what the server has by the difference that it makes. */
  async createOrPatch(change: Change<B>, o: UpdateOptions = {}): Promise<this> {
    const client = await this.connected();
    const { createOrPatchObject } = await import("./changes.ts");
    await createOrPatchObject(client.clock, this, change, o);
    return this;
  }

  /**
   * The changes of this object, for ever; `break` closes the connection. Each event has a snapshot, and this object
   * follows, too. Needs a client: one that came with the object, or by `withClient`.
   */
  watch<T extends AnyObject>(this: T, o: ObjectWatchOptions = {}): Watch<T> {
    const client = this.#client;
    if (!client) {
      throw new ConfigError(`${this.kindName} ${this.name} belongs to no client yet`, {
        hint: "read it with a client, or call withClient(client) first",
      });
    }
    return client.watchObject(this, o);
  }

  /**
   * Waits until the condition holds: kubectl's words, a predicate, or several by way of `allOf`, `anyOf` and `noneOf`.
   *
   * @example
   * ```ts
   * await pod.wait("condition=Ready", { timeout: "2m" });
   * await job.wait((j) => (j.status?.succeeded ?? 0) > 0);
   * await pod.wait("delete");
   * ```
   */
  // Generic in `this`: with the `this` type itself an object of a known kind would not pass as one of any kind.
  async wait<T extends AnyObject>(
    this: T,
    condition: WaitCondition<T> | readonly WaitCondition<T>[],
    o?: WaitOptions,
  ): Promise<T> {
    const client = await this.connected();
    return client.wait(this, condition, o);
  }

  async #fetch(o?: RequestOptions): Promise<B> {
    const client = await this.connected();
    const description = await client.describe(this);
    const { body } = await client.get(description, this.name, { ...o, namespace: this.metadata.namespace });
    return body as unknown as B;
  }

  /** The client of this object; the default one from now on when it had none. */
  async connected(): Promise<ObjectClient> {
    this.#client ??= await defaultClient.get();
    return this.#client;
  }
}

/** Sends a patch that is right by its making, whatever the kind. */
export async function sendPatch<T extends AnyObject>(object: T, patch: object, o?: PatchOptions): Promise<T> {
  await (await object.connected()).patch<AnyObject>(object, patch, o);
  return object;
}
