/** Runs the machine of machine.ts against a server: requests, lines, timers, and the sink. */
import { apiVersionOf, type KindDescription, type ObjectBody, pathOf } from "../kinds/index.ts";
import {
  type Clock,
  formatFieldSelector,
  formatLabelSelector,
  formatShardSelector,
  Nap,
  type ObjectKey,
  objectKey,
  systemClock,
} from "../meta/index.ts";
import { isOutOfReach, LineSplitter, linkSignals, type Query, type RawResponse, tooLarge } from "../transport/index.ts";
import type { StreamClient, StreamOptions, StreamSink, StreamState } from "./contract.ts";
import { EventParser } from "./event.ts";
import { begin, type Delivery, type Input, type MachineInputs, next, type State, type Task } from "./machine.ts";
import { isPartial, metadataHeaders, refusesForm, UnexpectedForm } from "./partial-metadata.ts";
import { afterNewsMs, scoutMs } from "./patience.ts";
import { SilenceTimer } from "./silence.ts";

const INACTIVITY_MS = 90_000;
const PAGE_SIZE = 500;
const SERVER_TIMEOUT_MS = 600_000;
/** A server that begins with all there is does not pause for so long before it has come to the end. */
const GATHERING_SILENCE_MS = 10_000;

/**
 * One supervised list and watch of a kind, for ever: resolves when `signal` aborts, and rejects only when the sink throws.
 * Whatever happens to the connection, the sink ends up with what is in the cluster; `state` says what the stream waits for.
 *
 * @example
 * ```ts
 * const pods = new Map<ObjectKey, KubeBody>();
 * await openStream<KubeBody>(client, Pod.description, { namespace: "default" }, {
 *   replace(items) { pods.clear(); for (const pod of items) pods.set(objectKey(pod), pod); },
 *   apply(pod) { pods.set(objectKey(pod), pod); },
 *   remove(pod) { pods.delete(objectKey(pod)); },
 * }, signal);
 * ```
 */
export async function openStream<B extends ObjectBody>(
  client: StreamClient,
  kind: KindDescription,
  o: StreamOptions,
  sink: StreamSink<B>,
  signal: AbortSignal,
): Promise<void> {
  await new Stream(client, kind, o, sink, signal).run();
}

/** Loaded when needed: it is no small module, and it is there anyway once a connection is encrypted. */
const digest = (bytes: Buffer): string => process.getBuiltinModule("node:crypto").hash("sha256", bytes);

/** Events that are about an object of the kind, and not about the watch. */
const OF_OBJECTS: ReadonlySet<string> = new Set(["ADDED", "MODIFIED", "DELETED"]);

/** A break of the connection that the stream itself made. */
const SILENT = new Error("the watch was silent for too long");

class Stream<B extends ObjectBody> {
  readonly #client: StreamClient;
  readonly #kind: KindDescription;
  readonly #o: StreamOptions;
  readonly #sink: StreamSink<B>;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #path: string;
  /** One text for all objects. */
  readonly #apiVersion: string;
  readonly #selectors: Query;
  /** Undefined: lines are parsed as they are. */
  readonly #parser: EventParser | undefined;
  /** What decisions depend on besides: the same for all, but for the time. */
  readonly #given: MachineInputs & { now: number; gathers: boolean };
  /** Whether the server is asked for metadata alone. */
  #metadataOnly: boolean;
  /** What has come of a state that is on its way. */
  readonly #gathered = new Map<ObjectKey, B>();
  #state: State<B>;
  #version: string | undefined;
  #lastEventAt: number | undefined;
  /** Since when the server does not answer this stream. */
  #downSince: number | undefined;
  /** Tries in a row that were made because the server had answered another request. */
  #early = 0;

