/** What the files of this room share: one run of `operator.children`, what shall be there, and what became of it. */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { ObjectKey } from "@lotse/client/meta";
import type { ReconcileContext, ReconcileHandler } from "../../declare/index.ts";
import type { ObjectMemory } from "../../turn/index.ts";
import type { KindView } from "../kind-view.ts";
import type { ObjectReader } from "../reader.ts";
import type { ReadSession } from "../session.ts";
import type { Desired } from "./desired.ts";
import type { OperatorNames } from "./marks.ts";
import type { Ordered } from "./order.ts";
import type { Readiness } from "./readiness.ts";

/** One run of `operator.children` for one parent. */
export interface Keeping {
  readonly operator: string;
  readonly names: OperatorNames;
  readonly handler: ReconcileHandler;
  readonly reader: ObjectReader;
  readonly memory: ObjectMemory;
  readonly session: ReadSession;
  readonly context: ReconcileContext<KubeBody>;
  /**
   * Asked before a child is made again that was there before: the garbage collector may have taken it together with the
   * parent, and a stream that is late has not shown the parent's end.
   */
  readonly parentLives: () => Promise<boolean>;
  /** The framework has written its own notes onto the parent, over `base`: no news to its readers. */
  readonly parentWrote: (base: KubeBody, body: KubeBody) => void;
  /** Another client changes what is kept here again and again: an Event says so, and a metric counts it. */
  readonly tellFight: (what: string) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** What became of one child. */
export interface ChildState extends Ordered, Readiness {
  /** One word in CamelCase. */
  readonly reason: string;
  /** Look again after so many milliseconds, whatever happens. */
  readonly againMs?: number;
}

/** An object that shall be there, as it will be applied. */
export interface WantedObject extends Ordered {
  readonly kind: KindDescription;
  readonly view: KindView;
  /** `namespace/name`. */
  readonly at: ObjectKey;
  readonly manifest: KubeBody;
  readonly digest: string;
  readonly readyWhen: Desired["readyWhen"];
}

/** How a child stands, in one word. */
export function stateOf({ key, after }: Ordered, reason: string, readiness: Readiness): ChildState {
  return { key, after, reason, ...readiness };
}
