/**
 * The only place where cluster state lives: one revision counter for the whole server, one table for each resource.
 *
 * Invariants, on which every list, watch and continue token rests:
 * - a committed change gets the next revision, and no two changes share one;
 * - stored objects are never mutated, so a reader may keep what it was handed without copying;
 * - `log` holds every change of its table after `compacted`, in revision order, each with the state before it. Any
 *   revision at or after `compacted` can therefore be rebuilt by undoing the tail of the log.
 */
import type { Change, ChangeListener, ChangeType, Entry, StoredObject } from "./change.ts";
import type { Journal, JournalEntry, StoredRow } from "./journal.ts";
import { RevisionLog } from "./log.ts";
import { SortedTable } from "./table.ts";

/** A reader asked for a revision that the log no longer reaches back to. */
export class RevisionExpired extends Error {
  readonly requested: number;
  readonly oldest: number;

  constructor(requested: number, oldest: number) {
    super(`revision ${requested} is older than ${oldest}, the oldest one kept`);
    this.requested = requested;
    this.oldest = oldest;
  }
}

/** Why a compare-and-swap did not happen. `current` is what was found instead. */
export type WriteResult = { ok: true; entry: Entry } | { ok: false; current: Entry | undefined };

/** How much history a store keeps, and where its steps are written down. */
export interface StoreOptions {
  /** Milliseconds, monotonic: ages the log. */
  now: () => number;
  /** Changes kept for each resource, whatever their age. */
  retainChanges?: number;
  /** About how many bytes of changes are kept, of all resources together; the resource with most loses first. */
  retainBytes?: number;
  /** How long history stays readable at least; it is gone after twice that. A real server compacts every five minutes. */
  retainMs?: number;
  /** Told every step, so that it can be taken again elsewhere. */
  journal?: Journal | undefined;
}

const RETAIN_BYTES = 16 * 1_024 * 1_024;

interface ResourceState {
  readonly table: SortedTable;
  readonly log: RevisionLog;
  readonly listeners: Set<ChangeListener>;
}

/** In-memory, ordered, versioned storage for every resource of the server. */
export class Store {
  #revision = 1;
  #compacted = 0;
  /** The present one at the last compaction by age: what {@link #compactByAge} forgets next. */
  #nextCompacted = 0;
  #compactedAt: number;
  readonly #resources = new Map<string, ResourceState>();
  readonly #anyListeners = new Set<(resource: string, change: Change) => void>();
  /** Changes that are committed but not yet told to everybody; empty unless a delivery is under way. */
  readonly #undelivered: { state: ResourceState; resource: string; change: Change }[] = [];
  #delivering = false;
  readonly #options: Required<Omit<StoreOptions, "journal">>;
  readonly #journal: Journal | undefined;
  #frozen: Error | undefined;
  #historyBytes = 0;

  constructor(options: StoreOptions) {
    this.#options = { retainChanges: 20_000, retainBytes: RETAIN_BYTES, retainMs: 300_000, ...options };
    this.#journal = options.journal;
    this.#compactedAt = options.now();
  }

  /**
   * Takes over what another store was: its rows at a revision and its steps since, which become readable history. Only
   * for a store that is not in use yet.
   */
  load(revision: number, rows: Iterable<StoredRow>, steps: Iterable<JournalEntry>): void {
    this.#revision = revision;
    this.#compacted = revision;
    this.#nextCompacted = revision;
    for (const { resource, key, revision: changed, object } of rows) {
      this.#state(resource).table.set({ key, revision: changed, object });
    }
    for (const step of steps) {
      this.#revision = step.revision;
      if (step.type === "compaction") continue;
      const state = this.#state(step.resource);
      const previous = state.table.get(step.key);
      const { revision, key, object } = step;
      if (step.type === "delete") state.table.delete(key);
      else state.table.set({ key, revision, object });
      const type = step.type === "delete" ? "deleted" : previous ? "updated" : "created";
      this.#remember(state, { type, revision, key, object, previous });
    }
  }

