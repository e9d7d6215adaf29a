import { type Impersonation, impersonationHeaders } from "../config/index.ts";
import type { KindDescription, KubeBody } from "../kinds/index.ts";
import {
  type AnyObject,
  type ApplyManyOptions,
  type ApplyOptions,
  applyObject,
  type ClientCore,
  type CreateManyOptions,
  type CreateOptions,
  createObject,
  type DeleteOptions,
  defaultClient,
  deleteObject,
  type KindClass,
  type KindLike,
  KubeObject,
  type ObjectClient,
  type ObjectOf,
  type PatchFor,
  type PatchOptions,
  patchObject,
  type ReplaceOptions,
  replaceObject,
  type ScaleOptions,
  scaleObject,
  type View,
  type ViewOptions,
  type Written,
} from "../objects/index.ts";
import { ClientReads } from "./client-reads.ts";
import type { ConnectOptions } from "./connect.ts";
import { writeMany } from "./create-many.ts";

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
export class Client extends ClientReads implements ObjectClient {
  private constructor(core: ClientCore, view: View) {
    super(core, view);
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
    const { namespace } = core.access;
    return new Client(core, { namespace, fieldManager, signals: [], listeners: [], kinds: o.kinds ?? [] });
  }

  /** The client of objects that were given none: `Client.connect()`, once for the process. */
  static default(): Promise<Client> {
    // Only clients are put there, below and by `setDefault`.
    return defaultClient.get() as Promise<Client>;
  }

  /** Replaces the default client; `undefined` lets the next use connect anew. */
  static setDefault(client: Client | undefined): void {
    defaultClient.set(client);
  }

  /** A cheap view that shares connections and discovery. Signals, listeners and kinds add to those of this view. */
  with(o: ViewOptions): Client {
    const { view, core } = this.session;
    return new Client(core, {
      ...view,
      namespace: o.namespace ?? view.namespace,
      fieldManager: o.fieldManager ?? view.fieldManager,
      signals: o.signal ? [...view.signals, o.signal] : view.signals,
      listeners: o.onWrite ? [...view.listeners, o.onWrite] : view.listeners,
      requestListeners: o.onRequest ? [...(view.requestListeners ?? []), o.onRequest] : view.requestListeners,
      guards: o.guard ? [...(view.guards ?? []), o.guard] : view.guards,
      timeout: o.timeout ?? view.timeout,
      kinds: o.kinds ? [...o.kinds, ...view.kinds] : view.kinds,
    });
  }

  /** The same client in another namespace. */
  inNamespace(namespace: string): Client {
    return this.with({ namespace });
  }

  /**
   * The same client acting as another user, as `kubectl --as` does. Needs the permission to impersonate.
   *
   * @example
   * ```ts
   * await client.as({ user: "jane", groups: ["developers"] }).list(Secret).toArray(); // may she?
   * ```
   */
  as(who: Impersonation): Client {
    const { view, core } = this.session;
    return new Client(core, { ...view, headers: impersonationHeaders(who) });
  }

  /**
   * Creates one object, or many: Namespaces and CustomResourceDefinitions first, the rest side by side; an
   * AggregateError holds every failure. Each object's `body` becomes what the server answered.
   */
  create<T extends AnyObject>(object: T, o?: CreateOptions): Promise<T>;
  create<T extends AnyObject>(objects: readonly T[], o?: CreateManyOptions): Promise<T[]>;
  create(body: KubeBody, o?: CreateOptions): Promise<KubeObject>;
  async create(input: AnyObject | KubeBody | readonly AnyObject[], o: CreateManyOptions = {}): Promise<unknown> {
    if (!Array.isArray(input)) return createObject(this.session, this.session.object(input as KubeBody), o);
    return writeMany("created", input as AnyObject[], o, (object) => this.create(object, o), this);
  }

