/** The kinds that the console shows: each is followed by one watch, which counts its objects and tells their changes. */
import { allNamespaces, type Client, type KindDescription, type KindLike, type StreamState } from "@lotse/client";
import { type Clock, objectKeyOf, sleep } from "@lotse/client/meta";
import type { Feed } from "./feed.ts";

/** Where a kind stands. */
export interface KindState {
  /** `plural.group`, or the name by which it was asked for. */
  readonly id: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly namespaced: boolean;
  /** How many objects there are; undefined until they have been listed. */
  readonly count: number | undefined;
  /** `waiting`: it cannot be listed now, for the reason in `problem`; it is tried again. */
  readonly phase: "listing" | "watching" | "waiting";
  readonly problem: string | undefined;
}

/** How long to wait before looking again for a kind that is not there. */
const LOOK_AGAIN_MS = 2_000;

/** One kind of the console. */
export class FollowedKind {
  readonly id: string;
  readonly #client: Client;
  readonly #kind: KindLike;
  readonly #feed: Feed;
  readonly #names = new Set<string>();
  #description: KindDescription | undefined;
  #phase: KindState["phase"] = "listing";
  #listed = false;
  #problem: string | undefined;

  constructor(client: Client, kind: KindLike, feed: Feed) {
    this.#client = client;
    this.#kind = kind;
    this.#feed = feed;
    this.#description = typeof kind === "string" ? undefined : "description" in kind ? kind.description : kind;
    this.id = idOf(kind);
  }

  get state(): KindState {
    const { kind = this.id, group = "", version = "", namespaced = true } = this.#description ?? {};
    const count = this.#listed ? this.#names.size : undefined;
    return { id: this.id, kind, group, version, namespaced, count, phase: this.#phase, problem: this.#problem };
  }

  /** The kind's description, asking the server where only a name is known. */
  async describe(): Promise<KindDescription> {
    this.#description ??= await this.#client.resolve(this.#kind);
    return this.#description;
  }

  /** Follows the kind until `signal` aborts. */
  async follow(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#watch(await this.describe(), signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#become("waiting", error);
        await sleep(clock, LOOK_AGAIN_MS, signal).catch(() => {});
      }
    }
  }

  async #watch(kind: KindDescription, signal: AbortSignal): Promise<void> {
    const onState = ({ phase, error }: StreamState) => {
      if (phase === "watching") this.#listed = true;
      if (phase !== "closed") this.#become(phase, error);
    };
    for await (const { type, object } of this.#client.watch(kind, { namespace: allNamespaces, signal, onState })) {
      const { namespace, name } = object;
      const before = this.#names.size;
      if (type === "DELETED") this.#names.delete(objectKeyOf(namespace, name));
      else this.#names.add(objectKeyOf(namespace, name));
      this.#feed.tell("change", { kind: this.id, type, namespace, name, uid: object.uid });
      if (this.#names.size !== before) this.#feed.tell("kind", this.state);
    }
  }

  #become(phase: KindState["phase"], error: unknown): void {
    const problem = phase === "waiting" ? messageOf(error) : undefined;
    if (phase === this.#phase && problem === this.#problem) return;
    this.#phase = phase;
    this.#problem = problem;
    this.#feed.tell("kind", this.state);
  }
}

interface Followed {
  readonly kind: FollowedKind;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** All kinds of the console: each once, in the order in which they were given. */
export class FollowedKinds {
  readonly #client: Client;
  readonly #feed: Feed;
  readonly #clock: Clock;
  #byId = new Map<string, Followed>();

  constructor(client: Client, feed: Feed, clock: Clock) {
    this.#client = client;
    this.#feed = feed;
    this.#clock = clock;
  }

  get states(): KindState[] {
    return [...this.#byId.values()].map(({ kind }) => kind.state);
  }

  get(id: string): FollowedKind | undefined {
    return this.#byId.get(id)?.kind;
  }

  /** Follows these kinds from now on, and no others. */
  show(kinds: readonly KindLike[]): void {
    const before = this.#byId;
    this.#byId = new Map();
    for (const kind of kinds) {
      const fresh = new FollowedKind(this.#client, kind, this.#feed);
      const known = before.get(fresh.id);
      if (this.#byId.has(fresh.id)) continue;
      this.#byId.set(fresh.id, known?.kind.state.version === fresh.state.version ? known : this.#follow(fresh));
    }
    const kept = new Set(this.#byId.values());
    for (const followed of before.values()) if (!kept.has(followed)) followed.stop.abort();
    this.#feed.tell("kinds", {});
  }

  /** Follows nothing any more; resolves when all watches are closed. */
  async close(): Promise<void> {
    const all = [...this.#byId.values()];
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ done }) => done));
  }

  #follow(kind: FollowedKind): Followed {
    const stop = new AbortController();
    return { kind, stop, done: kind.follow(this.#clock, stop.signal) };
  }
}

function idOf(kind: KindLike): string {
  if (typeof kind === "string") return kind;
  const { plural, group } = "description" in kind ? kind.description : kind;
  return group === "" ? plural : `${plural}.${group}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
