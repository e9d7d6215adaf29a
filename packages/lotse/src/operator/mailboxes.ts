/**
 * One mailbox for each object of a kind that this process works on: what is remembered of it, what has woken it, and when
 * it gets its turn. A change walks in from the cache; what comes out is a turn, and what the turn says of the next one
 * comes back in. Objects of other processes have none: the cache knows them, and they are taken up as if they were listed
 * anew when they become this one's.
 */
import type { KubeBody } from "@lotse/client";
import {
  type Clock,
  formatDuration,
  type IdentityKey,
  identityKey,
  namespaceIn,
  objectKeyIn,
  objectKeyOf,
} from "@lotse/client/meta";
import { Aborted } from "../declare/index.ts";
import type { InformerChange } from "../informers/index.ts";
import { PRIORITY, type Priority, type QueuedState, type QueueObserver, WorkQueue } from "../queue/index.ts";
import type { Wake } from "../report/index.ts";
import type { Ownership } from "../runtime/index.ts";
import {
  ask,
  errorFields,
  isDeleting,
  type KindWork,
  keepEvent,
  lastOf,
  leaveObject,
  newMemory,
  noteForeignChange,
  noteWake,
  type ObjectMemory,
  retriable,
  seeDeletion,
  seeGone,
  Takeover,
  type TurnEnd,
  takeTurn,
} from "../turn/index.ts";
import type { Mailed } from "./kind-cache.ts";
import { referenceOf } from "./last-writes.ts";

/** What {@link Mailboxes} are made of. */
export interface MailboxesParts {
  readonly clock: Clock;
  /** How many objects have their turn at the same time. */
  readonly concurrency: number;
  readonly observer: QueueObserver;
  /** What waits for another try is tried when its object is first seen. */
  readonly retryAtStart: boolean;
  /** Told of each object that was there when the stream began. */
  readonly onInitial: (body: KubeBody) => void;
  readonly ownership: Ownership;
  /** The newest known body of an object. */
  readonly newest: (key: IdentityKey) => KubeBody | undefined;
}

/** How long an object waits whose turn has failed, which no turn does by itself. */
const DEFECT_PAUSE_MS = 1_000;

/** See the module comment. */
export class Mailboxes implements Mailed {
  readonly #parts: MailboxesParts;
  readonly #memories = new Map<IdentityKey, ObjectMemory>();
  readonly queue: WorkQueue<IdentityKey>;
  /** What turns are taken with: set before anything is worked on, and again when the kind changes. */
  #kindWork: KindWork | undefined;
  /** Objects of other processes for which something still runs here. */
  readonly #leaving = new Set<IdentityKey>();
  /** The last change of ownership; undefined where this process is alone. */
  #takeover: Takeover | undefined;

  constructor(parts: MailboxesParts) {
    this.#parts = parts;
    const { clock, concurrency, observer, ownership } = parts;
    if (!ownership.alone) this.#takeover = new Takeover();
    this.queue = new WorkQueue({
      clock,
      concurrency,
      groupOf: (key) => namespaceIn(key) ?? "",
      work: (key, waitedMs) => this.#work(key, waitedMs),
      observer,
    });
  }

  /** From now on turns are taken with `work`. */
  use(work: KindWork): void {
    this.#kindWork = work;
  }

  /** How many objects there are. */
  get size(): number {
    return this.#memories.size;
  }

  /** What is remembered of all objects. */
  memories(): IterableIterator<ObjectMemory> {
    return this.#memories.values();
  }

  /** What is remembered of an object, if it is known. */
  find(key: IdentityKey): ObjectMemory | undefined {
    return this.#memories.get(key);
  }

