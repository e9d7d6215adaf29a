import type { Client, KindClass, KindDescription, KubeBody } from "@lotse/client";
import type { Clock, JsonObject } from "@lotse/client/meta";
import type { ChangeHandler, DaemonHandler, EventHandler, TimerHandler } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import type { WriteTarget } from "./write.ts";

/** What the turns of one kind share. */
export interface TurnKind {
  readonly operator: string;
  readonly kind: KindDescription;
  readonly kindClass: KindClass | undefined;
  readonly changes: readonly ChangeHandler[];
  readonly events: readonly EventHandler[];
  readonly timers: readonly TimerHandler[];
  readonly daemons: readonly DaemonHandler[];
  readonly target: WriteTarget;
  /** Whether the kind's schema keeps `status.<id>`. */
  readonly keepsResult: (id: string) => boolean;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The newest known body of an object, own writes included. */
  readonly newest: (key: string) => KubeBody | undefined;
  /** Lays the answer to a turn's own write over the store. */
  readonly wrote: (body: KubeBody) => void;
  /** Lays the answer to a handler's write, of whatever kind, over the store, and wakes that object. */
  readonly handlerWrote: (body: KubeBody, kind: KindDescription) => void;
  /** The server dropped the record from the status: keep it elsewhere from now on. */
  readonly recordNotKept: () => void;
  /** The object has something to do. */
  readonly wake: (key: string) => void;
  /** Aborts when the operator stops: no new attempts. */
  readonly stopping: AbortSignal;
  /** How long an aborted handler may take to end. */
  readonly graceMs: number;
}

/** A merge patch that sets `status.<id>`. */
export function resultPatch(id: string, result: unknown): JsonObject {
  return { status: { [id]: JSON.parse(JSON.stringify(result)) } };
}
