/** What the shadow calls objects that it made before the version that works did: generated names and uids of its own. */

/** Names and uids of objects have no other characters, and begin and end with a letter or digit. */
const WORD = /[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/g;

/** See the module comment. */
export class Aliases {
  readonly #names = new Map<string, string>();
  readonly #onAdded: () => void;

  /** `onAdded`: what was compared before may have spoken of it. */
  constructor(onAdded: () => void = () => {}) {
    this.#onAdded = onAdded;
  }

  /** `own`, a name or a uid, means the same as `real`. */
  add(own: string | undefined, real: string | undefined): void {
    if (own === undefined || real === undefined || own === real || this.#names.get(own) === real) return;
    this.#names.set(own, real);
    this.#onAdded();
  }

  /** A text in which the shadow speaks of objects, as the version that works would have written it. */
  translate(text: string): string {
    if (this.#names.size === 0) return text;
    return text.replace(WORD, (word) => this.#names.get(word) ?? word);
  }
}
