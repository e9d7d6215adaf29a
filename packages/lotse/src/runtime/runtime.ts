/** What a running operator has once, and hands down whole: who it is, how it reaches the cluster, its clock, its limits. */
import type { Client } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { FixedSettings, SettingsPlan } from "../declare/index.ts";
import type { Ownership } from "./ownership.ts";

/** See the module comment. Made once for each running operator. */
export interface Runtime {
  /** The operator's name. */
  readonly operator: string;
  /** Names that it had before. */
  readonly formerNames: readonly string[];
  readonly client: Client;
  /** Which objects this process works on, and whether its writes may leave. */
  readonly ownership: Ownership;
  readonly clock: Clock;
  /** A number from 0 up to 1, for jitter and for shuffled orders. */
  readonly random: () => number;
  /** Gives the next run of a handler its id; see {@link runIds}. */
  readonly nextRunId: () => string;
  readonly settings: FixedSettings;
  /** The same settings, in milliseconds and numbers. */
  readonly plan: SettingsPlan;
  /** Aborts when the operator stops: no new attempts. */
  readonly stopping: AbortSignal;
}
