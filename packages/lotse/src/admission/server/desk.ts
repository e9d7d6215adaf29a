/** Where every request is answered: judged by its head, read, parsed, handled, and never without an answer. */
import { type Clock, errorMessage } from "@lotse/client/meta";
import type { Verdict } from "../../report/index.ts";
import { Refusal, statusBody, type WebhookAnswer } from "./answers.ts";
import { parseBody, readBody, tooMany } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { type Accepted, judgeHead, pathOf, READY_PATH, type WebhookRoute } from "./head.ts";
import { HeldBytes, type WebhookLimits } from "./limits.ts";
import type { PeerCertificate } from "./peer.ts";
import type { WebhookHandler, WebhookRequest } from "./request.ts";
import type { Troubles } from "./troubles.ts";

/** What is measured of a server. */
export interface WebhookMeasures {
  /** A request was answered, after so many milliseconds since its headers came. `path` only where a handler answered. */
  answered(status: number, ms: number, path: string | undefined): void;
}

/** What a desk goes by. */
export interface DeskOptions {
  readonly handle: WebhookHandler;
  readonly route: ((path: string) => WebhookRoute | undefined) | undefined;
  readonly readiness: (() => Verdict) | undefined;
  readonly limits: WebhookLimits;
  readonly clock: Clock;
  readonly troubles: Troubles;
  readonly measures: WebhookMeasures | undefined;
}

/** A handler may notice its deadline and still say something; a client that waits exactly as long does not hear it. */
const LATE_MS = 1_000;

