/**
 * A world of some processes and one API server with Leases, for tests: time moves from event to event, requests and
 * answers take as long as they are told, are lost, or wait at a process that is stopped. Everything in it follows from the
 * order of calls.
 */
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { apiErrorFrom, ConnectionError, type RawRequest, type RawResponse, type Transport } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { LeaseBody } from "./lease/index.ts";

/** What happens to the requests of a process. */
export interface Network {
  /** Milliseconds to the server, and back. */
  readonly there: number;
  readonly back: number;
  /**
   * `requests` never arrive, `answers` never come back though the server has acted; `refused`: a quick failure, and the
   * server has not heard of it.
   */
  readonly lost?: "requests" | "answers" | "refused" | undefined;
}

/** How a network is that works. */
export const GOOD: Network = { there: 1, back: 1 };

interface Due {
  readonly at: number;
  readonly order: number;
  readonly call: () => void;
}

/** A state of a Lease, as a watch shows it. */
export interface Shown {
  readonly type: "ADDED" | "MODIFIED";
  readonly object: LeaseBody;
  readonly version: number;
}

/** See the module comment. */
export class World {
  /** Real time, in milliseconds. */
  now = 0;
  /** Every body that Leases have had. */
  readonly history: Shown[] = [];
  readonly hosts: Host[] = [];
  readonly #settle: (() => Promise<void>) | undefined;
  #due: Due[] = [];
  #order = 0;
  #version = 0;
  readonly #leases = new Map<string, LeaseBody>();
  readonly #watches = new Set<(shown: Shown) => void>();

  /** `settle` waits for what follows from an event; undefined: nothing does that has to be waited for. */
  constructor(settle?: () => Promise<void>) {
    this.#settle = settle;
  }

  /** The Lease that was written last; where there is one, it. */
  get lease(): LeaseBody | undefined {
    return this.history.at(-1)?.object;
  }

