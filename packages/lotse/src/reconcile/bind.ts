/** Ties the `onDelete` of a reconciler, which the turn sees as a handler of deletions, to its reconciler. */
import type { KubeBody } from "@lotse/client";
import { type ChangeContext, type Filters, type Handler, matchesFilters } from "../declare/index.ts";
import type { KindReconcilers } from "./kind-reconcilers.ts";

/**
 * The handler, reading what its reconciler reads. That of children is also for an object which no longer matches, as long
 * as something of it is left: so it stays held until then, and is cleaned up if it goes before. `all`: the handlers of
 * the kind; `reconcilers` is asked when it is needed.
 */
export function bindCleanUp(
  handler: Handler,
  all: readonly Handler[],
  reconcilers: () => KindReconcilers | undefined,
): Handler {
  if (handler.type !== "change" || handler.reconciler === undefined) return handler;
  const { reconciler, filters } = handler;
  const fn = (context: ChangeContext<KubeBody>) => reconcilers()?.cleanUp(reconciler, context);
  const children = all.some((one) => one.type === "reconcile" && one.id === reconciler && one.children !== undefined);
  // Without filters no object stops matching, and a question that costs something need not be asked.
  if (!children || Object.keys(filters).length === 0) return { ...handler, fn };
  const holds = (body: KubeBody) => reconcilers()?.holds(reconciler, body) === true;
  return { ...handler, fn, filters: orHeld(filters, holds) };
}

/** Filters that are also passed by an object that is held. */
function orHeld(filters: Filters<KubeBody>, holds: (body: KubeBody) => boolean): Filters<KubeBody> {
  const when: Filters<KubeBody>["when"] = ({ body, reason, old, new: now, memo = {}, param }) => {
    const own = body as KubeBody;
    return matchesFilters(filters, own, [now, old, own], { reason, old, new: now, memo, param }) || holds(own);
  };
  return { when };
}
