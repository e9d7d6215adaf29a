import { type Clock, sleep } from "@lotse/client/meta";
import type { ApiResponse, StreamResponse, StreamSink } from "../exchange.ts";
import { effectOf, type Fault, type FaultEffect, type FaultRequest, isHit, matches } from "./fault-rules.ts";

/** What faults can do to the cluster besides its answers. */
export interface FaultPowers {
  readonly clock: Clock;
  readonly random: () => number;
  readonly compact: () => void;
  readonly stealLease: (namespace: string, name: string, thief: string) => Promise<void>;
}

/** A fault that was added, to look at and to take away again. */
export interface FaultHandle extends Disposable {
  /** How many requests it has hit so far. */
  readonly hits: number;
  /** Ends it; what it holds back goes on. */
  remove(): void;
}

/**
 * Things that go wrong on purpose, by rule. What an operator must survive can be asked for, request by request.
 *
 * @example
 * ```ts
 * using fault = cluster.faults.add({ match: { verb: "patch", resource: "widgets.example.com", count: 2 }, status: 503 });
 * await runOperator();
 * expect(fault.hits).toBe(2);
 * ```
 */
export class Faults {
  readonly #powers: FaultPowers;
  readonly #rules = new Set<Rule>();
  readonly #watches = new Set<FaultyWatch>();

  constructor(powers: FaultPowers) {
    this.#powers = powers;
  }

