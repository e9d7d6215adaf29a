/**
 * Stands between the operator's client and its connection and sees what is under way: requests without an answer, and
 * bytes that a watch delivers. The harness takes the operator for quiet only when neither moves.
 *
 * It also keeps watches alive under a clock that a test moves: an hour that passes in a millisecond leaves no time for
 * the server's bookmarks to arrive, and the operator would take each watch for dead.
 */
import { pipeline, Transform } from "node:stream";
import { text } from "node:stream/consumers";
import type { Client, RawRequest, RawResponse, Transport } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";

/** Well below the silence after which a watch counts as dead. */
const BEAT_MS = 30_000;
/** The server ends a watch after the time that the client asks for; no test moves its clock by years. */
const WATCH_SECONDS = 10 * 365 * 24 * 3_600;
const NEWLINE = 0x0a;

/** See the module comment. */
export class Relay implements Transport {
  readonly #client: Client;
  readonly #clock: Clock | undefined;
  #underWay = 0;
  #moves = 0;

  /** `clock` is the one that the test moves; undefined in real time. */
  constructor(client: Client, clock: Clock | undefined) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Requests whose answer is not complete; an open watch is none. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Grows with everything that happens. */
  get moves(): number {
    return this.#moves;
  }

  async request(request: RawRequest): Promise<RawResponse> {
    this.#moves++;
    this.#underWay++;
    try {
      const response = await this.#client.raw(this.#clock ? patient(request) : request);
      return request.stream ? this.#watched(response) : this.#complete(response);
    } finally {
      this.#moves++;
      this.#underWay--;
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #watched(response: RawResponse): RawResponse {
    const { status, headers } = response;
    const body = this.#tapped(response);
    return { status, headers, body, json: async () => JSON.parse(await text(body)), text: () => text(body) };
  }

  #tapped(response: RawResponse): Transform {
    let atLineEnd = true;
    const tap = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#moves++;
        if (chunk.length > 0) atLineEnd = chunk.at(-1) === NEWLINE;
        done(null, chunk);
      },
    });
    let cancelBeat = () => {};
    const beat = () => {
      // An empty line between two events means nothing to the client that reads them, but shows that the watch lives.
      if (atLineEnd && !tap.writableEnded) tap.push("\n");
      cancelBeat = this.#clock?.after(BEAT_MS, beat) ?? cancelBeat;
    };
    if (this.#clock) cancelBeat = this.#clock.after(BEAT_MS, beat);
    // Whichever end closes first closes the other; how it ended is told by the tap's own events.
    pipeline(response.body, tap, () => {
      this.#moves++;
      cancelBeat();
    });
    return tap;
  }

  /** What the answer's reader still has to read belongs to the request. */
  #complete(response: RawResponse): RawResponse {
    const counted = async <T>(read: () => Promise<T>): Promise<T> => {
      this.#underWay++;
      try {
        return await read();
      } finally {
        this.#moves++;
        this.#underWay--;
      }
    };
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

function patient(request: RawRequest): RawRequest {
  if (request.query?.timeoutSeconds === undefined) return request;
  return { ...request, query: { ...request.query, timeoutSeconds: WATCH_SECONDS } };
}
