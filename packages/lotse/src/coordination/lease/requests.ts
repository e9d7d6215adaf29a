/** The requests that keep a Lease. They wait for no others: a process with much to write must not lose its Lease by it. */
import {
  AlreadyExistsError,
  type Client,
  ConflictError,
  Lease,
  NotFoundError,
  type RawRequest,
  type StreamState,
} from "@lotse/client";
import type { LeaseBody, LeaseClaim } from "./record.ts";

/** What a write came to. */
export type Written = { readonly body: LeaseBody } | "conflict";

/** Who hears what becomes of the Lease. */
export interface LeaseListener {
  /** Undefined: it was deleted. */
  seen(body: LeaseBody | undefined, version: string): void;
  state(state: StreamState): void;
}

/** See the module comment. */
export class LeaseRequests {
  readonly #client: Client;
  readonly #claim: Pick<LeaseClaim, "name" | "namespace">;

  constructor(client: Client, claim: Pick<LeaseClaim, "name" | "namespace">) {
    this.#client = client;
    this.#claim = claim;
  }

  /** The Lease; undefined: there is none. */
  async read(signal: AbortSignal): Promise<LeaseBody | undefined> {
    try {
      return await this.#send({ method: "GET", path: this.#path(), signal });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** Writes, unless another process was first. */
  async write(verb: "create" | "update", body: LeaseBody, signal: AbortSignal): Promise<Written> {
    try {
      const { namespace } = this.#claim;
      return {
        body:
          verb === "create"
            ? await this.#send({ method: "POST", path: this.#client.path(Lease, { namespace }), body, signal })
            : await this.#send({ method: "PUT", path: this.#path(), body, signal }),
      };
    } catch (error) {
      const late = error instanceof ConflictError || error instanceof AlreadyExistsError;
      // Deleted since it was seen. A create that finds nothing misses its namespace.
      if (late || (verb === "update" && error instanceof NotFoundError)) return "conflict";
      throw error;
    }
  }

  /** Tells every change, for ever; resolves when the signal aborts. */
  async follow(listener: LeaseListener, inactivityMs: number, signal: AbortSignal): Promise<void> {
    const { name, namespace } = this.#claim;
    const watch = this.#client.watch(Lease, {
      namespace,
      fieldSelector: { "metadata.name": name },
      inactivity: inactivityMs,
      signal,
      onState: (state) => listener.state(state),
    });
    try {
      for await (const { type, object } of watch) {
        listener.seen(type === "DELETED" ? undefined : object.body, object.body.metadata?.resourceVersion ?? "");
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #path(): string {
    return this.#client.path(Lease, this.#claim);
  }

  /** As a stream, because streams take no turn among requests; the signal limits it as a whole. */
  async #send(request: RawRequest): Promise<LeaseBody> {
    const response = await this.#client.raw({ ...request, stream: true, retry: false });
    return response.json<LeaseBody>();
  }
}
