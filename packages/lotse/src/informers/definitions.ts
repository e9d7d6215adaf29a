/**
 * The definitions of custom kinds, as far as they can be watched: a bell that rings when kinds come, go or change, and a
 * witness of whether discovery has caught up. Discovery is another part of the server, or another server: it lags behind
 * by moments, and an answer that lacks a new kind must not be the last one for half a minute.
 */
import { type Client, CustomResourceDefinition, type KubeBody, openStream, type StreamState } from "@lotse/client";
import { type Clock, type KindKey, kindKey } from "@lotse/client/meta";
import type { StreamHealth } from "../report/index.ts";
import { sideStreamHealth } from "./stream-health.ts";

/** What a definition says of its kind. */
interface Definition {
  readonly spec?: { readonly group?: string; readonly names?: { readonly plural?: string } };
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] };
}

/** How definitions are followed. */
export interface DefinitionsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Kinds may have changed. */
  readonly onChange: () => void;
  /** The stream waits for something, or goes on. */
  readonly onState: (state: StreamState) => void;
}

/** See the module comment. */
export class Definitions {
  readonly #options: DefinitionsOptions;
  /** Whether the kind is served. */
  readonly #served = new Map<KindKey, boolean>();
  /** Those that were deleted, until discovery says so too. */
  readonly #deleted = new Set<KindKey>();
  #state: StreamState | undefined;
  #heardAt: number | undefined;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
  }

  /** Follows them until the signal aborts. */
  async follow(): Promise<void> {
    const { client, clock, random, signal, onChange, onState } = this.#options;
    const heard = () => {
      this.#heardAt = clock.monotonic();
    };
    const put = (body: KubeBody) => {
      const [key, served] = read(body);
      this.#served.set(key, served);
      if (served) this.#deleted.delete(key);
    };
    const take = (key: KindKey) => {
      this.#served.delete(key);
      this.#deleted.add(key);
    };
    const changed = (change: () => void) => {
      heard();
      change();
      onChange();
    };
    heard();
    await openStream<KubeBody>(
      client,
      CustomResourceDefinition.description,
      { clock, random },
      {
        replace: (items) =>
          changed(() => {
            const before = [...this.#served.keys()];
            this.#served.clear();
            for (const item of items) put(item);
            for (const key of before) if (!this.#served.has(key)) take(key);
          }),
        apply: (body) => changed(() => put(body)),
        remove: (body) => changed(() => take(read(body)[0])),
        bookmark: heard,
        state: (state) => {
          this.#state = state;
          onState(state);
        },
      },
      signal,
    );
  }

  /** Whether discovery, which has found the kinds of these keys, lags behind what the definitions say. */
  lags(discovered: ReadonlySet<KindKey>): boolean {
    for (const key of this.#deleted) if (!discovered.has(key)) this.#deleted.delete(key);
    if (this.#deleted.size > 0) return true;
    for (const [key, served] of this.#served) if (served && !discovered.has(key)) return true;
    return false;
  }

  health(): StreamHealth {
    const stream = { stream: this.#state, heardAt: this.#heardAt, size: this.#served.size };
    return sideStreamHealth(CustomResourceDefinition.description, stream, this.#options.clock.monotonic());
  }
}

function read(body: KubeBody): readonly [key: KindKey, served: boolean] {
  const { spec, status } = body as Definition;
  const established = status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
  return [kindKey({ plural: spec?.names?.plural ?? "", group: spec?.group ?? "" }), established === true];
}
