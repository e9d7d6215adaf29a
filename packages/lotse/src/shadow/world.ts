/**
 * The shadow's world: all kinds that it touches, each followed in the cluster from the first time on, and one counter of
 * versions for all of them.
 */
import { type KindDescription, type KubeBody, NotFoundError, UnknownKindError } from "@lotse/client";
import { type ObjectKey, objectKeyOf } from "@lotse/client/meta";
import { Following, type FollowingParts } from "./following.ts";
import { type Outlook, removed } from "./fork.ts";
import { KindWorld } from "./kind-world.ts";
import type { Lens } from "./normal-form.ts";
import { type RequestTarget, resourceOf } from "./request-target.ts";
import type { Worker } from "./worker.ts";

/** What a {@link World} is made of. */
export interface WorldParts extends FollowingParts {
  readonly worker: Worker;
  readonly lens: Lens;
  /** Whether only some namespaces are looked at: then each by itself, as the operator may see no others. */
  readonly byNamespace: boolean;
  /** When the shadow began, by the server's clock (milliseconds). */
  readonly begunAt: number;
  /** Everything that the working version ever wrote is kept from the shadow. */
  readonly fromScratch: boolean;
  readonly onChanged: (world: KindWorld, key: ObjectKey) => void;
}

/** No object has such a low version, not even one that a client asks for to mean that there is none. */
const FIRST_VERSION = 1_000;

/** See the module comment. */
export class World {
  readonly #parts: WorldParts;
  readonly #outlook: Outlook;
  readonly #kinds = new Map<string, KindWorld>();
  readonly #following: Following;
  #version = FIRST_VERSION;

  constructor(parts: WorldParts) {
    this.#parts = parts;
    this.#following = new Following(parts);
    this.#outlook = {
      worker: parts.worker,
      isNew: (body, initial) => !initial || parts.fromScratch || this.#isSinceBegin(body),
      ownerGoes: (body) => this.#ownerGoes(body),
    };
  }

  /** The version that everything in this world has been told up to. */
  get version(): number {
    return this.#version;
  }

  get kinds(): readonly KindWorld[] {
    return [...this.#kinds.values()];
  }

  /** The kind that a request is about, with all objects that it may concern; undefined when it cannot be followed. */
  async of({ group, version, plural, namespace }: RequestTarget): Promise<KindWorld | undefined> {
    const known = this.#kinds.get(resourceOf({ group, plural }));
    const kind = known?.kind ?? (await this.#resolve(`${group === "" ? "" : `${group}/`}${version}/${plural}`));
    // Another version of a kind is another form of the same objects: it is read as the server has it.
    if (!kind || kind.version !== version) return undefined;
    return this.follow(kind, namespace);
  }

  /** Follows a kind, if that is possible; resolves when all its objects are known. */
  async follow(kind: KindDescription, namespace: string | undefined): Promise<KindWorld | undefined> {
    const key = resourceOf(kind);
    const world = this.#kinds.get(key) ?? this.#make(kind);
    this.#kinds.set(key, world);
    const narrow = kind.namespaced && namespace !== undefined ? [namespace] : [];
    const scopes = this.#parts.byNamespace && narrow.length > 0 ? narrow : [undefined, ...narrow];
    for (const scope of scopes) if (await this.#following.scope(world, scope)) return world;
    return undefined;
  }

  /** Whether a kind is followed already. */
  has(kind: Pick<KindDescription, "group" | "plural">): boolean {
    return this.#kinds.has(resourceOf(kind));
  }

  /** Whether the shadow has made a namespace. */
  hasNamespace(name: string): boolean {
    return this.#kinds.get("namespaces")?.fork(objectKeyOf(undefined, name))?.would !== undefined;
  }

  /** The streams by which the cluster is seen. */
  get following(): Pick<Following, "isCurrent" | "health" | "ended"> {
    return this.#following;
  }

  async #resolve(name: string): Promise<KindDescription | undefined> {
    try {
      return await this.#parts.client.resolve(name);
    } catch (error) {
      if (error instanceof UnknownKindError || error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  #make(kind: KindDescription): KindWorld {
    const { lens, onChanged } = this.#parts;
    return new KindWorld({
      kind,
      outlook: this.#outlook,
      lens,
      version: () => this.#version,
      nextVersion: () => ++this.#version,
      onChanged,
      onGone: (body) => this.#collect(body),
    });
  }

  /** Servers write whole seconds: what came in the same one may have been there before. */
  #isSinceBegin({ metadata }: KubeBody): boolean {
    return Date.parse(metadata?.creationTimestamp ?? "") > this.#parts.begunAt;
  }

  /** Of kinds that nobody follows nothing is known: then the owner may be gone. */
  #ownerGoes({ metadata }: KubeBody): boolean {
    const owners = metadata?.ownerReferences ?? [];
    return owners.some(({ apiVersion, kind, name, uid }) => {
      const owner = this.#ownerWorld(apiVersion, kind);
      const { is } = owner?.fork(objectKeyOf(owner.kind.namespaced ? metadata?.namespace : undefined, name)) ?? {};
      return is?.metadata?.uid !== uid || is.metadata.deletionTimestamp !== undefined;
    });
  }

  #ownerWorld(apiVersion: string, kind: string): KindWorld | undefined {
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    return this.kinds.find((world) => world.kind.kind === kind && world.kind.group === group);
  }

  /** What belonged to an object of the shadow's world goes with it, as the garbage collector would have it. */
  #collect({ metadata }: KubeBody): void {
    const { uid, namespace } = metadata ?? {};
    if (uid === undefined) return;
    for (const world of this.kinds) {
      for (const key of world.ownedBy(uid)) {
        const fork = world.fork(key);
        const { would, is } = fork ?? {};
        const owners = would?.metadata?.ownerReferences ?? [];
        if (!fork || !would || owners.length !== 1) continue;
        if (namespace !== undefined && would.metadata?.namespace !== namespace) continue;
        // What the cluster has goes when the cluster says so, unless its owner stays there.
        if (is && this.#outlook.ownerGoes(is)) continue;
        if ((would.metadata?.finalizers ?? []).length === 0) world.put(key, removed(fork, undefined));
      }
    }
  }

  /** Whether an object is gone, or goes, with an owner of it. */
  goesWithOwner(body: KubeBody): boolean {
    return this.#outlook.ownerGoes(body);
  }
}