  /** What is remembered of the object that has this name, or had it last. */
  named(namespace: string | undefined, name: string): ObjectMemory | undefined {
    const wanted = objectKeyOf(namespace, name);
    return [...this.#memories.values()].findLast(({ key }) => objectKeyIn(key) === wanted);
  }

  changed(body: KubeBody, { type, initial, before, listed }: InformerChange): void {
    if (initial) this.#parts.onInitial(body);
    if (this.#isForeign(body)) return;
    if (listed && this.#parts.ownership.keeps && !this.#memories.has(identityKey(body))) {
      this.#take(body);
      return;
    }
    const memory = this.#of(body, before !== undefined);
    noteForeignChange(memory);
    if (this.#keepsEvents) keepEvent(memory, { type: initial ? undefined : type, body });
    const why = initial ? "initial" : type === "ADDED" ? "added" : "modified";
    this.#wake(memory, body, initial ? PRIORITY.backlog : PRIORITY.live, why);
  }

  ownWrite(body: KubeBody): void {
    if (this.#isForeign(body)) return;
    this.#wake(this.#of(body), body, PRIORITY.live, "own write");
  }

  echoed(body: KubeBody): void {
    if (!this.#keepsEvents || this.#isForeign(body)) return;
    const memory = this.#of(body);
    keepEvent(memory, { type: "MODIFIED", body, own: true });
    noteWake(memory, { by: "own write", what: body.metadata?.resourceVersion });
    this.queue.add(memory.key, PRIORITY.live);
  }

  gone(body: KubeBody): void {
    const memory = this.#memories.get(identityKey(body));
    if (!memory) return;
    seeGone(memory, body);
    if (this.#keepsEvents) keepEvent(memory, { type: "DELETED", body });
    this.#stopDaemons(memory, "the object is gone");
    noteWake(memory, { by: "deleted", what: body.metadata?.resourceVersion });
    this.queue.add(memory.key, PRIORITY.live);
  }

  lost(body: KubeBody): void {
    const memory = this.#memories.get(identityKey(body));
    // Cannot reject.
    if (memory) void this.#lose(memory, "the object belongs to another process now");
  }

  /** The object is no longer this operator's. Resolves when what ran for it has ended. */
  async leave(body: KubeBody): Promise<void> {
    const memory = this.#memories.get(identityKey(body));
    if (memory) await this.#letGo(memory, new Aborted("mismatch", "the namespace is no longer served"));
  }

  /**
   * This process works on other objects than before, of those that are `known`: what it has lost is let go, what it has
   * gained is taken up. Resolves when nothing runs any more for what is lost.
   */
  async ownershipChanged(known: Iterable<KubeBody>, why: string): Promise<void> {
    const lost = [...this.#memories.values()].filter((memory) => {
      const body = lastOf(memory.life) ?? this.#parts.newest(memory.key) ?? memory.sight.body;
      return body !== undefined && !this.#owns(body);
    });
    const left = lost.map((memory) => this.#lose(memory, why));
    this.#takeover = new Takeover();
    for (const body of known) if (!this.#memories.has(identityKey(body)) && !this.#isForeign(body)) this.#take(body);
    await Promise.all(left);
  }

  /** The object gets a turn, if it is known. */
  wake(key: IdentityKey, priority: Priority = PRIORITY.live): void {
    if (this.#memories.has(key)) this.queue.add(key, priority);
  }

  /** Something has happened to an object outside of the cluster: whatever can run for it runs. */
  wakeFromOutside(memory: ObjectMemory, why: string): void {
    ask(memory, "woken");
    this.#kindWork?.handlers.background?.wake(memory);
    this.#kindWork?.handlers.reconcilers?.wake(memory);
    noteWake(memory, { by: "outside", what: why });
    this.queue.add(memory.key, PRIORITY.live);
  }

  /** Tries again at once what waits for it, or has failed for good; the ids of those handlers. */
  retry(memory: ObjectMemory): readonly string[] {
    const handlers = [
      ...retriable(memory.record),
      ...(this.#kindWork?.handlers.background?.retry(memory) ?? []),
      ...(this.#kindWork?.handlers.reconcilers?.retry(memory) ?? []),
    ];
    if (handlers.length === 0) return handlers;
    ask(memory, "retryNow");
    noteWake(memory, { by: "retry" });
    this.queue.add(memory.key, PRIORITY.live);
    return handlers;
  }

  /** The API server answers after it did not: writes that wait for their next try need not wait. */
  sendPending(): void {
    for (const [key, { ownWrites }] of this.#memories) if (ownWrites.pending) this.queue.add(key, PRIORITY.retry);
  }

  /** The operator stops: whatever runs is told. */
  interrupt(): void {
    for (const { running } of this.#memories.values()) running?.stop(new Aborted("shutdown", "the operator stops"));
  }

  /** What an object does in the queue. */
  stateOf(key: IdentityKey): QueuedState | undefined {
    return this.queue.stateOf(key);
  }

  get #keepsEvents(): boolean {
    return (this.#kindWork?.handlers.events.length ?? 0) > 0;
  }

  #owns(body: KubeBody): boolean {
    const kind = this.#kindWork?.kind;
    return kind !== undefined && this.#parts.ownership.owns(body, kind);
  }

  /** Whether the object is not this process's to work on, or not yet: what ran for it before has not ended. */
  #isForeign(body: KubeBody): boolean {
    if (this.#parts.ownership.alone) return false;
    const key = identityKey(body);
    if (this.#owns(body)) return this.#leaving.has(key);
    const memory = this.#memories.get(key);
    // What decides about its owner has changed. Cannot reject.
    if (memory) void this.#lose(memory, "the object has changed, and belongs to another process now");
    return true;
  }

  /** The object is this process's from now on: it is worked on as after a start. */
  #take(body: KubeBody): void {
    const memory = this.#of(body);
    if (this.#keepsEvents) keepEvent(memory, { type: undefined, body });
    this.#wake(memory, body, PRIORITY.backlog, "taken over");
  }

  /** Another process works on the object from now on. Never rejects. */
  async #lose(memory: ObjectMemory, why: string): Promise<void> {
    const { key } = memory;
    this.#leaving.add(key);
    await this.#letGo(memory, new Aborted("ownership", why));
    this.#leaving.delete(key);
    const body = this.#parts.newest(key);
    // It has come back meanwhile.
    if (body && !this.#memories.has(key) && this.#owns(body)) this.#take(body);
  }

  /** Nothing is remembered of the object any more, and nothing begins for it. Never rejects. */
  async #letGo(memory: ObjectMemory, reason: Aborted): Promise<void> {
    const { key } = memory;
    const { background, reconcilers } = this.#kindWork?.handlers ?? {};
    reconcilers?.forget(memory);
    this.#memories.delete(key);
    this.queue.forget(key);
    leaveObject(memory, reason);
    await Promise.all([this.queue.done(key), background?.stop(memory, reason.why, reason.message)]);
  }

  /** `known`: it was there before, as another process's, and has become this one's by what has changed about it. */
  #of(body: KubeBody, known = false): ObjectMemory {
    const key = identityKey(body);
    let memory = this.#memories.get(key);
    if (!memory) {
      const takeover = known && this.#takeover ? new Takeover() : this.#takeover;
      memory = newMemory(key, body.metadata?.uid ?? "", this.#parts.clock.monotonic(), takeover);
      if (this.#parts.retryAtStart) ask(memory, "retryNow");
      this.#memories.set(key, memory);
    }
    return memory;
  }

  #wake(memory: ObjectMemory, body: KubeBody, priority: Priority, by: Wake["by"]): void {
    noteWake(memory, { by, what: body.metadata?.resourceVersion });
    if (isDeleting(body) && seeDeletion(memory)) {
      memory.running?.stop(new Aborted("deletion", "the object is being deleted"));
      this.#stopDaemons(memory, "the object is being deleted");
    }
    this.queue.add(memory.key, priority);
  }

  /** At once, whatever the object's turn waits for; no turn waits for a daemon that ignores its signal. */
  #stopDaemons(memory: ObjectMemory, why: string): void {
    // Cannot reject.
    void this.#kindWork?.handlers.background?.stop(memory, "deletion", why);
  }

  /** Takes the turn of one object. Cannot reject: see {@link Mailboxes.#onDefect}. */
  async #work(key: IdentityKey, waitedMs: number): Promise<void> {
    const memory = this.#memories.get(key);
    const work = this.#kindWork;
    if (!memory || !work) return;
    try {
      this.#after(memory, work, await this.#turn(work, memory, waitedMs));
    } catch (error) {
      this.#onDefect(work, key, error);
    }
  }

  #turn(work: KindWork, memory: ObjectMemory, waitedMs: number): Promise<TurnEnd> {
    const { traces, journal } = work.reporting;
    const { key } = memory;
    if (!traces) return takeTurn(work, memory);
    const last = () => journal.of(key).at(-1);
    return traces.turn(
      () => referenceOf(work.kind, key),
      work.kind.kind,
      waitedMs,
      () => takeTurn(work, memory),
      last,
    );
  }

  #after(memory: ObjectMemory, { handlers }: KindWork, end: TurnEnd): void {
    const { key } = memory;
    // Let go while its turn was under way: what is remembered now, if anything, is not what the turn speaks of.
    if (memory.left) return;
    if (end.type === "forget") {
      handlers.reconcilers?.forget(memory);
      this.#memories.delete(key);
      this.queue.forget(key);
    } else if (end.type === "again") {
      noteWake(memory, { by: "again" });
      this.queue.add(key, PRIORITY.live);
    } else if (end.type === "later") this.queue.addAt(key, end.at);
  }

  /** A turn never fails; should something around it, such as a tracer of the project's, no other object suffers for it. */
  #onDefect({ reporting, kind }: KindWork, key: IdentityKey, error: unknown): void {
    reporting.logger.about(referenceOf(kind, key)).error("could not work on the object, will be tried again", {
      ...errorFields(error, true),
      retryIn: formatDuration(DEFECT_PAUSE_MS),
    });
    this.queue.addAt(key, this.#parts.clock.monotonic() + DEFECT_PAUSE_MS);
  }
}
