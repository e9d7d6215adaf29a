/** A client that only takes Events, and answers as it is told. */
import { type ApiError, apiErrorFrom, type Client, ConnectionError, type KubeBody } from "@lotse/client";

/** One request as it arrived. */
export interface EventCall {
  readonly verb: "create" | "patch";
  readonly name: string;
  readonly namespace: string;
  readonly body: KubeBody;
  readonly options: { readonly retry?: boolean; readonly signal?: AbortSignal };
}

/** What to answer: an error, or nothing for success. A promise lets the test decide when. */
export type Answer = Error | undefined | Promise<Error | undefined>;

/** Notes the requests of an event recorder, and answers as the test wants it. */
export class FakeEventsClient {
  readonly calls: EventCall[] = [];
  /** Answers in the order of the calls; success when there are no more. */
  readonly script: Answer[] = [];
  /** Answers by call, when set and the script is empty. */
  answer: (call: EventCall) => Answer = () => undefined;
  running = 0;
  mostRunning = 0;

  get client(): Client {
    return this as unknown as Client;
  }

  create(object: { body: KubeBody }, options: EventCall["options"] & { namespace: string }): Promise<unknown> {
    const { name = "" } = object.body.metadata ?? {};
    return this.#take({ verb: "create", name, namespace: options.namespace, body: object.body, options });
  }

  patch(_: unknown, name: string, body: KubeBody, options: EventCall["options"] & { namespace: string }) {
    return this.#take({ verb: "patch", name, namespace: options.namespace, body, options });
  }

  async #take(call: EventCall): Promise<unknown> {
    this.calls.push(call);
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    try {
      const error = await (this.script.length > 0 ? this.script.shift() : this.answer(call));
      if (error) throw error;
      return undefined;
    } finally {
      this.running--;
    }
  }
}

/** An answer of the API server. */
export function refusal(
  status: number,
  reason?: string,
  more: { cause?: string; retryAfterMs?: number } = {},
): ApiError {
  const body = { reason, message: `scripted ${status}`, details: more.cause && { causes: [{ reason: more.cause }] } };
  return apiErrorFrom(status, body, { method: "POST", path: "/api/v1/namespaces/default/events" }, more);
}

/** No answer. */
export function lostConnection(): ConnectionError {
  return new ConnectionError("scripted", { request: { method: "POST", path: "/" }, sent: true });
}

/** A promise to keep later. */
export function deferred(): { promise: Promise<Error | undefined>; resolve: (error?: Error) => void } {
  let resolve: (error?: Error) => void = () => undefined;
  const promise = new Promise<Error | undefined>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