  /**
   * Server-side apply: the server merges what this manager wants with what others want. One object, or many in the order
   * of `create`.
   */
  apply<T extends AnyObject>(object: T, o?: ApplyOptions): Promise<T>;
  apply<T extends AnyObject>(objects: readonly T[], o?: ApplyManyOptions): Promise<T[]>;
  apply(body: KubeBody, o?: ApplyOptions): Promise<KubeObject>;
  async apply(input: AnyObject | KubeBody | readonly AnyObject[], o: ApplyManyOptions = {}): Promise<unknown> {
    if (!Array.isArray(input)) return applyObject(this.session, this.session.object(input as KubeBody), o);
    return writeMany("applied", input as AnyObject[], o, (object) => this.apply(object, o), this);
  }

  /**
   * A merge patch, or JSON patch operations when it is an array. The patch is checked against the kind where that is a
   * class.
   */
  patch<T extends AnyObject, const O extends PatchOptions = PatchOptions>(
    object: T,
    patch: PatchFor<T["body"], O>,
    o?: O,
  ): Promise<T>;
  patch<K extends KindLike, const O extends PatchOptions = PatchOptions>(
    kind: K,
    name: string,
    patch: PatchFor<Written<K>, O>,
    o?: O,
  ): Promise<ObjectOf<K>>;
  async patch(
    target: AnyObject | KindLike,
    second: string | object,
    third?: object,
    fourth?: PatchOptions,
  ): Promise<AnyObject> {
    const given = target instanceof KubeObject;
    const object = given ? target : await this.session.reference(target, second as string);
    const [patch, o] = given ? [second as object, third as PatchOptions | undefined] : [third as object, fourth];
    return patchObject(this.session, object, await this.describe(object), patch, o ?? {});
  }

  /** Puts the object in the place of what the server has; a ConflictError when that is newer. */
  replace<T extends AnyObject>(object: T, o?: ReplaceOptions): Promise<T>;
  replace(body: KubeBody, o?: ReplaceOptions): Promise<KubeObject>;
  async replace(input: AnyObject | KubeBody, o: ReplaceOptions = {}): Promise<AnyObject> {
    return replaceObject(this.session, this.session.object(input), o);
  }

  /** Sets the number of replicas, of any kind that the server lets scale; an UnsupportedError for others. */
  scale<T extends AnyObject>(object: T, replicas: number, o?: ScaleOptions): Promise<T>;
  scale<T extends AnyObject>(kind: KindClass<T>, name: string, replicas: number, o?: ScaleOptions): Promise<T>;
  scale(kind: KindDescription | string, name: string, replicas: number, o?: ScaleOptions): Promise<KubeObject>;
  async scale(
    target: AnyObject | KindLike,
    second: string | number,
    third?: number | ScaleOptions,
    fourth?: ScaleOptions,
  ): Promise<AnyObject> {
    const given = target instanceof KubeObject;
    const [replicas, o] = (given ? [second, third] : [third, fourth]) as [number, ScaleOptions | undefined];
    const object = given ? target : await this.session.reference(target, second as string, o?.namespace);
    return scaleObject(this.session, object, replicas, o ?? {});
  }

  /** Deletes an object. `wait` resolves only when it is gone. */
  delete(object: AnyObject, o?: DeleteOptions): Promise<void>;
  delete(kind: KindLike, name: string, o?: DeleteOptions): Promise<void>;
  async delete(target: AnyObject | KindLike, second?: string | DeleteOptions, third?: DeleteOptions): Promise<void> {
    const given = target instanceof KubeObject;
    const o = (given ? (second as DeleteOptions | undefined) : third) ?? {};
    const object = given ? target : await this.session.reference(target, second as string, o.namespace);
    const was = await deleteObject(this.session, object, o);
    if (!was || o.wait === undefined || o.wait === false || o.dryRun) return;
    await this.wait(object, "delete", { signal: o.signal, timeout: o.wait === true ? undefined : o.wait });
  }

  /** Closes the idle connections and refuses new requests, for all views. */
  close(): Promise<void> {
    return this.session.core.transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

defaultClient.connectBy(() => Client.connect());
