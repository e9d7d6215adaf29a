/** What the cluster shows of the kinds of a shadow's world: one supervised stream for each kind and scope. */
import { type Client, ForbiddenError, type KubeBody, NotFoundError, Reflector, type StreamState } from "@lotse/client";
import { type Clock, errorMessage } from "@lotse/client/meta";
import { firstOfSignals, streamHealth } from "../informers/index.ts";
import type { Logger, StreamHealth } from "../report/index.ts";
import type { KindWorld } from "./kind-world.ts";
import { resourceOf } from "./request-target.ts";

/** What {@link Following} is made of. */
export interface FollowingParts {
  /** Of the cluster, past the shadow. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Ends all streams. */
  readonly signal: AbortSignal;
}

/** A scope that is followed, or tried to. */
interface FollowedScope {
  readonly world: KindWorld;
  readonly namespace: string | undefined;
  readonly reflector: Reflector<KubeBody>;
  /** Whether it can be followed; resolves when all its objects are known. */
  readonly possible: Promise<boolean>;
  /** Resolves when it is followed no longer. */
  readonly ended: Promise<void>;
  interrupted: boolean;
}

/** See the module comment. */
export class Following {
  readonly #parts: FollowingParts;
  readonly #scopes = new Map<string, FollowedScope>();

  constructor(parts: FollowingParts) {
    this.#parts = parts;
  }

  /** Follows the objects of a scope; false when that is not allowed, or there is no such kind. */
  scope(world: KindWorld, namespace: string | undefined): Promise<boolean> {
    const key = `${resourceOf(world.kind)} ${namespace ?? "*"}`;
    const known = this.#scopes.get(key);
    if (known) return known.possible;
    const scope = this.#follow(key, world, namespace);
    this.#scopes.set(key, scope);
    return scope.possible;
  }

  /** Whether what is known of a kind is what the cluster has, as far as anybody can tell. */
  isCurrent(world: KindWorld): boolean {
    const scopes = [...this.#scopes.values()].filter((one) => one.world === world);
    return scopes.every(({ reflector }) => reflector.stream?.phase === "watching");
  }

  /** Its streams, one for each scope. */
  health(): StreamHealth[] {
    const now = this.#parts.clock.monotonic();
    return [...this.#scopes.values()].map(({ world, namespace, reflector }) =>
      streamHealth(world.kind, namespace, reflector, now),
    );
  }

  /** Resolves when nothing is followed any more. */
  async ended(): Promise<void> {
    await Promise.all([...this.#scopes.values()].map(({ ended }) => ended));
  }

  #follow(key: string, world: KindWorld, namespace: string | undefined): FollowedScope {
    const { client, clock, random, logger } = this.#parts;
    const over = new AbortController();
    const { signal, letGo } = firstOfSignals([this.#parts.signal, over.signal]);
    let answer: (possible: boolean) => void = () => {};
    const possible = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const giveUp = () => {
      // It may be allowed, or installed, the next time that it is asked for.
      this.#scopes.delete(key);
      over.abort();
      answer(false);
    };
    const reflector = new Reflector<KubeBody>(
      client,
      { namespace, clock, random, keepManagedFields: true },
      {
        changed: (body, { initial }) => world.shown(body, initial),
        gone: (body) => world.vanished(body),
        onSynced: () => answer(true),
        state: (state) => {
          const { error } = state;
          const refused = error instanceof ForbiddenError || error instanceof NotFoundError;
          if (state.phase === "waiting" && refused && !reflector.synced) giveUp();
          else this.#tell(key, state);
        },
      },
    );
    const ended = reflector
      .run(signal, world.kind)
      .catch((error: unknown) => {
        const fields = { kind: world.kind.kind, error: errorMessage(error) };
        logger.error("the shadow has lost sight of a kind, it is not compared any more", fields);
      })
      .finally(() => {
        letGo();
        answer(false);
      });
    return { world, namespace, reflector, possible, ended, interrupted: false };
  }

  /** Said once, and not at every try. */
  #tell(key: string, { phase, error }: StreamState): void {
    const scope = this.#scopes.get(key);
    if (!scope) return;
    const { logger } = this.#parts;
    const kind = scope.world.kind.kind;
    if (phase === "waiting" && !scope.interrupted) {
      scope.interrupted = true;
      const { hint } = (error ?? {}) as { hint?: string };
      logger.warn("what the cluster has is not seen, nothing is compared until then", {
        kind,
        error: errorMessage(error),
        hint,
      });
    } else if (phase === "watching" && scope.interrupted) {
      scope.interrupted = false;
      logger.info("what the cluster has is seen again", { kind });
    }
  }
}
