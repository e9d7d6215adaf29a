/**
 * Does the server answer? Each request of a client tells a little of it; here it comes together, so that a stream that
 * waits after a failure need not wait to the end once another request has been answered.
 *
 * What must stay true:
 * - A stream that waits is woken by the first answer after it began to wait, or by its own timer, never by
 *   the failure of another.
 * - One of those who wait is the scout: it looks more often than the others, so that a server that is back is noticed
 *   within seconds, however many wait, and with one request at a time.
 */
import type { Clock } from "../meta/index.ts";
import { ApiError, ConnectionError, TimeoutError } from "./errors.ts";
import type { RawResponse, Transport } from "./request.ts";

/** A stream that waits for the server. */
export interface ServerWait {
  /** Whether it shall look again soon, for all the others. */
  readonly scout: boolean;
  /** It waits no longer. One that does not try again (`"gone"`) leaves its part to another. */
  leave(why: "tries" | "gone"): void;
}

/** Where those who wait for the server hear that it answers; `Client` has it. */
export interface Reachability {
  /** `wake` is called at each answer of the server, until the wait is left; `scouts`: whether it can be the scout. */
  wait(wake: () => void, o?: { readonly scouts?: boolean }): ServerWait;
  /** Calls back when the server answers after it did not, for so many milliseconds; the returned function ends that. */
  onBack(listener: (downMs: number) => void): () => void;
}

interface Waiting extends ServerWait {
  readonly wake: () => void;
}

/** Whether a failure may be the server's absence, which ends by itself, and not an answer to this one request. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.lasting;
  return error instanceof TimeoutError || (error instanceof ApiError && error.status >= 500);
}

/** Who I am and how busy the server is says nothing about others; any other "no" is an answer. */
function isAnswer(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && ![401, 403, 429].includes(error.status);
}

/** See the module comment. */
export class ServerReachability implements Reachability {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  readonly #listeners = new Set<(downMs: number) => void>();
  #scout: Waiting | undefined;
  #lostAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wait(wake: () => void, { scouts = true }: { readonly scouts?: boolean } = {}): ServerWait {
    const scout = scouts && this.#scout === undefined;
    const waiting: Waiting = { wake, scout, leave: (why) => this.#leave(waiting, why) };
    this.#waiting.add(waiting);
    if (waiting.scout) this.#scout = waiting;
    return waiting;
  }

  onBack(listener: (downMs: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A request has come to its end. */
  heard(failure?: unknown): void {
    if (failure === undefined || isAnswer(failure)) this.#answered();
    else if (isOutOfReach(failure)) this.#lostAt ??= this.#clock.monotonic();
  }

  #answered(): void {
    if (this.#waiting.size > 0) for (const { wake } of [...this.#waiting]) wake();
    if (this.#lostAt === undefined) return;
    const downMs = this.#clock.monotonic() - this.#lostAt;
    this.#lostAt = undefined;
    for (const listener of [...this.#listeners]) listener(downMs);
  }

  #leave(waiting: Waiting, why: "tries" | "gone"): void {
    if (!this.#waiting.delete(waiting) || this.#scout !== waiting) return;
    this.#scout = undefined;
    // The stream that is woken tries, and is the scout should that fail.
    if (why === "gone") for (const { wake } of [...this.#waiting].slice(0, 1)) wake();
  }
}

/** The same transport, whose every request tells `reachability` how it ended. */
export function tellingReachability(transport: Transport, reachability: ServerReachability): Transport {
  const answered = (response: RawResponse): RawResponse => {
    reachability.heard();
    return response;
  };
  const failed = (error: unknown): never => {
    reachability.heard(error ?? new Error("failed without a reason"));
    throw error;
  };
  return {
    request: (request) => transport.request(request).then(answered, failed),
    ...(transport.webSocket && { webSocket: transport.webSocket.bind(transport) }),
    ...(transport.reauthenticate && { reauthenticate: transport.reauthenticate.bind(transport) }),
    close: () => transport.close(),
  };
}
