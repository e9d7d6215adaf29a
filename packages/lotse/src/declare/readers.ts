/** Who reads the objects of a kind, as far as it was declared, and what do they need of them? Pure. */
import type { KindDescription } from "@lotse/client";
import type { ResourceDeclaration } from "./declarations.ts";
import { fieldKeys } from "./field-path.ts";
import type { Handler, IndexHandler } from "./handler.ts";
import { type Kept, unionOf } from "./kept.ts";
import type { ReconcileHandler } from "./reconcile.ts";
import { selects } from "./selectors.ts";

/** One who reads a kind. */
export interface KindReader {
  /** `handler`: works for its objects. `reads`: has read it through its context. */
  readonly as: "handler" | "index" | "owns" | "watches" | "reads";
  /** Of the handler. */
  readonly id: string;
  readonly kept: Kept;
}

/** All that have said so: `handlers` are those of the kind itself. */
export function readersOf(
  resources: readonly ResourceDeclaration[],
  handlers: readonly Handler[],
  kind: KindDescription,
): KindReader[] {
  const own = handlers.map(
    (handler): KindReader =>
      handler.type === "index"
        ? { as: "index", id: handler.id, kept: indexed(handler) }
        : { as: "handler", id: handler.id, kept: "all" },
  );
  const others = resources.flatMap((declaration) =>
    declaration.handlers.flatMap((handler) => (handler.type === "reconcile" ? followed(handler, kind) : [])),
  );
  return [...own, ...others];
}

/** What a reconciler has said of a kind that it reads; undefined where it has not named the kind. */
export function keptFor(handler: ReconcileHandler, kind: KindDescription): Kept | undefined {
  const readers = followed(handler, kind);
  return readers.length === 0 ? undefined : unionOf(readers.map(({ kept }) => kept));
}

/** A filter looks at its field like the function does. */
function indexed({ kept, filters: { field } }: IndexHandler): Kept {
  return field === undefined ? kept : unionOf([kept, [fieldKeys(field)]]);
}

function followed({ id, owns, watches }: ReconcileHandler, kind: KindDescription): KindReader[] {
  const watched = watches.filter(({ resource }) => selects(resource, kind));
  return [
    ...(owns.some((resource) => selects(resource, kind)) ? [{ as: "owns", id, kept: "all" } as const] : []),
    ...watched.map(({ kept }) => ({ as: "watches", id, kept }) as const),
  ];
}
