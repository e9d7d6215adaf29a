/**
 * What a way to coordinate is to the operator. `operator/` makes one by the operator's {@link CoordinationPlan}, runs it
 * beside the streams, asks it whose objects are whose, and does what it says.
 */
import type { Client, KindDescription, KubeBody } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { CoordinationHealth, Logger, Metrics } from "../report/index.ts";
import type { Ownership } from "../runtime/index.ts";

export type { CoordinationHealth } from "../report/index.ts";

/** What a {@link Coordinator} is made of. */
export interface CoordinatorParts {
  /** The operator's name. */
  readonly operator: string;
  /** Not fenced: this is how leases are kept. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** `POD_NAME`, `POD_NAMESPACE` and the like. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The namespaces that the operator serves; undefined: the whole cluster. */
  readonly namespaces: readonly (string | RegExp)[] | undefined;
  /** Kinds that have a reconciler: where objects are shared, their children go with them. */
  readonly parents?: readonly { readonly group: string; readonly kind: string }[];
}

/** The operator, as a coordinator sees it. */
export interface Coordinated {
  /**
   * What {@link Ownership.owns} says has changed: what is lost is let go, what is gained is taken up. Resolves when nothing
   * runs any more for what was lost; never rejects. Calls follow each other: the next begins after the one before.
   */
  ownershipChanged(why: string): Promise<void>;
  /** What {@link Ownership.keeps} says has changed; `gained`: there is more of it. Takes no time. */
  keepingChanged?(gained: boolean): void;
  /** This process leads from now on, or no longer: `on.lead` and `on.follow`. Absent calls where no process leads. */
  leads(leading: boolean): void;
}

/** One way to coordinate. See the module comment. */
export interface Coordinator extends Ownership {
  /**
   * Before anything is listed: finds out what of it will be worth its memory; from then on `coordinated` hears when that
   * becomes something else. Takes a moment at most, and never rejects.
   */
  prepare?(coordinated: Coordinated, stopping: AbortSignal): Promise<void>;
  /**
   * Takes part until `stopping` aborts; called once, when all caches are full: whoever gets something to work on can begin at
   * once. What goes wrong on the way is told and tried again; rejects only when the settings can never work.
   */
  run(coordinated: Coordinated, stopping: AbortSignal): Promise<void>;
  /** Everything is written: what this process holds is free for others at once. Also where it was only prepared. Never rejects. */
  release(): Promise<void>;
  health(): CoordinationHealth;
  /** Who works on an object, where it is not the same one for all of them. */
  ownerOf?(body: KubeBody, kind: KindDescription): string | undefined;
}