  /**
   * Goes back to what it was at `revision`, and stays so: a writer is told `why` it cannot change. For a store that
   * has lost its disk: what cannot be kept is not shown. False, and nothing done, when history does not go back so far.
   */
  freeze(revision: number, why: Error): boolean {
    this.#frozen = why;
    for (const { log } of this.#resources.values()) if (log.compacted > revision) return false;
    for (const { table, log } of this.#resources.values()) {
      for (const { key, previous } of log.backwardsTo(revision)) {
        if (previous) table.set(previous);
        else table.delete(key);
      }
      log.cutAfter(revision);
    }
    this.#revision = revision;
    return true;
  }

  /** Every row of every resource. */
  rows(): StoredRow[] {
    const rows: StoredRow[] = [];
    for (const [resource, { table }] of this.#resources) {
      for (const { key, revision, object } of table.range("")) rows.push({ resource, key, revision, object });
    }
    return rows;
  }

  /**
   * The revision of the last committed change. A compaction that is due comes first: what was just asked for can always
   * be watched from, however long the store was at rest before.
   */
  get revision(): number {
    this.#compactByAge();
    return this.#revision;
  }

  /** Names of the resources that hold at least one object. */
  resources(): string[] {
    return [...this.#resources].filter(([, state]) => state.table.size > 0).map(([name]) => name);
  }

  get(resource: string, key: string): Entry | undefined {
    return this.#resources.get(resource)?.table.get(key);
  }

  /** All rows whose key starts with `prefix`, in key order, as of `revision` (now, if absent). */
  list(resource: string, prefix = "", revision?: number): Entry[] {
    this.#compactByAge();
    const state = this.#resources.get(resource);
    if (revision === undefined || revision >= this.#revision) return state?.table.range(prefix) ?? [];
    this.#assertKept(state, revision);
    if (state === undefined) return [];
    const past = new Map<string, Entry>();
    for (const entry of state.table.range(prefix)) past.set(entry.key, entry);
    for (const change of state.log.backwardsTo(revision)) {
      if (!change.key.startsWith(prefix)) continue;
      if (change.previous) past.set(change.key, change.previous);
      else past.delete(change.key);
    }
    return [...past.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  /** How many objects a resource holds. */
  count(resource: string): number {
    return this.#resources.get(resource)?.table.size ?? 0;
  }

  create(resource: string, key: string, object: StoredObject): WriteResult {
    const state = this.#state(resource);
    const current = state.table.get(key);
    if (current) return { ok: false, current };
    return this.#commit(state, resource, "created", key, object, undefined);
  }

  /** Replaces the row if its revision is still `expected`. */
  update(resource: string, key: string, expected: number, object: StoredObject): WriteResult {
    const state = this.#state(resource);
    const current = state.table.get(key);
    if (current?.revision !== expected) return { ok: false, current };
    return this.#commit(state, resource, "updated", key, object, current);
  }

  /** Removes the row if its revision is still `expected`; `object` is its last state, as watchers will see it. */
  delete(resource: string, key: string, expected: number, object?: StoredObject): WriteResult {
    const state = this.#state(resource);
    const current = state.table.get(key);
    if (current?.revision !== expected) return { ok: false, current };
    return this.#commit(state, resource, "deleted", key, object ?? current.object, current);
  }

  /**
   * Calls `listener` with every change of `resource` after revision `after`: first those in the log, then live ones, with
   * none lost or doubled in between because all of this happens in one turn. The returned function stops it.
   */
  watch(resource: string, after: number, listener: ChangeListener): () => void {
    this.#compactByAge();
    const state = this.#state(resource);
    let seen = after;
    const live: ChangeListener = (change) => {
      if (change.revision <= seen) return;
      seen = change.revision;
      listener(change);
    };
    if (after < this.#revision) {
      this.#assertKept(state, after);
      for (const change of state.log.after(after)) live(change);
    }
    state.listeners.add(live);
    return () => state.listeners.delete(live);
  }

  /** The changes of one row that are still known, oldest first. */
  changesOf(resource: string, key: string): Change[] {
    const log = this.#resources.get(resource)?.log;
    return log?.after(log.compacted).filter((change) => change.key === key) ?? [];
  }

  /** Calls `listener` with every change of every resource from now on. */
  watchAll(listener: (resource: string, change: Change) => void): () => void {
    this.#anyListeners.add(listener);
    return () => this.#anyListeners.delete(listener);
  }

  /** Forgets all history: a reader that asks for anything before the present revision gets {@link RevisionExpired}. */
  compact(): void {
    this.#compacted = this.#revision;
    for (const state of this.#resources.values()) state.log.clear(this.#revision);
    this.#countBytes();
  }

  /** The oldest revision from which `resource` can still be read or watched. */
  oldest(resource: string): number {
    return Math.max(this.#compacted, this.#resources.get(resource)?.log.compacted ?? 0);
  }

  /**
   * Forgets history by age, for all resources together and lazily: nothing runs while no client asks. As on a real server,
   * whose compaction is a write of its own, this one also takes a revision: so even a reader that saw the newest revision
   * finds it expired one day, although nothing else was written.
   */
  #compactByAge(): void {
    if (this.#frozen) return;
    const periods = Math.floor((this.#options.now() - this.#compactedAt) / this.#options.retainMs);
    if (periods <= 0) return;
    this.#compactedAt += periods * this.#options.retainMs;
    for (let i = 0; i < Math.min(periods, 2); i++) {
      this.#compacted = Math.max(this.#compacted, this.#nextCompacted);
      this.#nextCompacted = ++this.#revision;
      this.#journal?.append({ type: "compaction", revision: this.#revision });
    }
    for (const state of this.#resources.values()) state.log.forgetUntil(this.#compacted);
    this.#countBytes();
  }

  /** About how many bytes of history are kept. */
  get historyBytes(): number {
    return this.#historyBytes;
  }

  #remember({ log }: ResourceState, change: Change): void {
    const before = log.bytes;
    log.append(change, this.#compacted);
    this.#historyBytes += log.bytes - before;
    const { retainBytes } = this.#options;
    if (this.#historyBytes <= retainBytes) return;
    // In larger steps, because finding the largest log means looking at all of them.
    const largest = [...this.#resources.values()].reduce((a, b) => (a.log.bytes >= b.log.bytes ? a : b));
    this.#historyBytes -= largest.log.shrink(this.#historyBytes - retainBytes * 0.95);
  }

  #countBytes(): void {
    this.#historyBytes = 0;
    for (const { log } of this.#resources.values()) this.#historyBytes += log.bytes;
  }

  #assertKept(state: ResourceState | undefined, revision: number): void {
    const oldest = Math.max(this.#compacted, state?.log.compacted ?? 0);
    if (revision < oldest) throw new RevisionExpired(revision, oldest);
  }

  #state(resource: string): ResourceState {
    let state = this.#resources.get(resource);
    if (!state) {
      state = {
        table: new SortedTable(),
        log: new RevisionLog(this.#options.retainChanges),
        listeners: new Set(),
      };
      this.#resources.set(resource, state);
    }
    return state;
  }

  #commit(
    state: ResourceState,
    resource: string,
    type: ChangeType,
    key: string,
    object: StoredObject,
    previous: Entry | undefined,
  ): WriteResult {
    if (this.#frozen) throw this.#frozen;
    this.#compactByAge();
    const revision = ++this.#revision;
    const versioned = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(revision) },
    };
    const entry: Entry = { key, revision, object: versioned };
    if (type === "deleted") state.table.delete(key);
    else state.table.set(entry);
    const change: Change = { type, revision, key, object: versioned, previous };
    this.#remember(state, change);
    this.#journal?.append({ type: type === "deleted" ? "delete" : "put", revision, resource, key, object: versioned });
    this.#undelivered.push({ state, resource, change });
    this.#deliver();
    return { ok: true, entry };
  }

  /** A listener may write: what it writes is told after the change that it reacts to, so that all see one order. */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#undelivered.shift(); next; next = this.#undelivered.shift()) {
        for (const listener of [...next.state.listeners]) listener(next.change);
        for (const listener of [...this.#anyListeners]) listener(next.resource, next.change);
      }
    } finally {
      this.#delivering = false;
    }
  }
}
