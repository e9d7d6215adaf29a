/**
 * The attempts that are under way for objects of one kind. A handler that does not come to its end keeps its object from
 * everything else, so it is told of after a while, and again when twice the time has passed. One timer for all of them,
 * and none while nothing runs for long.
 */
import type { Clock, IdentityKey } from "@lotse/client/meta";

/** An attempt that is under way. */
export interface RunningAttempt {
  readonly key: IdentityKey;
  readonly handler: { readonly id: string; readonly sourceLocation: string | undefined };
  /** By which the run is found again. */
  readonly runId: string;
  /** Monotonic milliseconds. */
  readonly since: number;
}

/** What {@link RunningAttempts} is made of. */
export interface RunningAttemptsOptions {
  readonly clock: Clock;
  /** Milliseconds after which an attempt is told of. */
  readonly slowMs: number;
  readonly onSlow: (attempt: RunningAttempt, forMs: number) => void;
}

interface Entry extends RunningAttempt {
  /** When it is told of (next). */
  tellAt: number;
}

/** See the module comment. */
export class RunningAttempts {
  readonly #options: RunningAttemptsOptions;
  readonly #entries = new Set<Entry>();
  #cancel: (() => void) | undefined;

  constructor(options: RunningAttemptsOptions) {
    this.#options = options;
  }

  /** An attempt begins; {@link end} is told what this returns when it has ended. */
  begin(key: IdentityKey, handler: RunningAttempt["handler"], runId: string): RunningAttempt {
    const since = this.#options.clock.monotonic();
    const entry: Entry = { key, handler, runId, since, tellAt: since + this.#options.slowMs };
    this.#entries.add(entry);
    // Entries are told of in the order of their beginnings, so a timer that is set is set for the first of them.
    this.#cancel ??= this.#wakeAt(entry.tellAt);
    return entry;
  }

  /** An attempt has ended. */
  end(attempt: RunningAttempt): void {
    this.#entries.delete(attempt as Entry);
  }

  /** What is under way for an object. */
  of(key: IdentityKey): RunningAttempt[] {
    return [...this.#entries].filter((entry) => entry.key === key);
  }

  /** Tells of no slow attempt any more. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#entries.clear();
  }

  #wakeAt(at: number): () => void {
    const { clock } = this.#options;
    return clock.after(at - clock.monotonic(), () => this.#look());
  }

  #look(): void {
    const now = this.#options.clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#entries) {
      if (entry.tellAt <= now) {
        const forMs = now - entry.since;
        entry.tellAt = now + forMs;
        this.#options.onSlow(entry, forMs);
      }
      next = Math.min(next, entry.tellAt);
    }
    this.#cancel = next === Number.POSITIVE_INFINITY ? undefined : this.#wakeAt(next);
  }
}
