/** Pods that wait for a node. */
interface Waiting {
  readonly uid: string;
  readonly signature: string;
  readonly priority: number;
  /** The claims that it names. */
  readonly claims: readonly string[];
}

/**
 * Pods whose turn it is, the most important first, and those that no node takes for now. Of the latter, pods that are alike
 * wait in one line: when something changes only the first of each line is tried, and the next one when that was placed.
 * So a change costs as many attempts as there are kinds of pods, however many pods wait.
 */
export class SchedulingQueue {
  readonly #known = new Map<string, Waiting>();
  readonly #active = new Map<number, Set<string>>();
  readonly #lines = new Map<string, Set<string>>();
  /** Lines of pods that name a claim: each has few, and many others may wait for theirs. */
  readonly #naming = new Map<string, Set<string>>();

  get isEmpty(): boolean {
    return this.#active.size === 0;
  }

  /** A pod that may be new, or another one than before. One that waits as it is goes on waiting. */
  offer(key: string, pod: Waiting): void {
    const known = this.#known.get(key);
    if (known?.uid === pod.uid && known.signature === pod.signature) return;
    this.forget(key);
    this.#known.set(key, pod);
    this.activate(key);
  }

  forget(key: string): void {
    const known = this.#known.get(key);
    if (!known) return;
    this.#known.delete(key);
    this.#deactivate(key, known.priority);
    const line = this.#lines.get(known.signature);
    line?.delete(key);
    if (line?.size === 0) this.#close(known);
  }

  /** The pod whose turn it is. */
  next(): string | undefined {
    if (this.#active.size === 0) return undefined;
    const highest = Math.max(...this.#active.keys());
    const [key] = this.#active.get(highest) ?? [];
    if (key !== undefined) this.#deactivate(key, highest);
    return key;
  }

  /** No node takes it for now. */
  park(key: string): void {
    const known = this.#known.get(key);
    if (!known) return;
    const line = this.#lines.get(known.signature) ?? new Set();
    this.#lines.set(known.signature, line);
    line.add(key);
    for (const claim of known.claims) {
      const naming = this.#naming.get(claim) ?? new Set();
      this.#naming.set(claim, naming);
      naming.add(known.signature);
    }
  }

  /** It is tried again. */
  activate(key: string): void {
    const known = this.#known.get(key);
    if (!known) return;
    const keys = this.#active.get(known.priority) ?? new Set();
    this.#active.set(known.priority, keys);
    keys.add(key);
  }

  /** Something has changed: the first of each line is tried. */
  wake(): void {
    for (const signature of this.#lines.keys()) this.#tryLine(signature);
  }

  /** A claim has changed: the first of each line of those that name it is tried. */
  wakeFor(claim: string): void {
    for (const signature of this.#naming.get(claim) ?? []) this.#tryLine(signature);
  }

  /** Pods that wait in the same line. */
  alike(signature: string): Iterable<string> {
    return this.#lines.get(signature) ?? [];
  }

  signature(key: string): string | undefined {
    return this.#known.get(key)?.signature;
  }

  #tryLine(signature: string): void {
    const [first] = this.#lines.get(signature) ?? [];
    if (first !== undefined) this.activate(first);
  }

  #close({ signature, claims }: Waiting): void {
    this.#lines.delete(signature);
    for (const claim of claims) {
      const naming = this.#naming.get(claim);
      naming?.delete(signature);
      if (naming?.size === 0) this.#naming.delete(claim);
    }
  }

  #deactivate(key: string, priority: number): void {
    const keys = this.#active.get(priority);
    keys?.delete(key);
    if (keys?.size === 0) this.#active.delete(priority);
  }
}
