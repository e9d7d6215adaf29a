/** In which order do the handlers run that are due for an object in one turn? */
import type { KindDescription } from "@lotse/client";

/** A handler that is due, as an {@link OrderFunction} sees it. */
export interface DueHandler {
  readonly id: string;
  /** Attempts that were made for this change so far. */
  readonly attempts: number;
}

/**
 * Chooses who runs in this turn, and in which order. Who is left out is asked for again in the next turn, which follows
 * at once.
 *
 * @example
 * ```ts
 * const oneAtRandom: OrderFunction = (due, { random }) => [due[Math.floor(random() * due.length)]!];
 * ```
 */
export type OrderFunction = (
  due: readonly DueHandler[],
  about: { readonly resource: KindDescription; readonly random: () => number },
) => readonly DueHandler[];

/**
 * The order of handlers: as they were declared; those with the fewest attempts first; one in each turn, with a write
 * after it; at random; or as a function says, which may look at the kind.
 */
export type HandlerOrder = "inOrder" | "fewestAttempts" | "oneByOne" | "shuffled" | OrderFunction;

const ORDERS: Readonly<Record<Exclude<HandlerOrder, OrderFunction>, OrderFunction>> = {
  inOrder: (due) => due,
  fewestAttempts: (due) => [...due].sort((a, b) => a.attempts - b.attempts),
  oneByOne: (due) => due.slice(0, 1),
  shuffled: (due, { random }) => shuffle(due, random),
};

/** Names of the orders that come with Lotse. */
export const HANDLER_ORDERS = Object.keys(ORDERS) as readonly Exclude<HandlerOrder, OrderFunction>[];

/** The due handlers of this turn. An order that chooses no handler would wait for ever: then it is the declared one. */
export function orderDue<T extends DueHandler>(
  lifecycle: HandlerOrder,
  due: readonly T[],
  about: Parameters<OrderFunction>[1],
): readonly T[] {
  if (lifecycle === "inOrder" || due.length === 0) return due;
  const order = typeof lifecycle === "function" ? lifecycle : ORDERS[lifecycle];
  const chosen = order(due, about).flatMap(({ id }) => due.find((handler) => handler.id === id) ?? []);
  return chosen.length > 0 ? [...new Set(chosen)] : due;
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
  }
  return shuffled;
}
