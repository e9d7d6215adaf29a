/**
 * What happened to each object lately, for `lotse explain`: what woke it, what ran, what was written, what it waits for.
 * Bounded in both directions: so many turns of one object, so many of all; the objects that were quiet for longest are
 * forgotten first. A journal is for people, so nothing depends on what is in it.
 */

/** Why an object got its turn. */
export interface Wake {
  /**
   * `initial`: it was there when the operator began · `added`, `modified`, `deleted`: the stream said so · `own write`: a
   * handler wrote it · `due`: its time had come · `again`: its last turn left something to do · `read`: something that it
   * had read has changed · `retry`: a user asked for another try · `outside`: a source, or `running.wake`, said so ·
   * `taken over`: another process worked on it before · `daemon`: no turn, but a daemon beside it.
   */
  readonly by:
    | "initial"
    | "added"
    | "modified"
    | "deleted"
    | "own write"
    | "due"
    | "again"
    | "read"
    | "retry"
    | "outside"
    | "taken over"
    | "daemon";
  /** The resource version that was seen, what was read, or what has happened outside. */
  readonly what?: string | undefined;
}

/** One attempt of one handler. */
export interface JournalRun {
  readonly handler: string;
  /** The same in the lines that the run has written, and in its span. */
  readonly runId: string;
  readonly reason?: string | undefined;
  /** `waits`: by a `TemporaryError` · `stopped`: by deletion or the end of the operator. */
  readonly outcome: "succeeded" | "waits" | "waits for a step" | "failed" | "failed for good" | "stopped";
  readonly message?: string | undefined;
  readonly tookMs: number;
}

/** One write of the framework. */
export interface JournalWrite {
  readonly what: string;
  /** The resource version after it. */
  readonly version?: string | undefined;
}

/** One turn of one object. */
export interface JournalTurn {
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly tookMs: number;
  readonly woke: readonly Wake[];
  /** The resource version that the turn looked at. */
  readonly version: string | undefined;
  readonly ran: readonly JournalRun[];
  readonly wrote: readonly JournalWrite[];
  /** What its reconcilers have read: the next change of it wakes the object. */
  readonly read?: readonly string[] | undefined;
  /** What was done to its children: `ConfigMap a-page was repaired: data.html, changed by kubectl-edit`. */
  readonly children?: readonly string[] | undefined;
  /** What the turn could not do. */
  readonly problem?: string | undefined;
  /** What came after it: the object `waits` for its time or a change, its work `goes on` at once, or it `ends`. */
  readonly after: "waits" | "goes on" | "ends";
  /** Of an object that waits: when it wants to be woken, as wall-clock milliseconds; absent: when something changes. */
  readonly nextAt?: number | undefined;
}

/** What a turn notes down while it is under way. */
export interface TurnNotes {
  readonly ran: JournalRun[];
  readonly wrote: JournalWrite[];
  read?: string[];
  children?: string[];
}

/** How much is kept. */
export interface JournalLimits {
  readonly turnsOfOne: number;
  readonly turnsOfAll: number;
}

const USUAL: JournalLimits = { turnsOfOne: 20, turnsOfAll: 5_000 };

/** What is kept of one object, between those that had their last turns before and after it. */
interface Page {
  readonly key: string;
  readonly turns: JournalTurn[];
  older: Page | undefined;
  newer: Page | undefined;
}

/** See the module comment. */
export class Journal {
  readonly #limits: JournalLimits;
  /**
   * In no order: they are linked by that of their last turns. A map that is to keep it would have to give each object a new
   * place at each turn, and leave thousands of empty ones behind that are passed whenever the oldest is looked for.
   */
  readonly #pages = new Map<string, Page>();
  #oldest: Page | undefined;
  #newest: Page | undefined;
  #size = 0;

  constructor(limits: Partial<JournalLimits> = {}) {
    this.#limits = { ...USUAL, ...limits };
  }

  /** Number of turns that are kept. */
  get size(): number {
    return this.#size;
  }

  add(key: string, turn: JournalTurn): void {
    let page = this.#pages.get(key);
    if (page) this.#unlink(page);
    else {
      page = { key, turns: [], older: undefined, newer: undefined };
      this.#pages.set(key, page);
    }
    page.turns.push(turn);
    this.#size++;
    if (page.turns.length > this.#limits.turnsOfOne) {
      page.turns.shift();
      this.#size--;
    }
    this.#append(page);
    while (this.#size > this.#limits.turnsOfAll && this.#oldest && this.#oldest !== page) this.#forget(this.#oldest);
  }

  /** The turns of an object, oldest first. */
  of(key: string): readonly JournalTurn[] {
    return this.#pages.get(key)?.turns ?? [];
  }

  #forget(page: Page): void {
    this.#unlink(page);
    this.#pages.delete(page.key);
    this.#size -= page.turns.length;
  }

  #append(page: Page): void {
    page.older = this.#newest;
    if (this.#newest) this.#newest.newer = page;
    else this.#oldest = page;
    this.#newest = page;
  }

  #unlink(page: Page): void {
    const { older, newer } = page;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    page.older = undefined;
    page.newer = undefined;
  }
}