/** See the module comment. */
export class Desk {
  readonly #options: DeskOptions;
  readonly #held: HeldBytes;
  /** One for each request that is being answered. */
  readonly #open = new Set<AbortController>();
  #onIdle: (() => void)[] = [];
  #closing = false;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.#held = new HeldBytes(options.limits.heldBytes);
  }

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.#open.size;
  }

  /** Bytes of their bodies. */
  get heldBytes(): number {
    return this.#held.count;
  }

  /** From now on each answer is the last of its connection, and the server is not ready. */
  startClosing(): void {
    this.#closing = true;
  }

  /** Resolves when no request is being answered. */
  idle(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Tells all that are being answered to hurry. */
  abort(reason: Error): void {
    for (const controller of this.#open) controller.abort(reason);
  }

  /** Answers a request. Never throws, never rejects. */
  async serve(exchange: Exchange): Promise<void> {
    const { clock, measures, troubles } = this.#options;
    const since = clock.monotonic();
    let status = 0;
    let path: string | undefined;
    try {
      const accepted = this.#judge(exchange);
      const answer = accepted instanceof Refusal ? accepted : await this.#answer(exchange, accepted);
      // The client has gone.
      if (!answer) return;
      status = answer.status;
      if (!(accepted instanceof Refusal || answer instanceof Refusal)) path = accepted.path;
      this.#send(exchange, answer);
    } catch (error) {
      troubles.report("a request to the webhook server could not be answered", { error });
      status = 500;
      this.#send(exchange, broken());
    } finally {
      if (status !== 0) measures?.answered(status, clock.monotonic() - since, path);
    }
  }

  #judge({ head }: Exchange): Accepted | Refusal {
    const { limits, route } = this.#options;
    if (pathOf(head.target)?.path === READY_PATH) return this.#ready(head.method);
    const judged = judgeHead(head, { bodyBytes: limits.bodyBytes, answerMs: limits.answerMs, route });
    if (judged instanceof Refusal || this.#open.size < limits.requests) return judged;
    this.#options.troubles.report("the webhook server has as many requests as it takes at a time", {
      limit: limits.requests,
    });
    return tooMany("this server has as many requests as it takes at a time");
  }

  #ready(method: string): Refusal {
    if (method !== "GET" && method !== "HEAD") {
      return new Refusal(405, `${READY_PATH} is asked with GET`, { allow: "GET, HEAD" });
    }
    if (this.#closing) return new Refusal(503, "this server is stopping");
    const verdict = this.#options.readiness?.();
    return !verdict || verdict.ok ? new Refusal(200, "ready") : new Refusal(503, verdict.reasons.join("; "));
  }

  async #answer(exchange: Exchange, accepted: Accepted): Promise<WebhookAnswer | undefined> {
    const { clock, limits } = this.#options;
    const controller = new AbortController();
    this.#open.add(controller);
    exchange.onGone(() => controller.abort(new Error("the client has gone")));
    try {
      const deadline = clock.monotonic() + accepted.waitsMs;
      const received = await readBody(exchange.stream, {
        bytes: accepted.bodyBytes,
        held: this.#held,
        clock,
        patienceMs: Math.min(limits.bodyMs, accepted.waitsMs),
      });
      if (!received || received instanceof Refusal) return received;
      try {
        const parsed = parseBody(received.bytes);
        if (parsed instanceof Refusal) return parsed;
        const request = new Incoming(exchange, accepted, parsed.value, controller.signal);
        return await this.#handled(request, controller, deadline);
      } finally {
        received.release();
      }
    } finally {
      this.#open.delete(controller);
      if (this.#open.size === 0) {
        const waiting = this.#onIdle;
        this.#onIdle = [];
        for (const resolve of waiting) resolve();
      }
    }
  }

  /** What the handler says, or that it said nothing in time: nobody waits for a handler that hangs. */
  #handled(request: WebhookRequest, controller: AbortController, deadline: number): Promise<WebhookAnswer> {
    const { clock, troubles, handle } = this.#options;
    return new Promise((resolve) => {
      const settle = (answer: WebhookAnswer) => {
        cancel();
        resolve(answer);
      };
      const waitsMs = Math.max(0, deadline - clock.monotonic());
      let cancel = clock.after(waitsMs, () => {
        controller.abort(new Error("the time to answer is over"));
        cancel = clock.after(LATE_MS, () => {
          troubles.report("a webhook gave no answer in time", { path: request.path });
          settle(new Refusal(504, "there was no answer in time"));
        });
      });
      const failed = (error: unknown) => {
        troubles.report("a webhook failed", { path: request.path, error });
        settle(broken());
      };
      try {
        handle(request).then(settle, failed);
      } catch (error) {
        failed(error);
      }
    });
  }

  #send(exchange: Exchange, answer: WebhookAnswer): void {
    const headers = answer instanceof Refusal ? answer.headers : {};
    const { status, body } = this.#encode(answer);
    exchange.send({
      status,
      headers: { ...headers, "content-type": "application/json" },
      body: exchange.head.method === "HEAD" ? "" : body,
      last: this.#closing,
    });
  }

  #encode(answer: WebhookAnswer): { readonly status: number; readonly body: string } {
    try {
      const body = JSON.stringify(answer.body) as string | undefined;
      if (body !== undefined) return { status: answer.status, body };
      throw new Error("a webhook answered with nothing that JSON can hold");
    } catch (error) {
      this.#options.troubles.report("the answer of a webhook could not be written", { error: errorMessage(error) });
      return { status: 500, body: JSON.stringify(statusBody(500, BROKEN)) };
    }
  }
}

const BROKEN = "the webhook failed; its operator's log says why";

function broken(): Refusal {
  return new Refusal(500, BROKEN);
}

/** A request as handlers get it. What many do not look at is made when it is asked for. */
class Incoming implements WebhookRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly signal: AbortSignal;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, { path, query }: Accepted, body: unknown, signal: AbortSignal) {
    this.path = path;
    this.query = query;
    this.body = body;
    this.signal = signal;
    this.#exchange = exchange;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#exchange.headers();
  }

  get source(): string | undefined {
    return this.#exchange.source;
  }

  get peer(): PeerCertificate | undefined {
    return this.#exchange.peer();
  }
}
