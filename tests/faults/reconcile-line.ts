/**
 * The line between an operator in this process and its cluster. It can die at any write, as a process does that is
 * killed: nothing that the operator does afterwards reaches the cluster, and nothing that the cluster says reaches it.
 */
import { pipeline, Transform } from "node:stream";
import type { Client, RawRequest, RawResponse, Transport } from "@lotse/client";

/** A write of the operator, by what it does to which object. */
export interface LineWrite {
  /** `apply configmaps/a-x`. */
  readonly label: string;
  readonly resource: string;
  readonly name: string;
  /** How many writes with this label there were before. */
  readonly index: number;
}

/** Asked about each write before it is sent. */
export interface LineRule {
  /** Where the operator dies: before the cluster hears of the write, or when it was carried out and not yet answered. */
  readonly dies?: (write: LineWrite) => "before" | "after" | undefined;
  /** Something that happens in the cluster in the instant before the write arrives there. */
  readonly meanwhile?: (write: LineWrite) => Promise<void> | undefined;
}

/** See the module comment. */
export class Line implements Transport {
  /** What was sent, in order; refused or not. */
  readonly writes: LineWrite[] = [];
  rule: LineRule = {};
  readonly #client: Client;
  readonly #streams = new Set<Transform>();
  readonly #counts = new Map<string, number>();
  /** Lists to keep, and those that were. */
  readonly #lists = new Map<string, RawResponse | undefined>();
  readonly #past = new Map<string, RawResponse>();
  #travels = 0;
  #dead = false;
  #underWay = 0;
  #moves = 0;
  #onDeath: () => void = () => {};
  /** Resolves when the operator has died. */
  readonly death = new Promise<void>((resolve) => {
    this.#onDeath = resolve;
  });

  constructor(client: Client) {
    this.#client = client;
  }

  /** How many lists were answered out of the past. */
  get travels(): number {
    return this.#travels;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** Whether a request has no answer yet; an open watch is none. */
  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  /** Grows with everything that happens. */
  get moves(): number {
    return this.#moves;
  }

  /** Nothing gets through any more, in either direction. */
  die(): void {
    this.#dead = true;
    this.cut();
    this.#onDeath();
  }

  /** Breaks every watch that is open now. */
  cut(): void {
    for (const stream of this.#streams) stream.destroy(new Error("the line was cut"));
  }

  /** Keeps the next list of a resource, to be told again by {@link travelBack}. */
  remember(resource: string): void {
    this.#lists.set(resource, undefined);
  }

  /** Answers the next list of a resource with what was there at {@link remember}. */
  travelBack(resource: string): void {
    const answer = this.#lists.get(resource);
    if (!answer) throw new Error(`nobody has listed ${resource} since`);
    this.#past.set(resource, answer);
  }

  async request(request: RawRequest): Promise<RawResponse> {
    this.#check();
    this.#moves++;
    this.#underWay++;
    try {
      return await this.#carry(request);
    } finally {
      this.#moves++;
      this.#underWay--;
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #carry(request: RawRequest): Promise<RawResponse> {
    const write = this.#writeOf(request);
    if (write) {
      this.writes.push(write);
      await this.rule.meanwhile?.(write);
      this.#check();
      const when = this.rule.dies?.(write);
      if (when === "after") await this.#client.raw(request).catch(() => {});
      if (when) this.die();
      this.#check();
    }
    const listed = listedResource(request);
    const past = listed === undefined ? undefined : this.#past.get(listed);
    if (listed !== undefined && past) {
      this.#past.delete(listed);
      this.#travels++;
      return past;
    }
    const response = await this.#client.raw(request);
    if (request.stream) return this.#watched(response);
    this.#check();
    if (listed === undefined || !this.#lists.has(listed) || this.#lists.get(listed)) return response;
    const text = await response.text();
    const kept = { ...response, json: async () => JSON.parse(text), text: async () => text };
    this.#lists.set(listed, kept);
    return kept;
  }

  #watched(response: RawResponse): RawResponse {
    const body = new Transform({
      transform: (chunk, _encoding, done) => {
        this.#moves++;
        done(null, chunk);
      },
    });
    this.#streams.add(body);
    // Whichever end closes first closes the other.
    pipeline(response.body, body, () => {
      this.#moves++;
      this.#streams.delete(body);
    });
    if (this.#dead) this.cut();
    return { ...response, body };
  }

  #writeOf({ method, path, headers, body }: RawRequest): LineWrite | undefined {
    if (method === "GET" || /reviews$|\/events(\/|$)/.test(path)) return undefined;
    const parts = path.split("/").slice(path.startsWith("/apis/") ? 4 : 3);
    const [resource = "", inPath, subresource] = parts[0] === "namespaces" && parts.length > 2 ? parts.slice(2) : parts;
    const name = inPath ?? (body as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? "";
    const verb = method === "PATCH" && headers?.["content-type"]?.includes("apply") ? "APPLY" : method;
    const label = `${verb} ${[resource, name, subresource].filter(Boolean).join("/")}`;
    const index = this.#counts.get(label) ?? 0;
    this.#counts.set(label, index + 1);
    return { label, resource, name, index };
  }

  #check(): void {
    if (this.#dead) throw new Error("the operator is dead");
  }
}

function listedResource({ method, stream, path, query }: RawRequest): string | undefined {
  return method === "GET" && !stream && query !== undefined && "limit" in query ? path.split("/").at(-1) : undefined;
}