  /** All Leases, as they are. */
  get leases(): LeaseBody[] {
    return [...this.#leases.values()];
  }

  /** Calls `call` at that time. */
  at(at: number, call: () => void): void {
    this.#due.push({ at, order: this.#order++, call });
  }

  /** Lets time pass, with everything that falls due in it; after each event all that follows from it has happened. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await this.#settle?.();
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.now = Math.max(this.now, next.at);
      next.call();
      if (this.#settle) await this.#settle();
    }
    this.now = end;
  }

  #next(): { readonly at: number; readonly call: () => void } | undefined {
    let first: Due | undefined;
    for (const due of this.#due) {
      if (!first || due.at < first.at || (due.at === first.at && due.order < first.order)) first = due;
    }
    const timers = this.hosts.flatMap((host) => host.nextTimer ?? []);
    const timer = timers.sort((a, b) => a.at - b.at)[0];
    if (timer && (!first || timer.at < first.at)) return timer;
    if (!first) return undefined;
    const { at, call } = first;
    return {
      at,
      call: () => {
        this.#due = this.#due.filter((due) => due !== first);
        call();
      },
    };
  }

  /** Another program writes into the Lease's metadata. */
  touch(key: string): void {
    const { lease } = this;
    if (!lease) return;
    this.#store({
      ...lease,
      metadata: { ...lease.metadata, annotations: { ...lease.metadata?.annotations, [key]: "x" } },
    });
  }

  /** The server acts on a request; throws what it answers when it refuses. */
  serve({ method, path, query, body }: RawRequest): LeaseBody | object {
    const refuse = (status: number, reason: string) => apiErrorFrom(status, { reason }, { method, path });
    const sent = body as LeaseBody | undefined;
    const lease = this.#leases.get(sent?.metadata?.name ?? path.split("/").at(-1) ?? "");
    if (method === "POST") {
      if (lease) throw refuse(409, "AlreadyExists");
      return this.#store(sent as LeaseBody);
    }
    if (method === "PUT") {
      const version = sent?.metadata?.resourceVersion;
      if (version !== undefined && version !== lease?.metadata?.resourceVersion) throw refuse(409, "Conflict");
      return this.#store(sent as LeaseBody);
    }
    if (query?.fieldSelector !== undefined || query?.labelSelector !== undefined) {
      return { metadata: { resourceVersion: String(this.#version) }, items: structuredClone(this.leases) };
    }
    if (!lease) throw refuse(404, "NotFound");
    return structuredClone(lease);
  }

  /** Calls back with everything after a version, now and later; the returned function ends it. */
  watch(version: number, show: (shown: Shown) => void): () => void {
    for (const shown of this.history) if (shown.version > version) show(shown);
    this.#watches.add(show);
    return () => this.#watches.delete(show);
  }

  #store(body: LeaseBody): LeaseBody {
    const version = ++this.#version;
    const name = body.metadata?.name ?? "";
    const before = this.#leases.get(name);
    const uid = before?.metadata?.uid ?? `lease-${version}`;
    const object = structuredClone({ ...body, metadata: { ...body.metadata, uid, resourceVersion: String(version) } });
    const shown: Shown = { type: before ? "MODIFIED" : "ADDED", object, version };
    this.#leases.set(name, object);
    this.history.push(shown);
    for (const show of this.#watches) show(shown);
    return structuredClone(object);
  }
}

/** A machine with one process: its clocks, its timers and its way to the server. */
export class Host implements Clock, Transport {
  network: Network = GOOD;
  readonly #world: World;
  /** What the clock on the wall differs from real time. */
  #wallMs: number;
  /** How long the machine has slept, in which its monotonic clock stood still. */
  #sleptMs = 0;
  #asleepSince: number | undefined;
  #state: "runs" | "stopped" | "dead" = "runs";
  /** What has arrived for a process that is stopped. */
  #inbox: (() => void)[] = [];
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>();

  constructor(world: World, wallMs: number) {
    this.#world = world;
    this.#wallMs = wallMs;
    world.hosts.push(this);
  }

  get runs(): boolean {
    return this.#state === "runs";
  }

  now(): number {
    return Date.parse("2026-01-01T00:00:00Z") + Math.round(this.#world.now) + this.#wallMs;
  }

  monotonic(): number {
    const sleeping = this.#asleepSince === undefined ? 0 : this.#world.now - this.#asleepSince;
    return this.#world.now - this.#sleptMs - sleeping;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.monotonic() + Math.max(0, ms), call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The first timer, in real time; none while the process is stopped. */
  get nextTimer(): { readonly at: number; readonly call: () => void } | undefined {
    if (!this.runs) return undefined;
    let first: { readonly at: number; readonly call: () => void } | undefined;
    for (const timer of this.#timers) if (!first || timer.at < first.at) first = timer;
    if (!first) return undefined;
    const { at, call } = first;
    const timer = first;
    return {
      // Whole milliseconds, as real timers have them.
      at: this.#world.now + Math.max(0, Math.ceil(at - this.monotonic())),
      call: () => {
        this.#timers.delete(timer);
        call();
      },
    };
  }

  /** The clock on the wall is set. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  /** Stops the process: SIGSTOP, or the machine sleeps, whose monotonic clock then stands still. */
  stop(how: "stopped" | "asleep"): void {
    if (!this.runs) return;
    this.#state = "stopped";
    if (how === "asleep") this.#asleepSince = this.#world.now;
  }

  /** The process goes on: with what has arrived meanwhile, before its timers or after them. */
  goOn(first: "answers" | "timers"): void {
    if (this.#state !== "stopped") return;
    this.#state = "runs";
    if (this.#asleepSince !== undefined) this.#sleptMs += this.#world.now - this.#asleepSince;
    this.#asleepSince = undefined;
    const arrived = this.#inbox.splice(0);
    const { now } = this.#world;
    const deliver = () => {
      for (const call of arrived) this.#world.at(now, () => this.#arrive(call));
    };
    if (first === "answers") {
      for (const call of arrived) call();
    } else this.#world.at(now, deliver);
  }

  /** The process is killed, and never heard of again. */
  kill(): void {
    this.#state = "dead";
    this.#timers.clear();
    this.#inbox = [];
  }

  request(request: RawRequest): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      const abort = () => reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      const serve = () => (request.query?.watch ? this.#stream(request) : respond(this.#world.serve(request)));
      this.send(request, serve, (outcome) => {
        signal?.removeEventListener("abort", abort);
        if ("answer" in outcome) resolve(outcome.answer);
        else reject(outcome.error);
      });
    });
  }

  /** Sends something to the server, which does `serve` when it arrives, and calls back when the answer does. */
  send<T>(
    { method, path }: Pick<RawRequest, "method" | "path">,
    serve: () => T,
    end: (outcome: Outcome<T>) => void,
  ): void {
    if (!this.runs) {
      this.#arrive(() => this.send({ method, path }, serve, end));
      return;
    }
    const { there, back, lost } = this.network;
    if (lost === "refused") {
      const error = new ConnectionError("refused", { request: { method, path }, sent: false });
      this.#comes(back, () => end({ error }));
    }
    if (lost === "refused" || lost === "requests") return;
    this.#world.at(this.#world.now + there, () => {
      let outcome: Outcome<T>;
      try {
        outcome = { answer: serve() };
      } catch (error) {
        outcome = { error };
      }
      if (lost !== "answers") this.#comes(back, () => end(outcome));
    });
  }

  /**
   * Shows every change after a version, as long as the network lets it through; the returned function ends it. Connections
   * have no gaps: after something was lost, `onGap` is called instead of showing what comes next, where it is given.
   */
  watch(version: number, show: (shown: Shown) => void, onGap?: () => void): () => void {
    let hasGap = false;
    return this.#world.watch(version, (shown) => {
      if (this.network.lost !== undefined) hasGap = true;
      else {
        this.#comes(this.network.back, () => {
          if (this.network.lost !== undefined) hasGap = true;
          else if (hasGap && onGap) onGap();
          else show(shown);
        });
      }
    });
  }

  async close(): Promise<void> {}

  /** Something is on its way to the process. */
  #comes(ms: number, call: () => void): void {
    this.#world.at(this.#world.now + ms, () => this.#arrive(call));
  }

  #arrive(call: () => void): void {
    if (this.#state === "stopped") this.#inbox.push(call);
    else if (this.runs) call();
  }

  #stream({ query, signal }: RawRequest): RawResponse {
    const body = new PassThrough();
    const show = ({ type, object }: Shown) => {
      if (!body.destroyed) body.write(`${JSON.stringify({ type, object })}\n`);
    };
    let end = () => {};
    const close = () => {
      end();
      body.destroy();
    };
    end = this.watch(Number(query?.resourceVersion ?? 0), show, close);
    signal?.addEventListener("abort", close, { once: true });
    body.once("close", () => {
      signal?.removeEventListener("abort", close);
      end();
    });
    return { ...respond(undefined), body };
  }
}

/** What became of something that was sent. */
export type Outcome<T> = { readonly answer: T } | { readonly error: unknown };

function respond(body: unknown): RawResponse {
  return {
    status: 200,
    headers: {},
    json: async <T>() => body as T,
    text: async () => JSON.stringify(body),
    body: new PassThrough(),
  };
}

/** Promise chains and streams of the client are done after a turn or two of the event loop. */
export async function settled(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
