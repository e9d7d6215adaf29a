/** An item of a {@link DelayHeap}; the heap keeps its position in it, so that removal needs no search. */
export interface Delayed {
  /** When it is due, in monotonic milliseconds. */
  dueAt: number;
  /** Position in the heap, -1 when it is in none. Written by the heap only. */
  heapIndex: number;
}

/** A binary heap of delays: the earliest is first, any item can be removed in O(log n). */
export class DelayHeap<T extends Delayed> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The item that is due first. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** Adds `item`, or moves it when it is there already. */
  set(item: T, dueAt: number): void {
    item.dueAt = dueAt;
    if (item.heapIndex < 0) {
      item.heapIndex = this.#items.length;
      this.#items.push(item);
    }
    this.#up(item.heapIndex);
    this.#down(item.heapIndex);
  }

  /** Takes `item` out; nothing happens when it is not there. */
  delete(item: T): void {
    const index = item.heapIndex;
    if (index < 0) return;
    const last = this.#items.pop() as T;
    item.heapIndex = -1;
    if (last === item) return;
    this.#items[index] = last;
    last.heapIndex = index;
    this.#up(index);
    this.#down(last.heapIndex);
  }

  #up(index: number): void {
    let at = index;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#due(parent) <= this.#due(at)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(index: number): void {
    let at = index;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= this.#items.length) return;
      const right = left + 1;
      const child = right < this.#items.length && this.#due(right) < this.#due(left) ? right : left;
      if (this.#due(at) <= this.#due(child)) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #due(index: number): number {
    return (this.#items[index] as T).dueAt;
  }

  #swap(a: number, b: number): void {
    const first = this.#items[a] as T;
    const second = this.#items[b] as T;
    this.#items[a] = second;
    this.#items[b] = first;
    second.heapIndex = a;
    first.heapIndex = b;
  }
}
