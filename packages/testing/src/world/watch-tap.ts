/**
 * The operator's end of a watch. Events pass one by one, and may be held, merged or repeated on the way; once its life is
 * over the operator sees nothing any more, not even an end.
 */
import { AsyncResource } from "node:async_hooks";
import { Readable } from "node:stream";
import type { ObjectBody } from "@lotse/client";
import type { HeldLines, LineFate, WatchLine } from "./interference.ts";

/** What a {@link WatchTap} goes by. */
export interface WatchTapParts {
  /** What the cluster sends. */
  readonly source: Readable;
  /** Decides about each event; undefined: everything passes as it comes, and no line is looked at. */
  readonly decide: ((line: Omit<WatchLine, "request">) => LineFate) | undefined;
  /** Called when anything moves. */
  readonly moved: () => void;
  /** Called when the stream has ended, by whichever end. */
  readonly ended: () => void;
}

interface Waiting {
  readonly line: Buffer;
  /** By uid and name; undefined for what is no event of an object. */
  readonly object: string | undefined;
}

const NEWLINE = 0x0a;

/** See the module comment. */
export class WatchTap extends Readable implements HeldLines {
  readonly #parts: WatchTapParts;
  /** Whoever lets an event pass, it is the operator's life in which it is read. */
  readonly #scope = new AsyncResource("WatchTap");
  #partial: Buffer[] = [];
  #atLineEnd = true;
  #blocked = false;
  #dead = false;
  #sourceEnded = false;
  /** Behind an event that is held: everything, in order. */
  #queue: Waiting[] = [];
  /** Events that wait for the next one of their object. */
  readonly #merging = new Map<string, Waiting>();
  #repeats: Waiting[] = [];

  constructor(parts: WatchTapParts) {
    super();
    this.#parts = parts;
    const { source } = parts;
    source.on("data", (chunk: Buffer) => this.#take(chunk));
    source.once("end", () => this.#over());
    source.once("error", (error) => this.#over(error));
    source.once("close", () => this.#over());
  }

  get holds(): boolean {
    return this.#queue.length + this.#merging.size + this.#repeats.length > 0;
  }

  /** An empty line between two events means nothing to whoever reads them, but shows that the watch lives. */
  beat(): void {
    if (!this.#atLineEnd || this.#dead || this.#sourceEnded) return;
    this.#scope.runInAsyncScope(() => this.push("\n"));
  }

  release(): void {
    const waiting = [...this.#merging.values(), ...this.#queue, ...this.#repeats];
    this.#merging.clear();
    this.#queue = [];
    this.#repeats = [];
    this.#blocked = false;
    this.#scope.runInAsyncScope(() => {
      for (const { line } of waiting) this.#pass(line);
      if (this.#sourceEnded) this.#finish();
    });
  }

  /** The life at this end is over. */
  die(): void {
    this.#dead = true;
    this.#parts.source.destroy();
    this.#parts.ended();
  }

  override _read(): void {
    if (!this.#dead) this.#parts.source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#parts.source.destroy();
    this.#parts.ended();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (this.#dead) return;
    this.#parts.moved();
    if (!this.#parts.decide) {
      if (chunk.length > 0) this.#atLineEnd = chunk.at(-1) === NEWLINE;
      this.#push(chunk);
      return;
    }
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#partial.push(chunk.subarray(start, end + 1));
      const line = Buffer.concat(this.#partial);
      this.#partial = [];
      start = end + 1;
      if (line.length > 1) this.#judge(line, this.#parts.decide);
    }
    if (start < chunk.length) this.#partial.push(chunk.subarray(start));
  }

  #judge(line: Buffer, decide: NonNullable<WatchTapParts["decide"]>): void {
    const { type, object } = JSON.parse(line.toString("utf8")) as { type: string; object: ObjectBody };
    if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") {
      // Whoever has heard a bookmark has heard everything before it, so it cannot overtake.
      if (!this.holds) this.#pass(line);
      else if (type === "ERROR") this.#queue.push({ line, object: undefined });
      return;
    }
    const fate = decide({ type, object });
    const key = `${object.metadata?.uid} ${object.metadata?.namespace}/${object.metadata?.name}`;
    const waiting = { line, object: key };
    // What waited for this event is as if it had never been.
    this.#merging.delete(key);
    // No server shows an older state of an object after a newer one.
    this.#repeats = this.#repeats.filter(({ object: repeated }) => repeated !== key);
    if (fate === "repeat") this.#repeats.push(waiting);
    if (fate === "coalesce") this.#merging.set(key, waiting);
    else if (fate === "hold" || this.#blocked) {
      this.#blocked = true;
      this.#queue.push(waiting);
    } else this.#pass(line);
  }

  #pass(line: Buffer): void {
    this.#parts.moved();
    this.#push(line);
  }

  #push(bytes: Buffer): void {
    if (!this.push(bytes)) this.#parts.source.pause();
  }

  #over(error?: Error): void {
    if (this.#dead || this.#sourceEnded) return;
    this.#sourceEnded = true;
    this.#parts.moved();
    if (error) this.destroy(error);
    else if (this.#blocked) return;
    else this.#finish();
  }

  #finish(): void {
    if (!this.destroyed) this.push(null);
  }
}
