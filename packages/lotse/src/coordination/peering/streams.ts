/**
 * Follows peering objects: finds the kind out, one stream for the cluster or for each served namespace, and what they show.
 * Decides nothing.
 */
import {
  type Client,
  ForbiddenError,
  type KindDescription,
  type KubeBody,
  NotFoundError,
  Reflector,
} from "@lotse/client";
import { type Clock, errorMessage, Nap, objectKey } from "@lotse/client/meta";
import { firstOfSignals, Scopes } from "../../informers/index.ts";
import type { Logger } from "../../report/index.ts";
import { findPeeringKind, peeringNames } from "../peers/index.ts";
import type { Sighting } from "./machine.ts";

/** Hears what there is. */
export interface PeeringListener {
  /** Objects are looked for in this place; `problem`: it is not known yet which there are. */
  scope(scope: string, problem: string | undefined): void;
  closed(scope: string): void;
  /** All places are told where objects are looked for at present. */
  known(): void;
  seen(sighting: Sighting): void;
  gone(key: string): void;
}

/** What {@link PeeringStreams} is made of. */
export interface PeeringStreamsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Of the objects. */
  readonly name: string;
  readonly clusterwide: boolean;
  readonly namespaces: readonly (string | RegExp)[] | undefined;
  /** Nobody works while it is not known whether an object is there, not even who works already. */
  readonly strict: boolean;
  readonly listener: PeeringListener;
}

/** A definition that is installed later is noticed after so long; so is a server that answers again. */
const LOOK_AGAIN_MS = { kind: 10_000, server: 2_000 } as const;

/** The place of objects of the whole cluster. */
const EVERYWHERE = "";

interface OpenScope {
  readonly reflector: Reflector<KubeBody>;
  readonly close: () => void;
  readonly ended: Promise<void>;
}

/** See the module comment. */
export class PeeringStreams {
  readonly #o: PeeringStreamsOptions;
  readonly #open = new Map<string, OpenScope>();
  readonly #problems = new Map<string, string>();
  #kind: KindDescription | undefined;
  /** All first places are told. */
  #known = false;

  constructor(options: PeeringStreamsOptions) {
    this.#o = options;
  }

  /** The kind, once it is found. */
  get kind(): KindDescription | undefined {
    return this.#kind;
  }

  /** Follows the objects until `signal` aborts. Never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    const kind = await this.#awaitKind(signal);
    if (!kind) return;
    const { clusterwide, namespaces, client, clock, random, logger, listener } = this.#o;
    const places = new Scopes(clusterwide ? undefined : namespaces);
    const followed = places.follow({
      ...{ client, clock, random, logger, stop: signal, once: false },
      listener: {
        opened: (namespace) => this.#begin(namespace, kind, signal),
        closed: (namespace) => this.#end(namespace),
      },
    });
    for (const place of places.current) this.#begin(place ?? EVERYWHERE, kind, signal);
    await Promise.race([followed.known, aborted(signal)]);
    // Where the kind was missing, that was told of the whole cluster.
    if (!this.#open.has(EVERYWHERE)) listener.closed(EVERYWHERE);
    this.#tellKnown();
    await followed.done;
    await aborted(signal);
    await Promise.all([...this.#open.values()].map(({ ended }) => ended));
  }

  /** The server's answer to an own write: what is shown next is not older. False when it is no news. */
  wrote(scope: string, body: KubeBody): boolean {
    return this.#open.get(scope)?.reflector.wrote(body) ?? false;
  }

  /** Until the kind is there, the process is alone, or waits, as it was told. */
  async #awaitKind(signal: AbortSignal): Promise<KindDescription | undefined> {
    const { client, clock, clusterwide, listener, logger } = this.#o;
    for (let told = false; !signal.aborted; ) {
      try {
        this.#kind = await findPeeringKind(client, clusterwide, { signal });
        this.#well(EVERYWHERE);
        if (this.#kind) return this.#kind;
        if (!told) logger.info("the cluster has no kind for peering", { kind: peeringNames(clusterwide).kind });
        told = true;
        listener.scope(EVERYWHERE, undefined);
        this.#tellKnown();
      } catch (error) {
        if (signal.aborted) break;
        this.#trouble(EVERYWHERE, error);
        // What was known before is the best that is known.
        if (!told) listener.scope(EVERYWHERE, errorMessage(error));
      }
      const nap = new Nap(clock, signal);
      nap.endIn(this.#problems.size > 0 ? LOOK_AGAIN_MS.server : LOOK_AGAIN_MS.kind);
      await nap.over;
    }
    return undefined;
  }

  #begin(scope: string, kind: KindDescription, stop: AbortSignal): void {
    if (this.#open.has(scope)) return;
    const { client, clock, random, name, listener } = this.#o;
    // A place that is new does not interrupt who works already: its object does, if it has to.
    if (this.#o.strict || !this.#known) listener.scope(scope, "the peering object has not been looked for yet");
    const ending = new AbortController();
    const { signal, letGo } = firstOfSignals([stop, ending.signal]);
    const reflector = new Reflector<KubeBody>(
      client,
      {
        ...(scope !== EVERYWHERE && { namespace: scope }),
        ...{ fieldSelector: { "metadata.name": name }, clock, random },
      },
      {
        changed: (body) => listener.seen(sightingOf(scope, body)),
        gone: (body) => listener.gone(objectKey(body)),
        onSynced: () => listener.scope(scope, undefined),
        state: ({ phase, error }) => {
          if (phase === "watching") this.#well(scope);
          if (phase !== "waiting") return;
          if (error instanceof NotFoundError) {
            for (const body of reflector.values()) listener.gone(objectKey(body));
            listener.scope(scope, undefined);
            return;
          }
          this.#trouble(scope, error);
          if (!reflector.synced) listener.scope(scope, errorMessage(error));
        },
      },
    );
    const ended = reflector
      .run(signal, kind)
      .catch((error: unknown) => this.#trouble(scope, error))
      .finally(letGo);
    this.#open.set(scope, { reflector, close: () => ending.abort(), ended });
  }

  #tellKnown(): void {
    this.#known = true;
    this.#o.listener.known();
  }

  #end(scope: string): void {
    this.#open.get(scope)?.close();
    this.#open.delete(scope);
    this.#problems.delete(scope);
    this.#o.listener.closed(scope);
  }

  /** Said once, until it is another one or over. */
  #trouble(scope: string, error: unknown): void {
    const text = errorMessage(error);
    if (this.#problems.get(scope) === text) return;
    this.#problems.set(scope, text);
    const { clusterwide, logger } = this.#o;
    const { plural } = peeringNames(clusterwide);
    const { group = "kopf.dev" } = this.#kind ?? {};
    logger.warn("the peering object cannot be read, will be tried again", {
      ...(scope !== EVERYWHERE && { namespace: scope }),
      error: text,
      hint:
        error instanceof ForbiddenError
          ? `allow get, list, watch and patch of ${plural}.${group}`
          : (error as { hint?: string }).hint,
    });
  }

  #well(scope: string): void {
    if (this.#problems.delete(scope)) this.#o.logger.info("the peering object can be read again");
  }
}

/** What an object shows. */
export function sightingOf(scope: string, body: KubeBody): Sighting {
  return { scope, key: objectKey(body), version: body.metadata?.resourceVersion, status: body.status };
}

/** Resolves when the signal aborts, or at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
