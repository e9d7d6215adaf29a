import { inspect } from "node:util";
import { apiVersionOf, type KindDescription, type KubeBody, type ObjectBody, type ObjectMeta } from "../kinds/index.ts";
import { ConfigError, type JsonPatchOperation, parseJsonPointer } from "../meta/index.ts";
import { NotFoundError, type RequestOptions } from "../transport/index.ts";
import type { Change } from "./changes.ts";
import type { Client } from "./client.ts";
import { guessKind, named } from "./identity.ts";
import type { ClientOption, KindClass } from "./kind-class.ts";
import { ObjectList } from "./list.ts";
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  ReplaceOptions,
  SelectOptions,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from "./options.ts";
import { type OwnerOptions, withOwner } from "./owners.ts";
import type { ForeignForm, ReadonlyMergePatch, StrategicPatch } from "./patches.ts";
import { manifestOf, stateOf, yamlOf } from "./show.ts";
import type { WaitCondition, WaitOptions } from "./wait.ts";
import type { Watch } from "./watch.ts";
import { type Marks, readMarks } from "./words.ts";

/** Frozen, so that a label that somebody puts here is an error and not lost. */
const NONE: Readonly<Record<string, string>> = Object.freeze({});

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
export class KubeObject<out B extends ObjectBody = KubeBody> {
  /** What is known of the kind; on concrete classes. */
  static readonly description: KindDescription | undefined;

  /** The whole object as it is in JSON. */
  body: B;
  #client: Client | undefined;
  readonly #given: KindDescription | undefined;

  /* biome-ignore-start lint/complexity/noThisInStatic: `this` is the class that was asked, often a subclass */
  /** Reads one object: `Pod.get("web")`; a NotFoundError when there is none. */
  static async get<T extends KubeObject<ObjectBody>>(
    this: KindClass<T>,
    name: string,
    { client, ...o }: GetOptions & ClientOption = {},
  ): Promise<T> {
    return (client ?? (await defaultClient())).get(this, name, o);
  }

  /** The objects of the kind: `Pod.list({ labelSelector: { app: "web" } })`. */
  static list<T extends KubeObject<ObjectBody>>(
    this: KindClass<T>,
    { client, ...o }: ListOptions & ClientOption = {},
  ): ObjectList<T> {
    return ObjectList.deferred(async () => (client ?? (await defaultClient())).list(this, o));
  }

  /** The one object that the selectors mean; an AmbiguousError when there are several. */
  static async find<T extends KubeObject<ObjectBody>>(
    this: KindClass<T>,
    { client, ...o }: SelectOptions & ClientOption,
  ): Promise<T> {
    return (client ?? (await defaultClient())).find(this, o);
  }

  /** An object of which only the name is known. Sends nothing. */
  static ref<T extends KubeObject<ObjectBody>>(
    this: KindClass<T>,
    name: string,
    o: { readonly namespace?: string | undefined } & ClientOption = {},
  ): T {
    const metadata: ObjectMeta = { name, ...(o.namespace !== undefined && { namespace: o.namespace }) };
    return new this({ metadata } as T["body"], o.client);
  }
  /* biome-ignore-end lint/complexity/noThisInStatic: see above */

