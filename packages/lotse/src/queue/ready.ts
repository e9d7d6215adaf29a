/** Whose turn it is: lower numbers go first. */
export const PRIORITY = {
  /** Another client, or a handler, changed something just now. */
  live: 0,
  /** A delay is over: a retry, a timer. */
  retry: 1,
  /** Found when the operator started. */
  backlog: 2,
  /** Looked at again without a cause. */
  resync: 3,
} as const;

/** One of {@link PRIORITY}. */
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** An entry of the {@link ReadyList}. */
export interface Ready {
  /** Entries of one group wait in line behind each other; groups take turns. */
  readonly group: string;
  /** The level it waits at; undefined when it does not wait. Written by the list only. */
  level: Priority | undefined;
}

/** Every so many picks the lowest level goes first, so that steady live traffic cannot starve the start-up backlog. */
const LOWEST_FIRST_EVERY = 16;

/**
 * What is ready to run: by priority, and within one priority round robin over groups, so that a noisy namespace waits
 * behind its own noise.
 *
 * An entry that is raised to another level leaves its old place behind; such a place is recognised by
 * `entry.level` and skipped when its turn comes.
 */
export class ReadyList<T extends Ready> {
  readonly #levels: Map<string, Line<T>>[] = [new Map(), new Map(), new Map(), new Map()];
  #size = 0;
  #picks = 0;

  get size(): number {
    return this.#size;
  }

  /** Puts `entry` at the end of its group's line, or raises it when it waits at a lower priority. */
  add(entry: T, priority: Priority): void {
    if (entry.level !== undefined && entry.level <= priority) return;
    if (entry.level === undefined) this.#size++;
    entry.level = priority;
    const groups = this.#levels[priority] as Map<string, Line<T>>;
    let line = groups.get(entry.group);
    if (!line) {
      line = new Line();
      groups.set(entry.group, line);
    }
    line.push(entry);
  }

  /** Takes the next entry out. */
  take(): T | undefined {
    if (this.#size === 0) return undefined;
    const lowestFirst = ++this.#picks % LOWEST_FIRST_EVERY === 0;
    for (let step = 0; step < this.#levels.length; step++) {
      const level = lowestFirst ? this.#levels.length - 1 - step : step;
      const entry = this.#takeFrom(level as Priority);
      if (entry) return entry;
    }
    return undefined;
  }

  #takeFrom(level: Priority): T | undefined {
    const groups = this.#levels[level] as Map<string, Line<T>>;
    for (const [group, line] of groups) {
      let entry = line.shift();
      while (entry && entry.level !== level) entry = line.shift();
      // To the end of the round, whether or not it had something: Map keeps the order of insertion.
      groups.delete(group);
      if (line.size > 0) groups.set(group, line);
      if (!entry) continue;
      entry.level = undefined;
      this.#size--;
      return entry;
    }
    return undefined;
  }
}

/** First in, first out, without moving the rest at each `shift`. */
class Line<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    // Half of it is used up: dropping that half costs O(1) for each item that went through.
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
