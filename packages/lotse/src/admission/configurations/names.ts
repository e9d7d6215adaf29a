/** What things are called in the cluster: from names in a program to names that an API server takes. Pure. */
import { domainOf } from "../../declare/index.ts";

/** Room for the operator and the ending in a name of 253 characters, and for a number at the end. */
const LONGEST = 56;

/** An id as a part of a DNS name: `checkSize` is `check-size`. */
export function labelOf(id: string): string {
  const dashed = id
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return dashed.slice(0, LONGEST).replace(/-+$/, "") || "handler";
}

/** Gives each id a name of its own below the operator's. */
export class Names {
  readonly #domain: string;
  readonly #taken = new Set<string>();

  constructor(operator: string) {
    this.#domain = domainOf(operator);
  }

  /** The name of `id`; `more` tells it from another one of the same name where that is needed. */
  take(id: string, more: string): string {
    const label = labelOf(id);
    const candidates = [label, `${label}-${labelOf(more)}`.slice(0, 60).replace(/-+$/, "")];
    for (let number = 2; ; number++) {
      const free = candidates.find((one) => !this.#taken.has(one));
      if (free !== undefined) {
        this.#taken.add(free);
        return `${free}.${this.#domain}`;
      }
      candidates.push(`${label}-${number}`);
    }
  }
}
