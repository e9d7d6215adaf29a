/** In which namespaces does the operator work? Followed while they come and go. */
import { type Client, ForbiddenError, type KubeBody, Namespace, openStream } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import {
  type NamespaceFilter,
  type NamespaceState,
  namespaceChanges,
  namespaceState,
  parseNamespaces,
} from "../informers/index.ts";
import type { Logger } from "../report/index.ts";

/** A namespace, or the whole cluster. */
export type Scope = string | undefined;

/** Told when a namespace begins or ceases to belong. */
export interface ScopeListener {
  opened(namespace: string): void;
  closed(namespace: string): void;
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
   * Follows the namespaces of the cluster where patterns demand it; resolves when the first ones are known. `once` takes
   * those that there are and looks for no others.
   */
  follow(client: Client, clock: Clock, logger: Logger, stop: AbortSignal, listener: ScopeListener, once: boolean) {
    const filter = this.#filter;
    if (!filter || filter.exact) return { known: Promise.resolve(), done: Promise.resolve() };
    const states = new Map<string, NamespaceState>();
    let resolve: () => void = () => {};
    const known = new Promise<void>((done) => {
      resolve = done;
    });
    const enough = new AbortController();
    const signal = AbortSignal.any([stop, enough.signal]);
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
    const put = (body: KubeBody) => void states.set(body.metadata?.name ?? "", namespaceState(body));
    const done = openStream<KubeBody>(
      client,
      Namespace.description,
      { clock },
      {
        replace: (items) => {
          states.clear();
          for (const item of items) put(item);
          update();
        },
        apply: (body) => {
          put(body);
          update();
        },
        remove: (body) => {
          states.delete(body.metadata?.name ?? "");
          update();
        },
        state: ({ phase, error }) => {
          if (phase !== "waiting" || !(error instanceof ForbiddenError)) return;
          logger.warn("namespaces cannot be listed, only those that are named in full are served", {
            namespaces: filter.named.join(", ") || "none",
            hint: "allow list and watch of namespaces, or name them one by one",
          });
          for (const name of filter.named) states.set(name, { name, released: false });
          update();
        },
      },
      signal,
    );
    return { known, done };
  }
}
