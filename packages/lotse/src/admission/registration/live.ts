/** The registered objects as they are in the cluster, as far as they can be watched. */
import {
  apiVersionOf,
  type Client,
  ForbiddenError,
  type KindDescription,
  type KubeBody,
  NotFoundError,
  openStream,
} from "@lotse/client";
import { type Clock, errorMessage } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";

/** What is watched: objects of a kind, by their labels, or one by its name. */
export interface LiveQuery {
  readonly kind: KindDescription;
  readonly labels?: Readonly<Record<string, string>>;
  readonly name?: string;
}

/** What {@link LiveObjects} goes by. */
export interface LiveParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Something is otherwise than before. */
  readonly onChange: () => void;
}

/** See the module comment. */
export class LiveObjects {
  readonly #parts: LiveParts;
  readonly #objects = new Map<string, KubeBody>();
  readonly #streams = new Map<string, { readonly known: Promise<void>; readonly ended: Promise<void> }>();
  /** Queries whose answers are known. */
  readonly #seen = new Set<string>();
  readonly #told = new Set<string>();

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  /** Begins to watch, once for each query; resolves when what is there is known, or cannot be. */
  watch(query: LiveQuery): Promise<void> {
    const key = queryKey(query);
    const known = this.#streams.get(key)?.known;
    if (known) return known;
    const begun = this.#begin(key, query);
    this.#streams.set(key, begun);
    return begun.known;
  }

  /** Whether what a query asks for is known; where it is not, nothing can be said of what is missing. */
  isKnown(query: LiveQuery): boolean {
    return this.#seen.has(queryKey(query));
  }

  /** The object, if it is there. */
  get(kind: Pick<KindDescription, "group" | "version" | "kind">, name: string): KubeBody | undefined {
    return this.#objects.get(objectKey(apiVersionOf(kind), kind.kind, name));
  }

  /** All that is there of a kind. */
  of({ kind }: Pick<LiveQuery, "kind">): readonly KubeBody[] {
    const prefix = objectKey(apiVersionOf(kind), kind.kind, "");
    return [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, body]) => body);
  }

  /** The API server has answered a write: what it says is newer than what the stream has shown. */
  wrote(kind: KindDescription, name: string, body: KubeBody | undefined): void {
    const key = objectKey(apiVersionOf(kind), kind.kind, name);
    if (body) this.#objects.set(key, body);
    else this.#objects.delete(key);
  }

  /** Resolves when all streams have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#streams.values()].map(({ ended }) => ended));
  }

  #begin(key: string, query: LiveQuery) {
    const { client, clock, random, signal } = this.#parts;
    const { kind, labels, name } = query;
    let settle: () => void = () => {};
    const known = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const mine = new Set<string>();
    const put = (body: KubeBody) => {
      const at = objectKey(apiVersionOf(kind), kind.kind, body.metadata?.name ?? "");
      mine.add(at);
      if (isOlder(body, this.#objects.get(at))) return;
      // Lists do not say what their items are.
      this.#objects.set(at, { ...body, apiVersion: apiVersionOf(kind), kind: kind.kind } as KubeBody);
    };
    const ended = openStream<KubeBody>(
      client,
      kind,
      {
        clock,
        random,
        keepManagedFields: true,
        ...(labels && { labelSelector: labels }),
        ...(name !== undefined && { fieldSelector: { "metadata.name": name } }),
      },
      {
        replace: (items) => {
          for (const at of mine) this.#objects.delete(at);
          mine.clear();
          for (const item of items) put(item);
          this.#seen.add(key);
          settle();
          this.#parts.onChange();
        },
        apply: (body) => {
          put(body);
          this.#parts.onChange();
        },
        remove: (body) => {
          this.#objects.delete(objectKey(apiVersionOf(kind), kind.kind, body.metadata?.name ?? ""));
          this.#parts.onChange();
        },
        state: ({ phase, error }) => {
          if (phase !== "waiting" || !(error instanceof ForbiddenError || error instanceof NotFoundError)) return;
          this.#tellBlind(kind, error);
          settle();
        },
      },
      signal,
    ).finally(settle);
    return { known, ended };
  }

  /** What cannot be watched is written all the same, and not looked after. */
  #tellBlind(kind: KindDescription, error: unknown): void {
    if (this.#told.has(kind.plural)) return;
    this.#told.add(kind.plural);
    this.#parts.logger.warn("what is registered cannot be watched, changes by other clients are not noticed", {
      kind: kind.kind,
      error: errorMessage(error),
      hint: `allow list and watch of ${kind.plural}.${kind.group}`,
    });
  }
}

/** A stream may still show what was there before an own write whose answer is known. */
function isOlder(body: KubeBody, known: KubeBody | undefined): boolean {
  const [version, newer] = [body, known].map((one) => one?.metadata?.resourceVersion ?? "");
  const sameObject = body.metadata?.uid === known?.metadata?.uid;
  return sameObject && isNumber(version) && isNumber(newer) && BigInt(version ?? "") < BigInt(newer ?? "");
}

function isNumber(text: string | undefined): boolean {
  return text !== undefined && /^\d+$/.test(text);
}

function queryKey({ kind, labels, name }: LiveQuery): string {
  return JSON.stringify([apiVersionOf(kind), kind.plural, labels, name]);
}

function objectKey(apiVersion: string, kind: string, name: string): string {
  return `${apiVersion} ${kind} ${name}`;
}
