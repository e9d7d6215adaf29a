/**
 * Rates over HTTP: a source that asks a service for them, and a small service that works offline.
 *
 *   GET /rates/EUR → {"currency":"EUR","rate":0.92}, 404 for a currency that it does not know
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { TemporaryError } from "lotse";

/** What a US dollar costs. Fixed, so that everybody who runs the example sees the same numbers. */
const TABLE: Readonly<Record<string, number>> = {
  AUD: 1.52,
  CHF: 0.88,
  CNY: 7.24,
  EUR: 0.92,
  GBP: 0.79,
  INR: 83.4,
  JPY: 151.6,
  USD: 1,
};

/** The service does not know the currency: to ask again would not help. */
export class UnknownCurrencyError extends Error {
  override readonly name = "UnknownCurrencyError";
}

/** A service at work. */
export interface RateService {
  readonly url: string;
  /** Another rate from now on; undefined takes the currency away. */
  set(currency: string, rate: number | undefined): void;
  stop(): Promise<void>;
}

/** Starts a service on a free port of this machine. */
export async function startRateService(table: Readonly<Record<string, number>> = TABLE): Promise<RateService> {
  const known = new Map(Object.entries(table));
  const server: Server = createServer((request, response) => {
    const currency = /^\/rates\/([A-Z]{3})$/.exec(request.url ?? "")?.[1];
    const rate = currency === undefined ? undefined : known.get(currency);
    response.writeHead(rate === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(rate === undefined ? { error: "unknown currency" } : { currency, rate }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (currency, rate) => {
      if (rate === undefined) known.delete(currency);
      else known.set(currency, rate);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Asks a service for rates; brings its own when it is given none. */
export class RateSource {
  #url: string | undefined;
  #own: RateService | undefined;

  /** Uses the service at `url`, or starts one. Returns the address. */
  async open(url?: string): Promise<string> {
    if (url === undefined) this.#own ??= await startRateService();
    this.#url = (url ?? this.#own?.url ?? "").replace(/\/+$/, "");
    return this.#url;
  }

  /** Stops the service, if it was started here. */
  async close(): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    this.#url = undefined;
    await own?.stop();
  }

  /** The rate of a currency. Whatever is not an answer is a {@link TemporaryError}: the service will be back. */
  async rateOf(currency: string, signal: AbortSignal): Promise<number> {
    const answer = await this.#ask(currency, signal);
    if (answer.status === 404) throw new UnknownCurrencyError(`nobody knows a rate for ${currency}`);
    const body = answer.ok ? ((await answer.json()) as { rate?: unknown }) : undefined;
    if (typeof body?.rate === "number") return body.rate;
    throw new TemporaryError(`the rate service answers ${answer.status}`, { delay: "10s" });
  }

  async #ask(currency: string, signal: AbortSignal): Promise<Response> {
    try {
      return await fetch(`${this.#url}/rates/${currency}`, { signal });
    } catch (cause) {
      if (signal.aborted) throw cause;
      throw new TemporaryError("the rate service does not answer", { delay: "10s", cause });
    }
  }
}
