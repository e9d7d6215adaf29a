/**
 * The line between an operator that is played to and its tape. Each request is taken for one of the tape, and answered when
 * the tape comes to that answer. What nobody asked when it was recorded is answered as well as can be from what is known.
 */

import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  apiErrorFrom,
  ConnectionError,
  KubeError,
  type RawRequest,
  type RawResponse,
  TimeoutError,
  type Transport,
} from "@lotse/client";
import { applyMergePatch, deepEqual, isObject } from "@lotse/client/meta";
import {
  answerOf,
  lineStream,
  streamOf,
  type TapeAnswerBody,
  type TapeAsk,
  type TapeFailure,
  type TapeInput,
} from "lotse/tape";
import { KnownWorld, withoutSubresource } from "./world.ts";

/** What a request gets, from the tape or made up. */
type Outcome = Extract<TapeInput, { readonly id: number; readonly k: "answer" | "failure" | "open" | "line" | "end" }>;

/** A request that waits, or a stream that is open. */
interface Live {
  readonly request: RawRequest;
  /** Why the operator's own side does not let it go out. */
  readonly refused: { readonly error: unknown } | undefined;
  readonly resolve: (response: RawResponse) => void;
  readonly reject: (error: unknown) => void;
  stream?: Readable;
}

interface Slot {
  readonly ask: TapeAsk;
  live: Live | undefined;
  isTaken: boolean;
  /** What the tape had for it before it was asked. */
  readonly early: Outcome[];
}

/** How far a write may have moved ahead of others to the same object and still be recognised. */
const LOOK_AHEAD = 4;
const HEADERS = { "content-type": "application/json" };

/** Hears of each request: what it was taken for. */
export type AskListener = (request: RawRequest, recorded: TapeAsk | undefined) => void;

/** See the module comment. */
export class ReplayLine implements Transport {
  readonly world = new KnownWorld();
  readonly #slots = new Map<number, Slot>();
  readonly #waiting = new Map<string, Slot[]>();
  readonly #streams = new Set<Readable>();
  readonly #onAsk: AskListener;
  #isOver = false;
  #madeUp = 0;

  constructor(asks: readonly TapeAsk[], onAsk: AskListener) {
    this.#onAsk = onAsk;
    for (const ask of asks) {
      const slot: Slot = { ask, live: undefined, isTaken: false, early: [] };
      this.#slots.set(ask.id, slot);
      const key = keyOf(ask);
      const queue = this.#waiting.get(key);
      if (queue) queue.push(slot);
      else this.#waiting.set(key, [slot]);
    }
  }

  /** Whether the operator has sent what the tape has under this number. */
  isAsked(id: number): boolean {
    return this.#slots.get(id)?.isTaken ?? true;
  }

  async request(request: RawRequest): Promise<RawResponse> {
    if (this.#isOver) throw ended(request);
    const slot = this.#take(request);
    this.#onAsk(request, slot?.ask);
    const refused = refusalOf(request);
    const answer = new Promise<RawResponse>((resolve, reject) => {
      const live: Live = { request, refused, resolve, reject };
      if (!slot) {
        if (refused) throw refused.error;
        this.#whenAborted(live);
        this.#improvise(live);
        return;
      }
      slot.live = live;
      if (slot.early.length > 0) this.#catchUp(slot);
    });
    const response = await answer;
    request.onAttempt?.({ status: response.status, sentBytes: 0, receivedBytes: undefined });
    return response;
  }

  /** The tape has come to something for a request. */
  deliver(outcome: Outcome): void {
    const slot = this.#slots.get(outcome.id);
    if (!slot) return;
    if (outcome.k === "answer" || outcome.k === "line") this.world.learn(slot.ask.path, outcome.body);
    if (slot.live && slot.early.length === 0) this.#show(slot.live, outcome);
    else slot.early.push(outcome);
  }

  async close(): Promise<void> {}

  /** Nothing comes any more: everything that waits fails. */
  end(): void {
    this.#isOver = true;
    for (const { live } of this.#slots.values()) live?.reject(ended(live.request));
    for (const stream of this.#streams) stream.destroy();
  }

  #take(request: RawRequest): Slot | undefined {
    const queue = this.#waiting.get(keyOf(request)) ?? [];
    const body = plain(request.body);
    const ahead =
      request.method === "GET" ? 0 : queue.slice(0, LOOK_AHEAD).findIndex(({ ask }) => deepEqual(ask.body, body));
    const [slot] = queue.splice(Math.max(ahead, 0), 1);
    if (slot) slot.isTaken = true;
    return slot;
  }

  /** It was asked late: what the tape had for it comes now, one thing after the other. */
  #catchUp(slot: Slot): void {
    setImmediate(() => {
      const outcome = slot.early.shift();
      if (outcome && slot.live) this.#show(slot.live, outcome);
      if (slot.early.length > 0) this.#catchUp(slot);
    });
  }

  #show(live: Live, outcome: Outcome): void {
    const { request } = live;
    switch (outcome.k) {
      case "answer":
        live.resolve(answerOf(outcome.status, HEADERS, textOf(outcome)));
        return;
      case "failure":
        live.reject(live.refused ? live.refused.error : errorOf(outcome.failure, request));
        return;
      case "open":
        live.stream = this.#open();
        live.resolve(streamOf(outcome.status, HEADERS, live.stream));
        return;
      case "line":
        if (live.stream && !live.stream.destroyed) live.stream.push(`${textOf(outcome)}\n`);
        return;
      case "end":
        if (live.stream?.destroyed) return;
        if (outcome.failure) live.stream?.destroy(errorOf(outcome.failure, request) as Error);
        else live.stream?.push(null);
    }
  }

