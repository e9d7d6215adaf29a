/** Who reads which kind, and what of it: those who have said so, and those who have done so. */
import type { KindDescription } from "@lotse/client";
import { type KindKey, kindKey } from "@lotse/client/meta";
import {
  covers,
  type Handler,
  type Kept,
  type KindReader,
  type ResourceDeclaration,
  readersOf,
  unionOf,
} from "../declare/index.ts";

/** See the module comment. */
export class Readers {
  readonly #resources: readonly ResourceDeclaration[];
  /** What was read of a kind, by handler: as many as there are in the program, not as many as there are objects. */
  readonly #noted = new Map<KindKey, Map<string, Kept>>();

  constructor(resources: readonly ResourceDeclaration[]) {
    this.#resources = resources;
  }

  /** A handler reads a kind through its context. */
  note(handler: string, kind: KindDescription, wanted: Kept): void {
    const key = kindKey(kind);
    const noted = this.#noted.get(key) ?? new Map<string, Kept>();
    this.#noted.set(key, noted);
    const before = noted.get(handler);
    // Asked at each read: most say nothing new.
    if (before && covers(before, wanted)) return;
    noted.set(handler, before ? unionOf([before, wanted]) : wanted);
  }

  /** All of a kind; `handlers` are its own. */
  of(handlers: readonly Handler[], kind: KindDescription): readonly KindReader[] {
    const noted = [...(this.#noted.get(kindKey(kind)) ?? [])];
    return [
      ...readersOf(this.#resources, handlers, kind),
      ...noted.map(([id, kept]) => ({ as: "reads", id, kept }) as const),
    ];
  }

  /** What of each object has to be kept for all of them; nobody knows of what reads it by another way. */
  kept(handlers: readonly Handler[], kind: KindDescription): Kept {
    const readers = this.of(handlers, kind);
    return readers.length === 0 ? "all" : unionOf(readers.map(({ kept }) => kept));
  }
}
