import type { WithBody } from "../kinds/index.ts";
import { GoneError } from "../transport/index.ts";

/** One answer of the server: some of the objects, and how many more there are when it says so. */
export interface ListPage<T> {
  readonly items: T[];
  readonly resourceVersion: string;
  readonly remaining: number | undefined;
}

/** The bodies of one page, and the token for the next one. */
export interface BodyPage<B> {
  readonly items: B[];
  readonly resourceVersion: string;
  readonly remaining: number | undefined;
  readonly next: string | undefined;
}

interface PageRequest {
  readonly continueToken?: string | undefined;
  readonly limit?: number | undefined;
}

/**
 * The objects of a kind, asked for page by page while they are read.
 *
 * @example
 * ```ts
 * for await (const pod of client.list(Pod, { labelSelector: { app: "web" } })) console.log(pod.name);
 * const all = await client.list(Pod).toArray();
 * ```
 */
export class ObjectList<T extends WithBody> implements AsyncIterable<T> {
  readonly #fetch: (page: PageRequest) => Promise<BodyPage<T["body"]>>;
  readonly #wrap: (body: T["body"]) => T;

  constructor(fetch: (page: PageRequest) => Promise<BodyPage<T["body"]>>, wrap: (body: T["body"]) => T) {
    this.#fetch = fetch;
    this.#wrap = wrap;
  }

  /** The list of a client that is known only when the program reads. */
  static deferred<T extends WithBody>(source: () => Promise<ObjectList<T>>): ObjectList<T> {
    let list: ObjectList<T> | undefined;
    return new ObjectList<T>(
      async (page) => {
        list ??= await source();
        return list.#fetch(page);
      },
      (body) => (list as ObjectList<T>).#wrap(body),
    );
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** The objects by page. */
  async *pages(): AsyncIterable<ListPage<T>> {
    for await (const { items, resourceVersion, remaining } of this.#bodies()) {
      yield { items: items.map(this.#wrap), resourceVersion, remaining };
    }
  }

  /** The bodies alone, with no object made around them: the fastest way through a large list. */
  async *raw(): AsyncIterable<T["body"]> {
    for await (const { items } of this.#bodies()) yield* items;
  }

  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for await (const { items } of this.#bodies()) for (const body of items) all.push(this.#wrap(body));
    return all;
  }

  /** The first object, or `undefined` when there is none. */
  async first(): Promise<T | undefined> {
    const { items } = await this.#fetch({ limit: 1 });
    return items[0] === undefined ? undefined : this.#wrap(items[0]);
  }

  /**
   * A reader who takes minutes outlives its continue token. The list then starts anew, and what was handed out already is
   * left out: each object comes at most once.
   */
  async *#bodies(): AsyncIterable<BodyPage<T["body"]>> {
    const seen = new Set<string | undefined>();
    let continueToken: string | undefined;
    for (;;) {
      let page: BodyPage<T["body"]>;
      try {
        page = await this.#fetch({ continueToken });
      } catch (error) {
        if (!(error instanceof GoneError) || continueToken === undefined) throw error;
        continueToken = undefined;
        continue;
      }
      const items = seen.size === 0 ? page.items : page.items.filter(({ metadata }) => !seen.has(metadata?.uid));
      continueToken = page.next;
      if (continueToken !== undefined) for (const { metadata } of items) seen.add(metadata?.uid);
      yield { ...page, items };
      if (continueToken === undefined) return;
    }
  }
}
