/** Asks a DNS provider, and tells its errors apart: what will be better later, and what will not. */
import { PermanentError, TemporaryError } from "lotse";
import { type Provider, type ProviderRecord, startProvider } from "./provider.ts";

export type { ProviderRecord } from "./provider.ts";

/** What a record shall be. */
export type Wanted = Pick<ProviderRecord, "name" | "type" | "ttl" | "values">;

/** The provider at a URL; brings its own when it is given none. */
export class Dns {
  #url: string | undefined;
  #own: Provider | undefined;
  #timeoutMs = 5_000;

  /** Uses the provider at `url`, or starts one on a port that everybody knows. Returns the address. */
  async open(url: string | undefined, { timeoutMs = 5_000 } = {}): Promise<string> {
    if (!url) this.#own ??= await startProvider({ port: 18053 });
    this.#url = (url || this.#own?.url || "").replace(/\/+$/, "");
    this.#timeoutMs = timeoutMs;
    return this.#url;
  }

  /** Stops the provider, if it was started here. */
  async close(): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    this.#url = undefined;
    await own?.stop();
  }

  list(
    query: Partial<Pick<ProviderRecord, "owner" | "name" | "type">>,
    signal: AbortSignal,
  ): Promise<ProviderRecord[]> {
    return this.#ask("GET", `?${new URLSearchParams(query)}`, undefined, signal) as Promise<ProviderRecord[]>;
  }

  async create(record: Omit<ProviderRecord, "id">, signal: AbortSignal): Promise<void> {
    await this.#ask("POST", "", record, signal);
  }

  async update(id: string, changes: Partial<ProviderRecord>, signal: AbortSignal): Promise<void> {
    await this.#ask("PATCH", `/${id}`, changes, signal);
  }

  /** One that is gone already is fine. */
  async remove(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask("DELETE", `/${id}`, undefined, signal);
  }

  async #ask(method: string, path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#send(method, path, body, signal);
    if (answer.ok) return answer.json();
    if (answer.status === 404 && method === "DELETE") return undefined;
    if (answer.status === 429) {
      const seconds = Number(answer.headers.get("retry-after") ?? 30);
      throw new TemporaryError("the DNS provider asks for patience", { delay: `${seconds}s` });
    }
    const { error = answer.statusText } = (await answer.json().catch(() => ({}))) as { error?: string };
    if (answer.status === 400 || answer.status === 422) throw new PermanentError(error);
    // Anything else is tried again after a back-off, which grows.
    throw new Error(`the DNS provider answers ${answer.status}: ${error}`);
  }

  async #send(method: string, path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    // A timer that holds its controller: Node.js may forget an `AbortSignal.timeout` that only `AbortSignal.any` knows.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#timeoutMs);
    try {
      return await fetch(`${this.#url}/records${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
        signal: AbortSignal.any([signal, late.signal]),
      });
    } catch (cause) {
      if (signal.aborted) throw cause;
      throw new Error("the DNS provider does not answer", { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}
