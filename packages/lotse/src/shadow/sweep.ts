/**
 * Looks for kinds that the version that works writes and the shadow never touches: a version that no longer makes a child
 * does not ask for such children either. Only metadata is read, and only until the first trace is found.
 */
import { type Client, type KindDescription, type KubeBody, pathOf } from "@lotse/client";
import { type Clock, errorMessage } from "@lotse/client/meta";
import type { Logger } from "../report/index.ts";
import { resourceOf } from "./request-target.ts";
import type { Worker } from "./worker.ts";
import type { World } from "./world.ts";

/** What a {@link Sweep} is made of. */
export interface SweepParts {
  readonly client: Client;
  readonly world: World;
  readonly worker: Worker;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Namespaces to look into; undefined: all at once. */
  readonly namespaces: () => readonly string[] | undefined;
}

/** What the operator itself begins with comes first. */
const FIRST_MS = 10_000;
const PAUSE_MS = 300_000;
const METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
/** What no operator makes, and of which there is much. */
const NEVER: ReadonlySet<string> = new Set([
  "events",
  "events.events.k8s.io",
  "leases.coordination.k8s.io",
  "endpoints",
  "endpointslices.discovery.k8s.io",
  "nodes",
  "csinodes.storage.k8s.io",
  "customresourcedefinitions.apiextensions.k8s.io",
  "apiservices.apiregistration.k8s.io",
]);

/** See the module comment. */
export class Sweep {
  readonly #parts: SweepParts;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: SweepParts) {
    this.#parts = parts;
  }

  /** Sweeps soon, and then every few minutes. */
  begin(): void {
    const { clock, signal } = this.#parts;
    const again = () => {
      // Cannot reject.
      void this.now().then(() => {
        if (!signal.aborted) this.#cancel = clock.after(PAUSE_MS, again);
      });
    };
    this.#cancel = clock.after(FIRST_MS, again);
  }

  /** Sweeps once; resolves when what was found is followed. Cannot reject. */
  now(): Promise<void> {
    this.#running ??= this.#sweep()
      .catch((error: unknown) => {
        if (this.#parts.signal.aborted) return;
        this.#parts.logger.warn("kinds that only the old version writes could not be looked for", {
          error: errorMessage(error),
        });
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Ends what is to come. */
  close(): void {
    this.#cancel?.();
  }

  async #sweep(): Promise<void> {
    const { client, world, logger, signal, namespaces } = this.#parts;
    const { kinds } = await client.discover({ signal });
    const listed = kinds.filter(({ verbs }) => verbs.includes("list") && verbs.includes("watch"));
    for (const kind of listed) {
      if (NEVER.has(resourceOf(kind)) || world.has(kind)) continue;
      const scopes = kind.namespaced ? (namespaces() ?? [undefined]) : [undefined];
      for (const namespace of scopes) {
        if (!(await this.#hasTrace(kind, namespace))) continue;
        logger.info("a kind is compared because the old version writes it", { kind: resourceOf(kind) });
        await world.follow(kind, namespace);
      }
    }
  }

  async #hasTrace(kind: KindDescription, namespace: string | undefined): Promise<boolean> {
    const { client, worker, signal } = this.#parts;
    const path = pathOf(kind, { namespace });
    let token: string | undefined;
    do {
      signal.throwIfAborted();
      const query = { limit: 500, continue: token };
      const headers = { accept: METADATA };
      // What may not be seen, or is not there, has no trace that could be followed.
      const page = await client.raw({ method: "GET", path, query, headers, signal }).then(
        (response) => response.json<{ items?: KubeBody[]; metadata?: { continue?: string } }>(),
        () => undefined,
      );
      if (page?.items?.some((item) => worker.touched(item))) return true;
      token = page?.metadata?.continue || undefined;
    } while (token !== undefined);
    return false;
  }
}
