/**
 * Objects that were taken over from another process. What the stream has shown of them may be older than what that one
 * has written last: a handler that is called for such a state is called for a change that is handled already. So before
 * the first handler of changes is called for an object that was taken over, the API server is asked for it: one GET, and
 * none where the version that was seen is past the first write of this process since then, which no former owner's is.
 *
 * What must stay true: only writes that were begun after the take-over are told.
 */
import { isOlderVersion } from "@lotse/client/meta";

/** One change of ownership, for the objects of one kind. */
export class Takeover {
  #first: string | undefined;

  /** This process has written an object that it took over, which has this version now. */
  wrote(version: string | undefined): void {
    this.#first ??= version;
  }

  /** Whether no former owner can have seen, or written, this version or a later one. */
  isPast(version: string | undefined): boolean {
    return isOlderVersion(this.#first, version);
  }
}
