/**
 * Nothing secret gets onto a tape: what Secrets hold, and tokens, are replaced wherever they appear by words that tell
 * only whether two are equal. The same value is the same word everywhere, so that an operator that copies it does the same
 * with the word.
 */
import { createHmac, randomBytes } from "node:crypto";
import { isObject } from "@lotse/client/meta";

/** Shorter values are replaced where they are kept, and not looked for elsewhere: they would be found in every second text. */
const SHORTEST_SOUGHT = 8;
/** Values are sought by how they begin. */
const BEGINNING = 6;

/** Keys under which names stand. A name that is also the value of some Secret stays a name: paths are made of it. */
const NAMES = /^(kind|apiVersion|uid|resourceVersion|.*[nN]ame|.*[nN]amespace|labels|matchLabels)$/;

/** See the module comment. */
export class Masks {
  readonly #key = randomBytes(32);
  /** What is sought, by its beginning. */
  readonly #sought = new Map<string, Map<string, string>>();

  /** A body without what is secret in it. The given one stays as it is. */
  body(value: unknown): unknown {
    const cleaned = isObject(value) || Array.isArray(value) ? this.#withoutSecrets(value) : value;
    return this.#sought.size === 0 ? cleaned : this.#walk(cleaned);
  }

  /** A text without values that were seen before. */
  text(value: string): string {
    if (this.#sought.size === 0 || value.length < SHORTEST_SOUGHT) return value;
    let result = "";
    let from = 0;
    for (let at = 0; at + BEGINNING <= value.length; at++) {
      const candidates = this.#sought.get(value.slice(at, at + BEGINNING));
      if (candidates === undefined) continue;
      for (const [secret, word] of candidates) {
        if (!value.startsWith(secret, at)) continue;
        result += value.slice(from, at) + word;
        from = at + secret.length;
        at = from - 1;
        break;
      }
    }
    return from === 0 ? value : result + value.slice(from);
  }

  #withoutSecrets(value: unknown): unknown {
    if (Array.isArray(value)) return mapped(value, (item) => this.#withoutSecrets(item));
    if (!isObject(value)) return value;
    const { kind, items } = value;
    if (kind === "Secret") return this.#secret(value);
    if (kind === "SecretList" && Array.isArray(items)) {
      return { ...value, items: items.map((item) => (isObject(item) ? this.#secret(item) : item)) };
    }
    if (kind === "TokenRequest" && isObject(value.status) && typeof value.status.token === "string") {
      return { ...value, status: { ...value.status, token: this.#wordFor(Buffer.from(value.status.token)) } };
    }
    // Events of a watch, lists of several kinds, and templates have objects inside.
    let changed: Record<string, unknown> | undefined;
    for (const [key, inner] of Object.entries(value)) {
      const cleaned = this.#withoutSecrets(inner);
      if (cleaned !== inner) changed = { ...(changed ?? value), [key]: cleaned };
    }
    return changed ?? value;
  }

  #secret(body: Record<string, unknown>): unknown {
    const cleaned = { ...body };
    if (isObject(body.data)) {
      cleaned.data = mappedValues(body.data, (value) => {
        if (typeof value !== "string") return value;
        return Buffer.from(this.#wordFor(Buffer.from(value, "base64"))).toString("base64");
      });
    }
    if (isObject(body.stringData)) {
      cleaned.stringData = mappedValues(body.stringData, (value) =>
        typeof value === "string" ? this.#wordFor(Buffer.from(value)) : value,
      );
    }
    return cleaned;
  }

  #wordFor(value: Buffer): string {
    if (value.toString("latin1").startsWith("masked-")) return value.toString("latin1");
    const word = `masked-${createHmac("sha256", this.#key).update(value).digest("hex").slice(0, 16)}`;
    const text = value.toString("utf8");
    this.#seek(text, word);
    this.#seek(value.toString("base64"), Buffer.from(word).toString("base64"));
    return word;
  }

  #seek(secret: string, word: string): void {
    if (secret.length < SHORTEST_SOUGHT) return;
    const beginning = secret.slice(0, BEGINNING);
    const candidates = this.#sought.get(beginning) ?? new Map<string, string>();
    if (candidates.has(secret)) return;
    candidates.set(secret, word);
    // A longer one first: it may begin with a shorter one.
    this.#sought.set(beginning, new Map([...candidates].sort(([a], [b]) => b.length - a.length)));
  }

  #walk(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return mapped(value, (item) => this.#walk(item));
    if (!isObject(value)) return value;
    let changed: Record<string, unknown> | undefined;
    for (const [key, inner] of Object.entries(value)) {
      if (NAMES.test(key) && typeof inner !== "object") continue;
      const cleaned = this.#walk(inner);
      if (cleaned !== inner) changed = { ...(changed ?? value), [key]: cleaned };
    }
    return changed ?? value;
  }
}

/** The array itself where nothing changes. */
function mapped(values: readonly unknown[], change: (value: unknown) => unknown): unknown {
  const results = values.map(change);
  return results.some((result, i) => result !== values[i]) ? results : values;
}

function mappedValues(values: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