  #open(): Readable {
    const stream = lineStream(() => this.#streams.delete(stream));
    this.#streams.add(stream);
    return stream;
  }

  /** Whoever has an answer on the tape gets it also when it does not wait any more: so it was then. */
  #whenAborted({ request, reject }: Live): void {
    request.signal?.addEventListener("abort", () => reject(request.signal?.reason), { once: true });
  }

  #improvise(live: Live): void {
    const { request } = live;
    void nextTurn().then(() => {
      if (request.stream) return live.resolve(streamOf(200, HEADERS, this.#open()));
      const body = this.#madeUpAnswer(request);
      if (body === undefined) {
        const message = `${request.path} is not in the recording`;
        return live.reject(apiErrorFrom(404, { reason: "NotFound", message }, request));
      }
      live.resolve(answerOf(request.method === "POST" ? 201 : 200, HEADERS, JSON.stringify(body)));
    });
  }

  #madeUpAnswer({ method, path, body: sent, headers }: RawRequest): unknown {
    const known = this.world.find(path);
    const body = plain(sent);
    const number = ++this.#madeUp;
    switch (method) {
      case "GET":
        return known ?? (withoutSubresource(path) === path && isCollection(path) ? this.world.list(path) : undefined);
      case "DELETE":
        return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
      case "POST": {
        const own = isObject(body) ? body : {};
        const metadata = isObject(own.metadata) ? own.metadata : {};
        const name = metadata.name ?? `${String(metadata.generateName ?? "")}replay${number}`;
        const made = { ...own, metadata: { ...metadata, name, uid: `replay-${number}`, resourceVersion: "1" } };
        this.world.learn(path, made);
        return made;
      }
      default: {
        const isMerge = String(headers?.["content-type"] ?? "").includes("merge-patch");
        const changed = known && isMerge ? applyMergePatch(known as never, body as never) : (known ?? body);
        if (isObject(changed)) this.world.learn(path, changed);
        return changed;
      }
    }
  }
}

/** What a request meets before it is sent: it is not wanted any more, or a guard says no. */
function refusalOf({ signal, beforeSend }: RawRequest): { readonly error: unknown } | undefined {
  try {
    signal?.throwIfAborted();
    beforeSend?.();
    return undefined;
  } catch (error) {
    return { error };
  }
}

function ended({ method, path }: RawRequest): ConnectionError {
  return new ConnectionError("the recording is over", { request: { method, path }, sent: false });
}

/** Requests that ask for the same. Versions and times of a watch are not what it asks for. */
function keyOf(
  ask: Pick<RawRequest, "method" | "path" | "stream"> & { readonly query?: unknown; readonly body?: unknown },
): string {
  const query = (ask.query ?? {}) as Record<string, unknown>;
  if (ask.method === "GET") {
    const { labelSelector = "", fieldSelector = "", continue: page = "" } = query;
    return [ask.stream ? "WATCH" : "GET", ask.path, labelSelector, fieldSelector, page].join(" ");
  }
  const body = plain(ask.body);
  const { name, generateName } = (isObject(body) && isObject(body.metadata) ? body.metadata : {}) as Record<
    string,
    string
  >;
  return [ask.method, ask.path, ask.method === "POST" ? (name ?? `${generateName ?? ""}*`) : ""].join(" ");
}

/** A body as the tape has it. */
export function plain(body: unknown): unknown {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return "(bytes)";
  if (typeof body !== "string") return JSON.parse(JSON.stringify(body));
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function textOf({ body, text }: TapeAnswerBody): string {
  return body === undefined ? (text ?? "") : JSON.stringify(body);
}

function isCollection(path: string): boolean {
  const words = path.split("/").filter(Boolean);
  const rest = words.slice(words[0] === "api" ? 2 : 3);
  return rest.length === 1 || (rest.length === 3 && rest[0] === "namespaces");
}

/** The error that the operator got. */
function errorOf(failure: TapeFailure, request: RawRequest): unknown {
  const { name, message, status, reason, details, retryAfterMs, sent = false, phase, aborted } = failure;
  const about = { method: request.method, path: request.path };
  if (aborted) return request.signal?.reason ?? new Error("aborted");
  if (status !== undefined) return apiErrorFrom(status, { reason, message, details }, about, { retryAfterMs });
  if (name === "TimeoutError")
    return new TimeoutError(message, { request: about, phase: (phase ?? "headers") as "headers" });
  if (name === "ConnectionError") return new ConnectionError(message, { request: about, sent });
  return new KubeError(message);
}
