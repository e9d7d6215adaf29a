/** In which namespaces does the operator work? Followed while they come and go. */
import { type Client, ForbiddenError, type KubeBody, Namespace, openStream, type StreamState } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import { type NamespaceFilter, parseNamespaces } from "../declare/index.ts";
import type { Logger, StreamHealth } from "../report/index.ts";
import { type NamespaceState, namespaceChanges, namespaceState } from "./namespaces.ts";
import { firstOfSignals } from "./signals.ts";
import { sideStreamHealth } from "./stream-health.ts";

/** A namespace, or the whole cluster. */
export type Scope = string | undefined;

/** Told when a namespace begins or ceases to belong. */
export interface ScopeListener {
  opened(namespace: string): void;
  closed(namespace: string): void;
}

/** How namespaces are followed. */
export interface ScopesFollowing {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly listener: ScopeListener;
  readonly once: boolean;
}

/** Namespaces that are followed. */
export interface FollowedScopes {
  /** Resolves when the first ones are known. */
  readonly known: Promise<void>;
  /** Resolves when they are followed no longer. */
  readonly done: Promise<void>;
  /** Their stream; none where there is nothing to follow. */
  health(): StreamHealth[];
}

/** See the module comment. */
export class Scopes {
  readonly #filter: NamespaceFilter | undefined;
  readonly #open = new Set<string>();

  /** Without patterns: the whole cluster. */
  constructor(patterns: readonly (string | RegExp)[] | undefined) {
    this.#filter = patterns && parseNamespaces(patterns);
    for (const name of this.#filter?.exact ?? []) this.#open.add(name);
  }

  /** Where objects of a namespaced kind are looked for right now. */
  get current(): readonly Scope[] {
    return this.#filter ? [...this.#open] : [undefined];
  }

  /**
   * Follows the namespaces of the cluster where patterns demand it; `known` resolves when the first ones are. `once` takes
   * those that there are and looks for no others.
   */
  follow(options: ScopesFollowing): FollowedScopes {
    const filter = this.#filter;
    if (!filter || filter.exact) return { known: Promise.resolve(), done: Promise.resolve(), health: () => [] };
    const { client, clock, random, logger, stop, listener, once } = options;
    const states = new Map<string, NamespaceState>();
    let resolve: () => void = () => {};
    const known = new Promise<void>((done) => {
      resolve = done;
    });
    const enough = new AbortController();
    const { signal, letGo } = firstOfSignals([stop, enough.signal]);
    let state: StreamState | undefined;
    let heardAt: number | undefined;
    let forbidden = false;
    const update = () => {
      const { opened, closed } = namespaceChanges(this.#open, states.values(), filter);
      for (const name of closed) {
        this.#open.delete(name);
        listener.closed(name);
      }
      for (const name of opened) {
        this.#open.add(name);
        listener.opened(name);
      }
      if (once) enough.abort();
      resolve();
    };
    const heard = () => {
      heardAt = clock.monotonic();
    };
    const put = (body: KubeBody) => void states.set(body.metadata?.name ?? "", namespaceState(body));
    const onForbidden = () => {
      if (forbidden) return;
      forbidden = true;
      logger.warn("namespaces cannot be listed, only those that are named in full are served", {
        namespaces: filter.named.join(", ") || "none",
        hint: "allow list and watch of namespaces, or name them one by one",
      });
      for (const name of filter.named) states.set(name, { name, released: false });
      update();
    };
    heard();
    const done = openStream<KubeBody>(
      client,
      Namespace.description,
      { clock, random },
      {
        replace: (items) => {
          heard();
          if (forbidden) logger.info("namespaces can be listed again");
          forbidden = false;
          states.clear();
          for (const item of items) put(item);
          update();
        },
        apply: (body) => {
          heard();
          put(body);
          update();
        },
        remove: (body) => {
          heard();
          states.delete(body.metadata?.name ?? "");
          update();
        },
        bookmark: heard,
        state: (now) => {
          state = now;
          if (now.phase === "waiting" && now.error instanceof ForbiddenError) onForbidden();
        },
      },
      signal,
    ).finally(letGo);
    const health = () => {
      const stream = { stream: state, heardAt, size: states.size };
      return [sideStreamHealth(Namespace.description, stream, clock.monotonic())];
    };
    return { known, done, health };
  }
}
