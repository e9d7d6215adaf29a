/** The types of `operator.children`: what shall be there, in which order, and how to tell that it is. */
import type { KubeBody, KubeObject } from "@lotse/client";
import type { FieldPath } from "./field-path.ts";
import type { ObjectHandlerOptions, ResourceInput, RetryOptions } from "./handler.ts";
import type { ReconcileOptions } from "./reconcile.ts";

/** An object that shall be there: a client object or a manifest. It needs a name. */
export type ChildObject = KubeObject | (KubeBody & { readonly apiVersion: string; readonly kind: string });

/** How a child stands to the others. */
export interface ChildOrder<Live> {
  /** What others call it. Default: `kind/name` in lower case, such as `configmap/settings`. */
  readonly key?: string;
  /** Comes after these are ready, and goes before them. */
  readonly after?: string | readonly string[];
  /** Whether it is ready. Default: what kubectl and Helm take for ready in its kind. */
  readyWhen?(live: Live): boolean;
}

/**
 * An object that shall be there, with its place among the others.
 *
 * @example
 * ```ts
 * operator.children(Site, ({ name }) => [
 *   { key: "settings", child: ConfigMap.gen({ name }) },
 *   { after: "settings", child: Secret.gen({ name }) },
 * ]);
 * ```
 */
export interface OrderedChild extends ChildOrder<KubeObject> {
  readonly child: ChildObject;
  /** Tells it from an external thing. */
  readonly read?: never;
}

/**
 * Something outside of the cluster: a bucket, a DNS record. All functions may be called again after a crash.
 *
 * @example
 * ```ts
 * operator.children(Site, { external: true }, ({ name, spec }) => [
 *   {
 *     key: "dns",
 *     desired: { target: spec.host },
 *     read: () => dns.find(name),
 *     create: () => dns.add(name, spec.host),
 *     update: () => dns.set(name, spec.host),
 *     delete: () => dns.remove(name),
 *   },
 * ]);
 * ```
 */
export interface ExternalChild<Live = unknown> extends ChildOrder<Live> {
  readonly key: string;
  /** Tells it from an object. */
  readonly child?: never;
  /** `false`: it shall not be there; say so for a while before you no longer return it. */
  readonly wanted?: boolean;
  /** What it is like now; undefined when it is not there. */
  read(): Live | undefined | Promise<Live | undefined>;
  create(): unknown;
  /** Called when `read` does not show all of `desired`. */
  update?(current: Live): unknown;
  delete(current: Live): unknown;
  /** What `read` has to show. Default: that it is there at all. */
  readonly desired?: unknown;
}

/** One of the things that a parent shall have. */
export type DesiredChild = ChildObject | OrderedChild | ExternalChild;

/** What a function of `operator.children` returns; holes are left out. */
export type DesiredChildren =
  | Iterable<DesiredChild | false | null | undefined>
  | DesiredChild
  | false
  | null
  | undefined;

/**
 * Options of `operator.children`.
 *
 * @example
 * ```ts
 * operator.children(Site, { owns: [ConfigMap], deletion: "reverse" }, ({ name }) => ConfigMap.gen({ name }));
 * ```
 */
export interface ChildrenOptions<B extends KubeBody, F extends FieldPath = FieldPath>
  extends ObjectHandlerOptions<B, F>,
    Omit<RetryOptions, "retries">,
    Pick<ReconcileOptions<B>, "concurrency" | "resync" | "priority" | "filter" | "rateLimit"> {
  /**
   * The kinds of the children. Kinds that are not named are found when the function first returns them, and are then
   * written down on the parent, which costs one more write.
   */
  readonly owns?: readonly ResourceInput[];
  /**
   * Who deletes the children when their parent goes: `"background"` (default), the garbage collector; `"reverse"`, the
   * operator, those that come after others first. The parent is held with a finalizer meanwhile.
   */
  readonly deletion?: "background" | "reverse";
  /** Whether the function may return things outside of the cluster; the parent is then held with a finalizer. */
  readonly external?: boolean;
  /** Report each child's readiness and a `Ready` of the whole as conditions, with `observedGeneration`. Default `true`. */
  readonly conditions?: boolean;
}