  /** Adds a fault. It lasts until its handle is removed or disposed of, or its count is reached. */
  add(fault: Fault): FaultHandle {
    const rule = new Rule(fault, (gone) => this.#remove(gone));
    this.#rules.add(rule);
    const { dropAfter, stall } = rule.effect;
    if (dropAfter !== undefined || stall) {
      for (const watch of [...this.#watches]) {
        if (matches(fault.match, watch.request) && this.#takesHit(rule)) watch.suffer(rule);
      }
    }
    return rule;
  }

  /** Ends all faults. */
  clear(): void {
    for (const rule of [...this.#rules]) rule.remove();
  }

  /** Whether requests with this verb have to be looked at. Watches always, as a fault that comes later may be about them. */
  concern(verb: string): boolean {
    return this.#rules.size > 0 || verb === "watch";
  }

  /** Lets a request be answered, with all that shall go wrong about it. Called by the server. */
  async around(request: FaultRequest, answer: () => Promise<ApiResponse>): Promise<ApiResponse> {
    if (this.#rules.size === 0) return this.#watched(request, await answer(), []);
    const hits = [...this.#rules].filter((rule) => this.#concerns(rule, request) && this.#takesHit(rule));
    const effects = hits.map((rule) => rule.effect);
    for (const { delayMs } of effects) if (delayMs > 0) await sleep(this.#powers.clock, delayMs);
    if (effects.some((effect) => effect.compact)) this.#powers.compact();
    await this.#steal(request, effects);
    for (const { refusal } of effects) if (refusal) throw refusal;
    if (effects.some((effect) => effect.reset === "before")) return RESET;
    const response = await answer();
    if (effects.some((effect) => effect.reset === "after")) return RESET;
    return this.#watched(request, response, hits);
  }

  #concerns(rule: Rule, request: FaultRequest): boolean {
    const { dropAfter, stall, thief } = rule.effect;
    if ((dropAfter !== undefined || stall) && request.verb !== "watch") return false;
    if (thief !== undefined && (request.resource !== LEASES || request.name === undefined)) return false;
    return matches(rule.fault.match, request);
  }

  #takesHit(rule: Rule): boolean {
    return rule.take((rule.fault.match?.share ?? 1) < 1 ? this.#powers.random() : 0);
  }

  async #steal({ namespace, name }: FaultRequest, effects: readonly FaultEffect[]): Promise<void> {
    for (const { thief } of effects) {
      if (thief !== undefined && namespace !== undefined && name !== undefined) {
        await this.#powers.stealLease(namespace, name, thief);
      }
    }
  }

  /** Every watch is within reach: a fault that comes later may be about it. */
  #watched(request: FaultRequest, response: ApiResponse, hits: readonly Rule[]): ApiResponse {
    if (response.type !== "stream" || request.verb !== "watch") return response;
    return {
      ...response,
      start: (sink) => {
        const watch = new FaultyWatch(request, sink, () => this.#watches.delete(watch));
        this.#watches.add(watch);
        for (const rule of hits) watch.suffer(rule);
        return watch.start(response);
      },
    };
  }

  #remove(rule: Rule): void {
    this.#rules.delete(rule);
    for (const watch of [...this.#watches]) watch.recover(rule);
  }
}

const LEASES = "leases.coordination.k8s.io";
const HELD_LIMIT = 100_000;
const RESET: ApiResponse = { type: "reset", status: 0, headers: {} };

class Rule implements FaultHandle {
  readonly fault: Fault;
  readonly effect: FaultEffect;
  readonly #onRemove: (rule: Rule) => void;
  #seen = 0;
  #hits = 0;

  constructor(fault: Fault, onRemove: (rule: Rule) => void) {
    this.fault = fault;
    this.effect = effectOf(fault);
    this.#onRemove = onRemove;
  }

  get hits(): number {
    return this.#hits;
  }

  take(chance: number): boolean {
    const hit = isHit(this.fault.match, { seen: this.#seen, hits: this.#hits }, chance);
    this.#seen++;
    if (hit) this.#hits++;
    return hit;
  }

  remove(): void {
    this.#onRemove(this);
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

/** A watch between the server and its client, where it can be held up or broken off. */
class FaultyWatch {
  readonly request: FaultRequest;
  readonly #sink: StreamSink;
  readonly #onOver: () => void;
  readonly #stalls = new Set<Rule>();
  #held: (() => void)[] = [];
  /** Events until it breaks off. */
  #left = Number.POSITIVE_INFINITY;
  #stop: () => void = () => {};
  #over = false;

  constructor(request: FaultRequest, sink: StreamSink, onOver: () => void) {
    this.request = request;
    this.#sink = sink;
    this.#onOver = onOver;
  }

  /** Starts the answer behind it; the returned function is for when the client has gone. */
  start(response: StreamResponse): () => void {
    if (this.#over) return () => {};
    const stop = response.start({
      write: (chunk) => this.#pass(() => this.#write(chunk)),
      end: () =>
        this.#pass(() => {
          this.#close();
          this.#sink.end();
        }),
      reset: () => this.#break(),
    });
    this.#stop = stop;
    if (this.#over) stop();
    return () => {
      this.#close();
      stop();
    };
  }

  suffer(rule: Rule): void {
    const { dropAfter, stall } = rule.effect;
    if (stall) this.#stalls.add(rule);
    if (dropAfter === undefined) return;
    this.#left = Math.min(this.#left, dropAfter);
    if (this.#left === 0) this.#break();
  }

  /** A fault is over: what it held back goes out, in order. */
  recover(rule: Rule): void {
    if (!this.#stalls.delete(rule) || this.#stalls.size > 0) return;
    const held = this.#held;
    this.#held = [];
    for (const step of held) step();
  }

  #pass(step: () => void): void {
    if (this.#over) return;
    if (this.#stalls.size === 0) step();
    else if (this.#held.length < HELD_LIMIT) this.#held.push(step);
    // As on a real server: a client that does not take its events for too long is cut off.
    else this.#break();
  }

  #write(chunk: string | Uint8Array): void {
    if (this.#over) return;
    this.#sink.write(chunk);
    if (--this.#left <= 0) this.#break();
  }

  #break(): void {
    if (this.#over) return;
    this.#close();
    this.#stop();
    this.#sink.reset();
  }

  #close(): void {
    this.#over = true;
    this.#held = [];
    this.#onOver();
  }
}
