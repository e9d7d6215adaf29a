/** Which ids are taken, for what, and where in the source: an id stands for one handler or policy of a resource. */
import type { KubeBody } from "@lotse/client";
import { declarationError } from "./errors.ts";
import { fieldKeys } from "./field-path.ts";
import type { Filters } from "./filters.ts";
import type { ResourceInput } from "./options.ts";
import { nameOf } from "./read-options.ts";
import { describeSelector, parseSelector } from "./selectors.ts";

/** See the module comment. */
export class DeclaredIds {
  readonly #predicates = new Map<unknown, string>();
  /** By resource: where each id was declared, to name the first place when a second one takes it. */
  readonly #places = new Map<string, Map<string, string>>();

  /** Two inputs with the same key are declared together. Predicates are told apart by a running number. */
  keyOf(resource: ResourceInput): string {
    const selector = parseSelector(resource);
    if (selector.type === "exact") return [selector.plural, selector.version, selector.group].filter(Boolean).join(".");
    if (selector.type !== "predicate") return describeSelector(selector);
    let key = this.#predicates.get(selector.matches);
    if (key === undefined) {
      key = `predicate ${this.#predicates.size + 1}`;
      this.#predicates.set(selector.matches, key);
    }
    return key;
  }

  /**
   * The `id` option, else the function's name, else its kind with a running number. A field is part of the id, so that
   * one function can serve several fields.
   */
  choose(
    label: string,
    resource: ResourceInput,
    options: { readonly id?: string } & Pick<Filters<KubeBody>, "field">,
    fn: { readonly name: string },
  ): string {
    const named = options.id ?? nameOf(fn);
    if (named) return options.field === undefined ? named : `${named}/${fieldKeys(options.field).join(".")}`;
    const taken = this.#places.get(this.keyOf(resource));
    let number = 1;
    while (taken?.has(`${label}-${number}`)) number++;
    return `${label}-${number}`;
  }

  /** Takes an id; throws when another handler or policy of the resource has it. */
  take(resource: ResourceInput, what: "handler" | "policy", id: string, sourceLocation: string | undefined): void {
    const key = this.keyOf(resource);
    const places = this.#places.get(key) ?? new Map<string, string>();
    this.#places.set(key, places);
    const first = places.get(id);
    if (first !== undefined) {
      const several =
        what === "handler" ? ', or declare one handler for several causes: on(["create", "update"], …)' : "";
      throw declarationError(
        `${what} id "${id}" is used twice for ${key} (first at ${first})`,
        `name one of them with { id: "…" }${several}`,
      );
    }
    places.set(id, sourceLocation ?? "an unknown place");
  }
}
