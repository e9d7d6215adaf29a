import { readFile } from "node:fs/promises";
import type { Clock } from "../meta/index.ts";
import { AuthError } from "./errors.ts";

/** Kubernetes swaps tokens and certificates about hourly, long before they expire: a minute of delay does no harm. */
const REREAD_MS = 60_000;

/**
 * The content of a file that the kubelet or another program renews. Read again at most once a minute, or when it is
 * asked for.
 */
export class RenewedFile {
  readonly path: string;
  readonly #what: string;
  readonly #clock: Clock;
  readonly #field: string | undefined;
  #content: Buffer | undefined;
  #readAt = 0;

  /** `field` is where the path was found, for the person who has to correct it. */
  constructor(path: string, what: string, clock: Clock, field?: string) {
    this.path = path;
    this.#field = field;
    this.#what = what;
    this.#clock = clock;
  }

  /** The content where it was read a moment ago. */
  get fresh(): Buffer | undefined {
    return this.#clock.monotonic() - this.#readAt < REREAD_MS ? this.#content : undefined;
  }

  /** The same Buffer as long as the content is the same. */
  async read(o: { now?: boolean } = {}): Promise<Buffer> {
    if (!o.now && this.fresh) return this.fresh;
    let bytes: Buffer;
    try {
      bytes = await readFile(this.path);
    } catch (cause) {
      // While the file is being replaced the last content is still the best guess.
      if (this.#content && !o.now) return this.#content;
      throw new AuthError(`cannot read the ${this.#what} ${this.path}: ${reasonOf(cause as NodeJS.ErrnoException)}`, {
        cause,
        hint: `check ${this.#field ?? "the path"}, and the file's permissions`,
      });
    }
    this.#readAt = this.#clock.monotonic();
    if (!this.#content?.equals(bytes)) this.#content = bytes;
    return this.#content as Buffer;
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES") return "permission denied";
  return message;
}
