import { inspect } from "node:util";
import {
  apiVersionOf,
  describeKind,
  type KindDescription,
  type KubeBody,
  type ObjectBody,
  type ObjectMeta,
  parseApiVersion,
} from "../kinds/index.ts";
import { ConfigError, deepClone, type JsonPatchOperation } from "../meta/index.ts";
import { NotFoundError, type RequestOptions } from "../transport/index.ts";
import type { Client } from "./client.ts";
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  MergePatch,
  PatchOptions,
  ReplaceOptions,
  WriteOptions,
} from "./options.ts";
import { type OwnerOptions, withOwner } from "./owners.ts";
import type { WaitCondition, WaitOptions } from "./wait.ts";

/** A class of objects: what `client.get(Pod, …)` takes. */
export interface KindClass<T extends KubeObject<ObjectBody> = KubeObject> {
  new (body: BodyFor<T>, client?: Client): T;
  readonly description: KindDescription;
}

/**
 * The body that a class takes. Where the class may be any class no body is wrong for the compiler: otherwise a class of a
 * known kind, which takes less than every body, would not pass as "some class".
 */
// biome-ignore lint/suspicious/noExplicitAny: the only type that is a fine argument for every class
type BodyFor<T extends KubeObject<ObjectBody>> = KubeBody extends T["body"] ? any : T["body"];

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

  constructor(body: B, client?: Client, description?: KindDescription) {
    this.#given = description ?? new.target.description;
    this.#client = client;
    this.body = named(body, this.#given);
  }

  /** The kind of this object. Guessed from `apiVersion` and `kind` when neither a class nor the server said it. */
  get description(): KindDescription {
    return this.#given ?? guess(this.body);
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

  /** Throws while only `generateName` is set: the server gives the name at creation. */
  get name(): string {
    const { name, generateName } = this.metadata;
    if (name) return name;
    throw new ConfigError(`this ${this.kindName} has no name yet`, {
      hint: generateName
        ? `the server makes one from generateName "${generateName}" when it is created`
        : "set metadata.name or metadata.generateName",
    });
  }

  get namespace(): string | undefined {
    return this.metadata.namespace ?? (this.description.namespaced ? this.#client?.namespace : undefined);
  }

  get uid(): string | undefined {
    return this.metadata.uid;
  }

  /** Change them with `label()`. */
  get labels(): Readonly<Record<string, string>> {
    return this.metadata.labels ?? {};
  }

  /** Change them with `annotate()`. */
  get annotations(): Readonly<Record<string, string>> {
    return this.metadata.annotations ?? {};
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

  async create(o?: CreateOptions): Promise<this> {
    await (await this.#connected()).create(this, o);
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

  /** Reads the object again. */
  async refresh(o?: RequestOptions): Promise<this> {
    this.body = await this.#fetch(o);
    return this;
  }

  /** A merge patch, or JSON patch operations when it is an array. */
  async patch(patch: MergePatch<B> | readonly JsonPatchOperation[], o?: PatchOptions): Promise<this> {
    await (await this.#connected()).patch(this, patch, o);
    return this;
  }

  /** A merge patch for `status`, by way of the status subresource. */
  async patchStatus(status: MergePatch<NonNullable<B["status"]>>, o?: PatchOptions): Promise<this> {
    const patch = { status } as unknown as MergePatch<B>;
    return this.patch(patch, { ...o, subresource: o?.subresource ?? "status" });
  }

  /** Sets labels; `null` removes one. */
  async label(labels: Readonly<Record<string, string | null>>, o?: WriteOptions): Promise<this> {
    return this.patch({ metadata: { labels } } as unknown as MergePatch<B>, o);
  }

  /** Sets annotations; `null` removes one. */
  async annotate(annotations: Readonly<Record<string, string | null>>, o?: WriteOptions): Promise<this> {
    return this.patch({ metadata: { annotations } } as unknown as MergePatch<B>, o);
  }

  /**
   * Makes `owner` an owner beside those that are there; the object goes when its owners are gone. Before creation this
   * only changes `body`; an object of the cluster is patched.
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
    return this.patch({ metadata: { ownerReferences, resourceVersion } } as unknown as MergePatch<B>, o);
  }

  async delete(o?: DeleteOptions): Promise<void> {
    await (await this.#connected()).delete(this, o);
  }

  /** Server-side apply of what `toManifest()` has. */
  async apply(o?: ApplyOptions): Promise<this> {
    await (await this.#connected()).apply(this, o);
    return this;
  }

  /** Puts the whole body in the place of what the server has; fails with a ConflictError when that is newer. */
  async replace(o?: ReplaceOptions): Promise<this> {
    await (await this.#connected()).replace(this, o);
    return this;
  }

  /**
   * Waits until the condition holds: kubectl's words or a predicate.
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
    const client = await this.#connected();
    return client.wait(this, condition, o);
  }

  toJSON(): B {
    return this.body;
  }

  /** A copy with only what its author wrote: no status, and nothing of what the server adds to the metadata. */
  toManifest(): B {
    const { status: _, ...rest } = deepClone(this.body) as ObjectBody as KubeBody;
    const { labels, annotations, ...meta } = rest.metadata ?? {};
    for (const key of SERVER_FIELDS) delete meta[key];
    const metadata: ObjectMeta = { ...meta };
    if (labels && Object.keys(labels).length > 0) metadata.labels = labels;
    if (annotations && Object.keys(annotations).length > 0) metadata.annotations = annotations;
    return { ...rest, metadata } as unknown as B;
  }

  /** `Pod default/web (Running)` */
  [inspect.custom](): string {
    const { name, generateName } = this.metadata;
    const called = name ?? (generateName ? `${generateName}*` : "(unnamed)");
    const state = stateOf(this.body as ObjectBody as KubeBody);
    return `${this.kindName} ${this.namespace ? `${this.namespace}/` : ""}${called}${state ? ` (${state})` : ""}`;
  }

  get [Symbol.toStringTag](): string {
    return this.kindName;
  }

  private get kindName(): string {
    return this.#given?.kind ?? this.body.kind ?? "object";
  }

  async #fetch(o?: RequestOptions): Promise<B> {
    const client = await this.#connected();
    const description = await client.describe(this);
    const { body } = await client.get(description, this.name, { ...o, namespace: this.metadata.namespace });
    return body as unknown as B;
  }

  async #connected(): Promise<Client> {
    if (!this.#client) {
      const { Client } = await import("./client.ts");
      this.#client = await Client.default();
    }
    return this.#client;
  }
}

const SERVER_FIELDS = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
] as const satisfies readonly (keyof ObjectMeta)[];

/** Objects out of lists carry neither `apiVersion` nor `kind`; the caller's value must stay as it is. */
function named<B extends ObjectBody>(body: B, description: KindDescription | undefined): B {
  if (!description || (body.apiVersion !== undefined && body.kind !== undefined)) return body;
  return { apiVersion: apiVersionOf(description), kind: description.kind, ...body };
}

function guess(body: ObjectBody): KindDescription {
  if (!body.apiVersion || !body.kind) {
    throw new ConfigError("an object without a class needs apiVersion and kind", {
      hint: 'write them as in a manifest: { apiVersion: "v1", kind: "Pod", … }',
    });
  }
  return describeKind({ ...parseApiVersion(body.apiVersion), kind: body.kind });
}

/** The word that tells most: the deletion, the phase, or whether it is ready. */
function stateOf(body: KubeBody): string | undefined {
  if (body.metadata?.deletionTimestamp) return "Terminating";
  const status = body.status as { phase?: unknown; conditions?: unknown } | undefined;
  if (typeof status?.phase === "string") return status.phase;
  if (!Array.isArray(status?.conditions)) return undefined;
  const ready = status.conditions.find((c: { type?: unknown }) => c?.type === "Ready" || c?.type === "Available");
  return ready ? `${ready.status === "True" ? "" : "not "}${String(ready.type).toLowerCase()}` : undefined;
}