  constructor(client: StreamClient, kind: KindDescription, o: StreamOptions, sink: StreamSink<B>, signal: AbortSignal) {
    this.#client = client;
    this.#kind = kind;
    this.#o = o;
    this.#sink = sink;
    this.#signal = signal;
    this.#clock = o.clock ?? systemClock;
    this.#random = o.random ?? Math.random;
    this.#path = pathOf(kind, { namespace: o.namespace });
    const { labelSelector: labels, fieldSelector: fields } = o;
    const shard = o.shardSelector?.();
    this.#selectors = {
      shardSelector: shard && formatShardSelector(shard),
      labelSelector: formatLabelSelector(typeof labels === "function" ? labels() : labels) || undefined,
      fieldSelector: formatFieldSelector(typeof fields === "function" ? fields() : fields) || undefined,
    };
    this.#apiVersion = apiVersionOf(kind);
    this.#metadataOnly = o.metadataOnly?.() ?? false;
    const gathers = o.initialStreaming === "auto";
    this.#given = { now: 0, random: this.#random, backoff: o.backoff, gathers };
    this.#state = begin<B>(this.#given).state;
    const known = sink.known?.bind(sink);
    this.#parser = o.keepManagedFields ? undefined : new EventParser(known && { known, digest });
  }

  async run(): Promise<void> {
    let { task } = begin<B>(this.#given);
    try {
      while (!this.#signal.aborted) task = await this.#perform(task);
      this.#report({ phase: "closed" });
    } catch (error) {
      throw error instanceof SinkFailure ? error.cause : error;
    }
  }

  /** Does one task to its end; gives the next one. */
  #perform(task: Task): Promise<Task> {
    switch (task.run) {
      case "list":
        return this.#list(task.token);
      case "gather":
        this.#report({ phase: "listing" });
        return this.#watch(undefined);
      case "watch":
        return this.#watch(task.version);
      case "wait":
        return this.#wait(task);
    }
  }

  async #wait({ ms, error }: Extract<Task, { run: "wait" }>): Promise<Task> {
    const begunAt = this.#clock.monotonic();
    this.#downSince ??= begunAt;
    const nap = new Nap(this.#clock, this.#signal);
    let early = false;
    const onNews = () => {
      early = true;
      nap.endIn(afterNewsMs(this.#clock.monotonic() - begunAt, this.#early, this.#random(), error));
    };
    // A stream with its own idea of how long to wait does not look more often for the sake of others.
    const scouts = this.#o.backoff === undefined;
    const news = isOutOfReach(error) ? this.#client.reachability?.wait(once(onNews), { scouts }) : undefined;
    const patience = news?.scout ? scoutMs(ms, begunAt - this.#downSince, this.#random(), error) : ms;
    let forget: (() => void) | undefined;
    try {
      this.#report({ phase: "waiting", error, retryAt: begunAt + patience });
      forget = this.#o.onWait?.(error, () => nap.end());
      nap.endIn(patience);
      await nap.over;
    } finally {
      nap.end();
      forget?.();
      news?.leave(this.#signal.aborted ? "gone" : "tries");
    }
    if (early) this.#early++;
    return this.#settled({ is: "due" });
  }

  async #list(token: string | undefined): Promise<Task> {
    if (token === undefined) this.#report({ phase: "listing" });
    return this.#settled(await this.#askPage(token));
  }

  async #askPage(token: string | undefined): Promise<Input<B>> {
    try {
      const response = await this.#client.raw({
        method: "GET",
        path: this.#path,
        query: { ...this.#selectors, limit: this.#o.pageSize ?? PAGE_SIZE, continue: token },
        ...this.#form("list"),
        signal: this.#signal,
        // The machine waits by itself; only a list half read is worth some patience before it starts anew.
        retry: token !== undefined,
      });
      const page = await response.json<{
        items?: B[] | null;
        metadata?: { resourceVersion?: string; continue?: string };
      }>();
      if (page.items === undefined && this.#metadataOnly) throw new UnexpectedForm();
      const tidied = (page.items ?? []).map((item) => this.#tidy(item));
      const items = this.#cut(this.#sink.keeps ? this.#kept(tidied) : tidied);
      const { resourceVersion = "", continue: rest } = page.metadata ?? {};
      return { is: "page", items, version: resourceVersion, token: rest || undefined };
    } catch (error) {
      if (error instanceof SinkFailure) throw error;
      return this.#isRefused(error) ? this.#askPage(token) : { is: "failed", error };
    }
  }

  /** In which form objects are asked for. */
  #form(request: "list" | "watch"): { headers?: Record<string, string> } {
    return this.#metadataOnly ? { headers: metadataHeaders(request) } : {};
  }

  /** Whether the server does not send metadata alone: then it is asked for whole objects from now on. */
  #isRefused(error: unknown): boolean {
    if (!this.#metadataOnly || !refusesForm(error)) return false;
    this.#metadataOnly = false;
    return true;
  }

  /** What the sink wants of each. */
  #cut(items: B[]): B[] {
    const { cut } = this.#sink;
    if (!cut) return items;
    let left = items;
    guard(() => {
      left = items.map((item) => cut(item));
    });
    return left;
  }

  /** What the sink wants of a page. */
  #kept(items: B[]): B[] {
    let kept = items;
    guard(() => {
      kept = items.filter((item) => this.#sink.keeps?.(item));
    });
    return kept;
  }

  /** Between half of the limit and all of it, so that many streams do not end at once. */
  #watchSeconds(): number {
    const half = (this.#o.serverTimeoutMs ?? SERVER_TIMEOUT_MS) / 2_000;
    return Math.max(1, Math.floor(half + this.#random() * half));
  }

  /** Without a version: begins with all there is. */
  async #watch(version: string | undefined): Promise<Task> {
    const limit = this.#o.inactivityMs ?? INACTIVITY_MS;
    const silence = new SilenceTimer(this.#clock, () =>
      isGathering(this.#state) ? Math.min(limit, GATHERING_SILENCE_MS) : limit,
    );
    const connection = new AbortController();
    const { signal, unlink } = linkSignals([this.#signal, connection.signal]);
    const onSilence = () => connection.abort(SILENT);
    silence.start(onSilence);
    try {
      const response = await this.#client.raw({
        method: "GET",
        path: this.#path,
        query: {
          ...this.#selectors,
          watch: true,
          allowWatchBookmarks: true,
          ...(version === undefined
            ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }
            : { resourceVersion: version }),
          timeoutSeconds: this.#watchSeconds(),
        },
        ...this.#form("watch"),
        signal,
        stream: true,
        retry: false,
      });
      this.#feed({ is: "opened" });
      if (version === undefined) silence.start(onSilence);
      else {
        this.#version = version;
        this.#report({ phase: "watching" });
      }
      return await this.#read(response, silence, connection.signal);
    } catch (error) {
      if (error instanceof SinkFailure) throw error;
      if (this.#isRefused(error)) return version === undefined ? { run: "gather" } : { run: "watch", version };
      return this.#settled(connection.signal.aborted ? { is: "silent" } : { is: "failed", error });
    } finally {
      silence.stop();
      // Closes the socket also when the stream failed before it was read from; so the link must still be there.
      connection.abort(SILENT);
      unlink();
    }
  }

  /** Feeds the lines of a watch to the machine until it, the server, the timer or the caller ends the watch. */
  #read({ body }: RawResponse, silence: SilenceTimer, connection: AbortSignal): Promise<Task> {
    return new Promise<Task>((resolve, reject) => {
      let over = false;
      const finish = (settle: () => void) => {
        if (over) return;
        over = true;
        body.off("data", onData);
        body.destroy();
        try {
          settle();
        } catch (error) {
          reject(error);
        }
      };
      const end = (input: Input<B>) => finish(() => resolve(this.#settled(input)));
      const longest = this.#client.limits?.eventBytes ?? Number.POSITIVE_INFINITY;
      const tooLong = () => tooLarge("eventBytes", longest, { method: "GET", path: this.#path });
      const onLine = (line: Buffer) => {
        if (over) return;
        const task = this.#feed(this.#parse(line));
        if (task) finish(() => resolve(task));
      };
      const splitter = new LineSplitter(onLine, { longest, tooLong });
      const onData = (chunk: Buffer) => {
        silence.heard();
        try {
          splitter.push(chunk);
        } catch (error) {
          finish(() => reject(error));
          return;
        }
        const gate = over ? undefined : this.#sink.drained?.();
        if (!gate) return;
        body.pause();
        silence.pause();
        gate.then(() => {
          if (over) return;
          silence.resume();
          body.resume();
        }, reject);
      };
      // Half a line at the end is dropped: its version was not taken, so that the next watch repeats it.
      const onEnd = () => end(connection.aborted ? { is: "silent" } : { is: "ended" });
      body.on("data", onData);
      body.once("end", onEnd);
      body.once("close", onEnd);
      body.on("error", onEnd);
      this.#signal.addEventListener("abort", onEnd, { once: true });
      connection.addEventListener("abort", onEnd, { once: true });
      body.once("close", () => this.#signal.removeEventListener("abort", onEnd));
      if (this.#signal.aborted || connection.aborted) onEnd();
    });
  }

  #parse(line: Buffer): Input<B> {
    try {
      const { type, object } = this.#parser?.parse(line) ?? JSON.parse(line.toString("utf8"));
      if (typeof type !== "string" || typeof object !== "object" || object === null) throw new Error("no event");
      const tidy = this.#tidy(object as B);
      const isWhole = this.#sink.cut === undefined || !OF_OBJECTS.has(type);
      return { is: "event", type, object: isWhole ? tidy : (this.#cut([tidy])[0] as B) };
    } catch (cause) {
      if (cause instanceof SinkFailure) throw cause;
      return {
        is: "failed",
        error: new Error(`the watch sent a line that is no event: ${line.toString("utf8", 0, 80)}`, { cause }),
      };
    }
  }

  /** Items of a list come without their kind; and what the sink does not want is not kept. */
  #tidy(body: B): B {
    if (this.#metadataOnly && isPartial(body)) {
      body.apiVersion = this.#apiVersion;
      body.kind = this.#kind.kind;
    }
    body.apiVersion ??= this.#apiVersion;
    body.kind ??= this.#kind.kind;
    if (this.#o.keepManagedFields || body.metadata?.managedFields === undefined) return body;
    // Copied, because `delete` on a key in the middle would turn the object into a slow and large dictionary.
    const { managedFields: _, ...metadata } = body.metadata;
    body.metadata = metadata;
    return body;
  }

  /** Tells the machine, and the sink what follows from it. */
  #feed(input: Input<B>): Task | undefined {
    const now = this.#clock.monotonic();
    this.#given.now = now;
    const step = next(this.#state, input, this.#given);
    this.#state = step.state;
    if (input.is === "opened") this.#downSince = undefined;
    if (step.state.failures === 0) this.#early = 0;
    if ("listsInstead" in step) {
      this.#given.gathers = false;
      guard(() => this.#o.onListInstead?.(step.listsInstead));
    }
    // Cut before its end: what has come of it says nothing.
    if (step.task) this.#gathered.clear();
    if (step.deliver) {
      if (input.is === "event") this.#lastEventAt = now;
      this.#deliver(step.deliver);
    }
    if (step.state.at === "watching") this.#version = step.state.version;
    if (step.deliver?.tell === "gathered") this.#report({ phase: "watching" });
    return step.task;
  }

  /** The same where the machine must have something to do next. */
  #settled(input: Input<B>): Task {
    if (this.#signal.aborted) return { run: "wait", ms: 0, error: undefined };
    const task = this.#feed(input);
    if (task) return task;
    throw new Error(`a stream that is ${this.#state.at} has nothing to do after "${input.is}"`);
  }

  #deliver(delivery: Delivery<B>): void {
    const sink = this.#sink;
    // What the sink throws must not look like a failure of the server.
    try {
      if (delivery.tell === "apply") sink.apply(delivery.body, delivery.type);
      else if (delivery.tell === "remove") sink.remove(delivery.body);
      else if (delivery.tell === "bookmark") sink.bookmark?.(delivery.version);
      else if (delivery.tell === "gather") this.#gather(delivery.body, delivery.gone);
      else if (delivery.tell === "gathered") {
        const items = [...this.#gathered.values()];
        this.#gathered.clear();
        sink.replace(items, delivery.version);
      } else sink.replace(delivery.items as B[], delivery.version);
    } catch (cause) {
      throw new SinkFailure(cause);
    }
  }

  #gather(body: B, gone: boolean): void {
    // What the sink does not want is let go at once, as from the pages of a list.
    if (gone || this.#sink.keeps?.(body) === false) this.#gathered.delete(objectKey(body));
    else this.#gathered.set(objectKey(body), body);
  }

  #report(part: Pick<StreamState, "phase" | "error" | "retryAt">): void {
    const state: StreamState = {
      ...part,
      since: this.#clock.monotonic(),
      ...(this.#version === undefined ? {} : { resourceVersion: this.#version }),
      ...(this.#lastEventAt === undefined ? {} : { lastEventAt: this.#lastEventAt }),
    };
    guard(() => this.#sink.state?.(state));
  }
}

/** Whether the server has begun to send all that there is. */
function isGathering<B>(state: State<B>): boolean {
  return state.at === "gathering" && state.openedAt !== undefined;
}

function once(call: () => void): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    call();
  };
}

/** The sink threw: a defect of the caller, which no retry heals. */
class SinkFailure extends Error {
  constructor(cause: unknown) {
    super("the sink of a stream threw", { cause });
  }
}

/** Calls the sink; what it throws must not look like a failure of the server. */
function guard(call: () => unknown): void {
  try {
    call();
  } catch (cause) {
    throw new SinkFailure(cause);
  }
}
