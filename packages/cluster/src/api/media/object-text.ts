import { type ApiObject, type Endpoint, gvkOf, type Listing } from "../../registry/index.ts";

/** Objects that are written before others have their turn: some milliseconds of work. */
const SLICE = 200;

/**
 * The JSON of objects, written once: what is stored never changes, and is asked for again and again by lists and by
 * everybody who watches. An object that is gone takes its text with it.
 */
export class ObjectTexts {
  readonly #texts = new WeakMap<object, string>();
  readonly #lines = new WeakMap<object, { readonly type: string; readonly line: Uint8Array }>();

  of(object: object): string {
    let text = this.#texts.get(object);
    if (text === undefined) {
      text = JSON.stringify(object);
      this.#texts.set(object, text);
    }
    return text;
  }

  /**
   * Writes many objects, and lets others in after each slice of them; {@link list} then finds them written. Undefined
   * where they are few.
   */
  prepare(items: readonly object[], turn: () => Promise<void>): Promise<void> | undefined {
    return items.length <= SLICE ? undefined : this.#prepare(items, turn);
  }

  async #prepare(items: readonly object[], turn: () => Promise<void>): Promise<void> {
    for (const [at, item] of items.entries()) {
      this.of(item);
      if ((at + 1) % SLICE === 0) await turn();
    }
  }

  /** An event of a watch. Most watchers are told the same, so it is kept as the bytes that go out. */
  event(type: string, object: object): Uint8Array {
    const known = this.#lines.get(object);
    if (known?.type === type) return known.line;
    const line = new TextEncoder().encode(`{"type":"${type}","object":${this.of(object)}}\n`);
    this.#lines.set(object, { type, line });
    return line;
  }

  /** A page of whole objects. */
  list(endpoint: Endpoint, listing: Listing): string {
    const metadata = listMetadata(listing);
    const { kind, apiVersion } = gvkOf(endpoint);
    const { listKind, custom } = endpoint.resource;
    const quoted = (text: string) => JSON.stringify(text);
    if (custom) {
      const items = listing.items.map((item) => this.of(item)).join(",");
      const rest = JSON.stringify({ continue: "", ...metadata });
      return `{"apiVersion":${quoted(apiVersion)},"items":[${items}],"kind":${quoted(listKind)},"metadata":${rest}}\n`;
    }
    // Items of typed lists do not repeat their kind: the list's says it.
    const prefix = `{"kind":${quoted(kind)},"apiVersion":${quoted(apiVersion)},`;
    const items = listing.items.map((item) => this.#withoutKind(item, prefix)).join(",");
    return `{"kind":${quoted(listKind)},"apiVersion":${quoted(apiVersion)},"metadata":${JSON.stringify(metadata)},"items":[${items}]}\n`;
  }

  #withoutKind(item: ApiObject, prefix: string): string {
    const text = this.of(item);
    if (text.startsWith(prefix)) return `{${text.slice(prefix.length)}`;
    const { kind: _, apiVersion: __, ...rest } = item;
    return JSON.stringify(rest);
  }
}

/** What a page of a collection says about itself. */
export function listMetadata(listing: Listing): Record<string, unknown> & { resourceVersion: string } {
  return {
    resourceVersion: listing.resourceVersion,
    ...(listing.continueToken === undefined ? {} : { continue: listing.continueToken }),
    ...(listing.remaining === undefined ? {} : { remainingItemCount: listing.remaining }),
    ...(listing.shard === undefined ? {} : { shardInfo: { selector: listing.shard } }),
  };
}
