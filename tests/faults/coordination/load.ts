/** Clients that change orders, again and again: each change has a number of its own. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@lotse/client";
import { Order } from "./order.ts";

/** How much is asked for. */
export interface Demand {
  readonly objects: number;
  readonly changesPerSecond: number;
}

/** How many requests are under way at the same time while the orders are made. */
const AT_ONCE = 20;

const nameOf = (i: number) => `order-${i}`;

/** Makes the orders. */
export async function placeOrders(client: Client, { objects }: Demand): Promise<void> {
  const names = Array.from({ length: objects }, (_, i) => nameOf(i));
  while (names.length > 0) {
    const some = names.splice(0, AT_ONCE);
    await Promise.all(some.map((name) => client.create(new Order({ metadata: { name }, spec: { change: 0 } }))));
  }
}

/** Changes them one after another until `over` aborts; resolves with how many changes there were. */
export async function changeOrders(
  client: Client,
  { objects, changesPerSecond }: Demand,
  over: AbortSignal,
): Promise<number> {
  const begunAt = performance.now();
  let change = 0;
  while (!over.aborted) {
    change++;
    // In an order that looks like none, and is the same each time.
    const name = nameOf((change * 7919) % objects);
    await client.patch(Order, name, { spec: { change } });
    const ahead = (change * 1_000) / changesPerSecond - (performance.now() - begunAt);
    if (ahead > 0) await delay(ahead);
  }
  return change;
}
