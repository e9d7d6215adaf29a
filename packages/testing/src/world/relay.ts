/**
 * Stands between the operator's client and its connection and sees what is under way: requests without an answer, and
 * bytes that a watch delivers. The harness takes the operator for quiet only when neither moves. Whoever wants to
 * interfere does it here.
 *
 * It also keeps watches alive under a clock that a test moves: an hour that passes in a millisecond leaves no time for
 * the server's bookmarks to arrive, and the operator would take each watch for dead.
 *
 * What must stay true: once the life of the operator is over, nothing that it has asked for returns or throws. Its `catch`
 * blocks would go on acting otherwise, which no process does that was killed.
 */
import { text } from "node:stream/consumers";
import {
  type Client,
  ConnectionError,
  type RawRequest,
  type RawResponse,
  type Transport,
  type WebSocketConnection,
  type WebSocketRequest,
} from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { HeldLines, Interference } from "./interference.ts";
import { type OperatorRequest, operatorRequest } from "./requests.ts";
import { WatchTap } from "./watch-tap.ts";

/** Well below the silence after which a watch counts as dead. */
const BEAT_MS = 30_000;
/** The server ends a watch after the time that the client asks for; no test moves its clock by years. */
const WATCH_SECONDS = 10 * 365 * 24 * 3_600;

/** What a {@link Relay} goes by. */
export interface RelayParts {
  readonly client: Client;
  /** The one that the test moves; undefined in real time. */
  readonly clock: Clock | undefined;
  readonly interference: Interference | undefined;
  /** Ends the operator's life here and now. */
  readonly crash: () => void;
}

/** See the module comment. */
export class Relay implements Transport, HeldLines {
  readonly #parts: RelayParts;
  readonly #taps = new Set<WatchTap>();
  readonly #arriving = new Set<Promise<unknown>>();
  #underWay = 0;
  #moves = 0;
  #dead = false;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Requests whose answer is not complete; an open watch is none. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Grows with everything that happens. */
  get moves(): number {
    return this.#moves;
  }

  get holds(): boolean {
    return [...this.#taps].some((tap) => tap.holds);
  }

  release(): void {
    for (const tap of this.#taps) if (tap.holds) tap.release();
  }

  /** Nothing gets through any more, in either direction; resolves when what had left before has arrived. */
  async die(): Promise<void> {
    this.#dead = true;
    for (const tap of this.#taps) tap.die();
    await Promise.all(this.#arriving);
    await this.#parts.client.close();
  }

  request(request: RawRequest): Promise<RawResponse> {
    return this.#whileAlive(async () => {
      this.#moves++;
      this.#underWay++;
      try {
        return await this.#carry(operatorRequest(request));
      } finally {
        this.#moves++;
        this.#underWay--;
      }
    });
  }

  webSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
    return this.#whileAlive(async () => {
      this.#moves++;
      return this.#parts.client.webSocket(request);
    });
  }

  async close(): Promise<void> {
    if (!this.#dead) await this.#parts.client.close();
  }

  /** What `work` comes to, unless the operator's life ends before: then nothing ever. */
  #whileAlive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#dead) return;
      work().then(
        (value) => {
          if (!this.#dead) resolve(value);
        },
        (error: unknown) => {
          if (!this.#dead) reject(error);
        },
      );
    });
  }

  async #carry(request: OperatorRequest): Promise<RawResponse> {
    const { client, interference, crash } = this.#parts;
    const fate = (await interference?.before?.(request)) ?? "send";
    if (fate === "refuse") throw lost(request.raw, client.config.server);
    if (fate !== "send") {
      if (fate !== "crash") this.#arrive(fate.arrives, request);
      crash();
    }
    if (this.#dead) return never();
    const past = request.fillsCache ? interference?.list?.(request) : undefined;
    const raw = this.#adapted(request.raw, past);
    // The past may be forgotten by now: then only the present is left.
    const sent = past === undefined ? client.raw(raw) : client.raw(raw).catch(() => client.raw(request.raw));
    if (raw.stream) return this.#watched(request, await sent);
    if (!interference?.after) return this.#complete(await sent);
    const [answer] = await Promise.allSettled([sent]);
    if (this.#dead) return never();
    const status = answer.status === "fulfilled" ? answer.value.status : statusOf(answer.reason);
    const end = await interference.after(request, { status });
    if (end === "crash") crash();
    if (this.#dead) return never();
    if (end === "lose") throw lost(request.raw, client.config.server);
    return this.#complete(await sent);
  }

  /** What had left the operator when it died reaches the cluster, and its answer nobody. */
  #arrive(when: Promise<void>, { raw }: OperatorRequest): void {
    const { signal: _, beforeSend: __, onAttempt: ___, ...request } = raw;
    const arrived = when.then(() => this.#parts.client.raw(request)).catch(() => {});
    this.#arriving.add(arrived);
  }

  #adapted(request: RawRequest, past: string | undefined): RawRequest {
    const { query } = request;
    if (past !== undefined) {
      return { ...request, query: { ...query, resourceVersion: past, resourceVersionMatch: "Exact" } };
    }
    if (!this.#parts.clock || query?.timeoutSeconds === undefined) return request;
    return { ...request, query: { ...query, timeoutSeconds: WATCH_SECONDS } };
  }

  #watched(request: OperatorRequest, response: RawResponse): RawResponse {
    const { clock, interference } = this.#parts;
    const { status, headers } = response;
    let cancelBeat = () => {};
    const line = interference?.line?.bind(interference);
    const body = new WatchTap({
      source: response.body,
      decide: request.verb === "watch" && line ? (event) => line({ request, ...event }) : undefined,
      moved: () => {
        this.#moves++;
      },
      ended: () => {
        this.#moves++;
        this.#taps.delete(body);
        cancelBeat();
      },
    });
    this.#taps.add(body);
    const beat = () => {
      body.beat();
      cancelBeat = clock?.after(BEAT_MS, beat) ?? cancelBeat;
    };
    if (clock && request.verb === "watch") cancelBeat = clock.after(BEAT_MS, beat);
    if (this.#dead) body.die();
    return { status, headers, body, json: async () => JSON.parse(await text(body)), text: () => text(body) };
  }

  /** What the answer's reader still has to read belongs to the request. */
  #complete(response: RawResponse): RawResponse {
    const counted = <T>(read: () => Promise<T>): Promise<T> =>
      this.#whileAlive(async () => {
        this.#underWay++;
        try {
          return await read();
        } finally {
          this.#moves++;
          this.#underWay--;
        }
      });
    const { status, headers, body } = response;
    return {
      status,
      headers,
      body,
      json: <T>() => counted(() => response.json<T>()),
      text: () => counted(() => response.text()),
    };
  }
}

/** A promise of something that a dead process waits for. */
function never(): Promise<never> {
  return new Promise(() => {});
}

function statusOf(error: unknown): number | undefined {
  return (error as { status?: number } | undefined)?.status;
}

function lost({ method, path }: RawRequest, server: string): ConnectionError {
  return new ConnectionError(`${method} ${path}: lost the connection to ${server}: the connection was reset`, {
    request: { method, path },
    sent: true,
  });
}
