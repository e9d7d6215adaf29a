/** Helpers for items of `operator.children`: they give functions in an item their types, and say nothing else. */
import type { KubeObject } from "@lotse/client";
import type { CheckedObject } from "./checked-children.ts";
import type { ChildObject, ChildOrder, ExternalChild, OrderedChild } from "./children.ts";

/** The object as it is in the cluster: of the child's own class, where it has one. */
type LiveOf<C> = C extends KubeObject ? C : KubeObject;

/**
 * An object that shall be there, with its place among the others; `readyWhen` gets the live object as one of its class.
 *
 * @example
 * ```ts
 * operator.children(Site, ({ name }) => [
 *   child(Deployment.gen({ name, image: "nginx" }), { key: "web", readyWhen: (live) => live.status?.readyReplicas === 1 }),
 *   child(Service.gen({ name, ports: 80 }), { after: "web" }),
 * ]);
 * ```
 */
export function child<C>(what: CheckedObject<C>, order: ChildOrder<LiveOf<C>> = {}): OrderedChild {
  return { ...(order as ChildOrder<KubeObject>), child: what as ChildObject };
}

/**
 * Something outside of the cluster that shall be there; what `read` finds is what the other functions get.
 *
 * @example
 * ```ts
 * operator.children(Site, { external: true }, ({ name, spec }) => [
 *   externalChild({
 *     key: "dns",
 *     desired: { target: spec.host },
 *     read: () => dns.find(name),
 *     create: () => dns.add(name, spec.host),
 *     update: (found) => dns.set(found.id, spec.host),
 *     delete: (found) => dns.remove(found.id),
 *   }),
 * ]);
 * ```
 */
export function externalChild<Live>(thing: ExternalChild<Live>): ExternalChild<Live> {
  return thing;
}
