import type { StoredRow } from "./store/index.ts";

/**
 * All objects of a cluster at one moment. `JSON.stringify` writes it down, and {@link ClusterSnapshot.from} reads it
 * again, also for another cluster.
 *
 * @example
 * ```ts
 * const before = cluster.snapshot();
 * await breakThings();
 * await cluster.restore(before);
 * ```
 */
export class ClusterSnapshot {
  /** The revision of the cluster then. */
  readonly revision: number;
  readonly #rows: readonly StoredRow[];

  constructor(revision: number, rows: readonly StoredRow[]) {
    this.revision = revision;
    this.#rows = rows;
  }

  /** A snapshot out of what `JSON.parse` made of its text. */
  static from(json: unknown): ClusterSnapshot {
    const { revision, rows } = json as { revision: number; rows: StoredRow[] };
    return new ClusterSnapshot(revision, structuredClone(rows));
  }

  /** How many objects it holds. */
  get size(): number {
    return this.#rows.length;
  }

  /** The objects with their places. They belong to the cluster: look, but do not change them. */
  get rows(): readonly StoredRow[] {
    return this.#rows;
  }

  toJSON(): { revision: number; rows: readonly StoredRow[] } {
    return { revision: this.revision, rows: this.#rows };
  }
}
