/** What a running operator has once, and hands down whole: who it is, how it reaches the cluster, its clock, its limits. */
import type { Client } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { FixedSettings, SettingsPlan } from "../declare/index.ts";

/** See the module comment. Made once for each running operator. */
export interface Runtime {
  /** The operator's name. */
  readonly operator: string;
  /** Names that it had before. */
  readonly formerNames: readonly string[];
  readonly client: Client;
  readonly clock: Clock;
  /** A number from 0 up to 1, for jitter and for shuffled orders. */
  readonly random: () => number;
  readonly settings: FixedSettings;
  /** The same settings, in milliseconds and numbers. */
  readonly plan: SettingsPlan;
  /** Aborts when the operator stops: no new attempts. */
  readonly stopping: AbortSignal;
}