  constructor(body: B, client?: Client, description?: KindDescription) {
    this.#given = description ?? new.target.description;
    this.#client = client;
    this.body = named(body, this.#given);
  }

  /** The kind of this object. Guessed from `apiVersion` and `kind` when neither a class nor the server said it. */
  get description(): KindDescription {
    return this.#given ?? guessKind(this.body);
  }

  /** Whether the kind is known and not guessed. */
  get hasDescription(): boolean {
    return this.#given !== undefined;
  }

  /** The same as `body`. */
  get raw(): B {
    return this.body;
  }

  get metadata(): ObjectMeta {
    return this.body.metadata ?? {};
  }

  get spec(): B["spec"] {
    return this.body.spec;
  }

  get status(): B["status"] {
    return this.body.status;
  }

  /** Throws while only `generateName` is set: the server gives the name at creation. Can be set before that. */
  get name(): string {
    const { name, generateName } = this.metadata;
    if (name) return name;
    throw new ConfigError(`this ${this.kindName} has no name yet`, {
      hint: generateName
        ? `the server makes one from generateName "${generateName}" when it is created`
        : "set metadata.name or metadata.generateName",
    });
  }

  set name(name: string) {
    this.body = { ...this.body, metadata: { ...this.metadata, name } };
  }

  get namespace(): string | undefined {
    return this.metadata.namespace ?? (this.description.namespaced ? this.#client?.namespace : undefined);
  }

  get uid(): string | undefined {
    return this.metadata.uid;
  }

  /** Change them with `label()`. */
  get labels(): Readonly<Record<string, string>> {
    return this.metadata.labels ?? NONE;
  }

  /** Change them with `annotate()`. */
  get annotations(): Readonly<Record<string, string>> {
    return this.metadata.annotations ?? NONE;
  }

  /** One text for one object of the cluster: `apps/v1/Deployment/default/web`. For the keys of a Map. */
  get key(): string {
    const parts = [apiVersionOf(this.description), this.description.kind, this.namespace, this.name];
    return parts.filter((part) => part !== undefined).join("/");
  }

  /** Uses `client` from now on. */
  withClient(client: Client): this {
    this.#client = client;
    return this;
  }

  /** Whether `other` means the same object of the cluster, whatever its content. */
  is(other: KubeObject<ObjectBody>): boolean {
    return this.key === other.key;
  }

  /**
   * The value at a JSON pointer: `pod.at("/spec/containers/0/image")`; `undefined` when there is none.
   */
  at<T = unknown>(pointer: string): T | undefined {
    const segments = parseJsonPointer(pointer);
    if (segments === undefined) {
      throw new ConfigError(`"${pointer}" is not a JSON pointer`, { hint: 'write "/spec/containers/0/image"' });
    }
    let value: unknown = this.body;
    for (const segment of segments) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined;
      value = (value as Record<string, unknown>)[segment];
    }
    return value as T;
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
  async label(labels: Marks, o?: WriteOptions): Promise<this>;
  async label(...words: readonly string[]): Promise<this>;
  async label(...given: readonly unknown[]): Promise<this> {
    const { marks: labels, o } = readMarks("label", given);
    return sendPatch(this, { metadata: { labels } }, o);
  }

  /** Removes labels. */
  async unlabel(...keys: readonly string[]): Promise<this> {
    return this.label(Object.fromEntries(keys.map((key) => [key, null])));
  }

  /** Sets annotations; `null` removes one, and one that is not there is fine. Also in kubectl's words. */
  async annotate(annotations: Marks, o?: WriteOptions): Promise<this>;
  async annotate(...words: readonly string[]): Promise<this>;
  async annotate(...given: readonly unknown[]): Promise<this> {
    const { marks: annotations, o } = readMarks("annotation", given);
    return sendPatch(this, { metadata: { annotations } }, o);
  }

  /**
   * Makes `owner` an owner beside those that are there (`append: false`: instead of them); the object goes when its
   * owners are gone. Before creation this only changes `body`; an object of the cluster is patched.
   */
  async setOwner(owner: KubeObject<ObjectBody>, o: OwnerOptions & WriteOptions = {}): Promise<this> {
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
  async adopt<T extends KubeObject<ObjectBody>>(child: T, o?: OwnerOptions & WriteOptions): Promise<T> {
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
   * Changes the object as a function says and puts it back. When somebody else has written meanwhile the object is read
   * again and the function called again; nothing is sent when it changes nothing.
   *
   * @example
   * ```ts
   * await map.update((body) => { body.data = { ...body.data, visits: String(Number(body.data?.visits ?? 0) + 1) }; });
   * ```
   */
  async update(change: Change<B>, o: UpdateOptions = {}): Promise<this> {
    const client = await this.connected();
    const { updateObject } = await import("./changes.ts");
    await updateObject(client, this, change, o);
    return this;
  }

  /** Creates what the function makes of this object, or patches what the server has by the difference that it makes. */
  async createOrPatch(change: Change<B>, o: UpdateOptions = {}): Promise<this> {
    const client = await this.connected();
    const { createOrPatchObject } = await import("./changes.ts");
    await createOrPatchObject(client, this, change, o);
    return this;
  }

  /**
   * The changes of this object, for ever; `break` closes the connection. Each event has a snapshot, and this object
   * follows, too. Needs a client: one that came with the object, or by `withClient`.
   */
  watch<T extends KubeObject<ObjectBody>>(this: T, o: ObjectWatchOptions = {}): Watch<T> {
    const client = this.#client;
    if (!client) {
      throw new ConfigError(`${this.kindName} ${this.name} belongs to no client yet`, {
        hint: "read it with a client, or call withClient(client) first",
      });
    }
    return client.watchObject(this, o);
  }

  /**
   * Waits until the condition holds: kubectl's words, a predicate, or several by way of `all`, `any` and `not`.
   *
   * @example
   * ```ts
   * await pod.wait("condition=Ready", { timeout: "2m" });
   * await job.wait((j) => (j.status?.succeeded ?? 0) > 0);
   * await pod.wait("delete");
   * ```
   */
  // Generic in `this`: with the `this` type itself an object of a known kind would not pass as one of any kind.
  async wait<T extends KubeObject<ObjectBody>>(
    this: T,
    condition: WaitCondition<T> | readonly WaitCondition<T>[],
    o?: WaitOptions,
  ): Promise<T> {
    const client = await this.connected();
    return client.wait(this, condition, o);
  }

  toJSON(): B {
    return this.body;
  }

  /** A copy with only what its author wrote: no status, and nothing of what the server adds to the metadata. */
  toManifest(): B {
    return manifestOf(this.body as ObjectBody as KubeBody) as ObjectBody as B;
  }

  /** The whole body as YAML. */
  toYAML(): Promise<string> {
    return yamlOf(this.body as ObjectBody as KubeBody);
  }

  /** What it is called in a sentence: `Pod default/web`, `Node worker-1`. Never throws. */
  toString(): string {
    const { name, generateName, namespace } = this.metadata;
    const called = name ?? (generateName ? `${generateName}*` : "(unnamed)");
    const place = namespace ?? (this.#given?.namespaced ? this.#client?.namespace : undefined);
    return `${this.kindName} ${place ? `${place}/` : ""}${called}`;
  }

  /** `Pod default/web (Running)` */
  [inspect.custom](): string {
    const state = stateOf(this.body as ObjectBody as KubeBody);
    return `${this}${state ? ` (${state})` : ""}`;
  }

  get [Symbol.toStringTag](): string {
    return this.kindName;
  }

  private get kindName(): string {
    return this.#given?.kind ?? this.body.kind ?? "object";
  }

  async #fetch(o?: RequestOptions): Promise<B> {
    const client = await this.connected();
    const description = await client.describe(this);
    const { body } = await client.get(description, this.name, { ...o, namespace: this.metadata.namespace });
    return body as unknown as B;
  }

  /** The client of this object; the default one from now on when it had none. */
  async connected(): Promise<Client> {
    this.#client ??= await defaultClient();
    return this.#client;
  }
}

/** Sends a patch that is right by its making, whatever the kind. */
export async function sendPatch<T extends KubeObject<ObjectBody>>(
  object: T,
  patch: object,
  o?: PatchOptions,
): Promise<T> {
  await (await object.connected()).patch<KubeObject<ObjectBody>>(object, patch, o);
  return object;
}

/** Loaded when needed: an object may be made and written down without any client. */
async function defaultClient(): Promise<Client> {
  const { Client } = await import("./client.ts");
  return Client.default();
}
