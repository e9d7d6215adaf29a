/** Keeps an operator paused for as long as a process lives: writes the pause, renews it, and takes it off at the end. */
import { type Client, Lease } from "@lotse/client";
import { type Clock, errorMessage, formatDuration, sleep } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import { type LeaseBody, placeOf, putPause, takePause } from "./leases.ts";
import type { Pause } from "./pause.ts";

/** What a {@link Pauser} is made of. */
export interface PauserParts {
  /** The Leases to write to; asked again at each renewal, because an operator may be deployed meanwhile. */
  readonly find: () => Promise<readonly LeaseBody[]>;
  /** One more Lease says that its operator is to pause. */
  readonly onPaused?: ((lease: LeaseBody) => void) | undefined;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly by: string;
  readonly priority: number;
  readonly message?: string | undefined;
  /** So long after this process has died the operator goes on. */
  readonly lifetimeMs: number;
}

/** How often a Lease is read while its holder is waited for. */
const LOOK_MS = 250;

/** A holder whose Lease has run out by so much is gone. */
const GRACE_MS = 1_000;

/** See the module comment. */
export class Pauser {
  readonly #parts: PauserParts;
  readonly #over = new AbortController();
  /** What was written to, by namespace and name: whatever is done about it, these are freed again. */
  readonly #paused = new Map<string, LeaseBody>();
  #renewing: Promise<void> | undefined;
  #trouble: string | undefined;

  constructor(parts: PauserParts) {
    this.#parts = parts;
  }

  /**
   * Writes the pause to all Leases of the operator that there are, and goes on doing so; resolves when those who hold them
   * have read it, with the Leases. Rejects when it cannot be written.
   */
  async begin(signal: AbortSignal): Promise<readonly LeaseBody[]> {
    const written = await this.#write();
    this.#renewing = this.#renew();
    await Promise.all(written.map((lease) => untilHeard(lease, this.#parts, signal)));
    return written;
  }

  /** The operator may go on. Never rejects. */
  async end(): Promise<void> {
    const { client, clock, by, logger, lifetimeMs } = this.#parts;
    this.#over.abort();
    await this.#renewing;
    for (const lease of this.#paused.values()) {
      try {
        await takePause(client, lease, by, clock.now());
      } catch (error) {
        logger.warn("the pause cannot be taken off the Lease, it ends by itself", {
          lease: placeOf(lease),
          within: formatDuration(lifetimeMs),
          error: errorMessage(error),
        });
      }
    }
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const { clock, lifetimeMs, logger } = this.#parts;
    while (!this.#over.signal.aborted) {
      await sleep(clock, lifetimeMs / 3, this.#over.signal).catch(() => undefined);
      if (this.#over.signal.aborted) return;
      try {
        await this.#write();
        if (this.#trouble !== undefined) logger.info("the pause is renewed again");
        this.#trouble = undefined;
      } catch (error) {
        const text = errorMessage(error);
        const { hint } = error as { hint?: string };
        if (text !== this.#trouble)
          logger.warn("the pause cannot be renewed, will be tried again", { error: text, hint });
        this.#trouble = text;
      }
    }
  }

  async #write(): Promise<LeaseBody[]> {
    const { client, clock, by, priority, message, lifetimeMs, find, onPaused } = this.#parts;
    const written: LeaseBody[] = [];
    for (const lease of await find()) {
      const until = clock.now() + lifetimeMs;
      const pause: Pause = { by, until, priority, lifetimeMs, ...(message !== undefined && { message }) };
      const body = await putPause(client, lease, pause, clock.now());
      if (!body) continue;
      const { namespace, name } = placeOf(body);
      const key = `${namespace}/${name}`;
      if (!this.#paused.has(key)) onPaused?.(body);
      this.#paused.set(key, body);
      written.push(body);
    }
    return written;
  }
}

/**
 * Resolves with true when whoever holds the Lease has read what it says: a renewal after it was written is based on it.
 * False when the holder is gone, or the signal aborts.
 */
export async function untilHeard(
  lease: LeaseBody,
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name } = placeOf(lease);
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease.spec ?? {};
  if (!holderIdentity) return false;
  const deadline = clock.monotonic() + leaseDurationSeconds * 1_000 + GRACE_MS;
  while (clock.monotonic() < deadline && !signal.aborted) {
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    try {
      const { spec } = (await client.get(Lease, name, { namespace, signal })).body;
      if (!spec?.holderIdentity) return false;
      if (spec.renewTime !== renewTime) return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
  return false;
}
