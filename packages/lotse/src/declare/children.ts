/** The types of `operator.children`: what shall be there, in which order, and how to tell that it is. */
import type { KubeBody, KubeObject } from "@lotse/client";
import type { Drift, DriftAnswer } from "./drift.ts";
import { declarationError } from "./errors.ts";
import type { FieldPath } from "./field-path.ts";
import type { ObjectHandlerOptions, ResourceInput } from "./options.ts";
import type { ChildrenPlan, ReconcileContext, ReconcileOptions } from "./reconcile.ts";
import type { RetryOptions } from "./retry.ts";

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
  /**
   * What to do about a child that another client has changed: `"repair"` (default), `"keep"`, or a function that decides.
   * The function is asked in each run that finds the drift, so it may also tell of it: with `context.patch`,
   * `context.conditions`, `context.warn`. No answer means `"repair"`.
   */
  readonly onDrift?:
    | DriftAnswer
    | ((drift: Drift, context: ReconcileContext<B>) => DriftAnswer | undefined | Promise<DriftAnswer | undefined>);
  /**
   * What becomes of the children of a parent that no longer passes `labels`, `annotations`, `field`, `value` or `when`:
   * `"delete"` (default), or `"keep"`: they stay as they are, and the operator lets them alone until it passes again.
   */
  readonly onMismatch?: "delete" | "keep";
  /** Report each child's readiness and a `Ready` of the whole as conditions, with `observedGeneration`. Default `true`. */
  readonly conditions?: boolean;
}

/** Reads and checks the options of `operator.children`. */
export function planChildren(options: ChildrenOptions<KubeBody>): ChildrenPlan {
  const { deletion = "background", external = false, onDrift = "repair", onMismatch = "delete" } = options;
  if (typeof onDrift !== "function") oneOf("onDrift", onDrift, ["repair", "keep"], " or a function");
  oneOf("onMismatch", onMismatch, ["delete", "keep"]);
  oneOf("deletion", deletion, ["background", "reverse"]);
  return { reverse: deletion === "reverse", external, onDrift, onMismatch };
}

function oneOf(name: string, value: unknown, allowed: readonly string[], more = ""): void {
  if (allowed.includes(value as string)) return;
  throw declarationError(
    `children has no { ${name}: ${JSON.stringify(value)} }`,
    `write ${allowed.map((one) => JSON.stringify(one)).join(" or ")}${more}`,
  );
}
