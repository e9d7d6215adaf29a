/** What an operator is told once and for all, when it is made. */

import type { Duration } from "@lotse/client/meta";
import type { WebhookOptions } from "./admission.ts";
import type { Coordination } from "./coordination.ts";
import { DeclarationError } from "./errors.ts";
import { type Settings, type SettingsInput, settingsOf } from "./settings.ts";
import type { RecordStorage } from "./storage.ts";

/** How an operator works, wherever it runs. */
export interface OperatorOptions {
  /** Lower case letters, digits and dashes. Lotse's marks on objects carry it. */
  readonly name: string;
  /**
   * Names that the operator had before: what it has remembered on objects under them, and their finalizers, are taken
   * over object by object. Can go when all objects have been handled once under the new name.
   */
  readonly formerNames?: readonly string[];
  /**
   * What to do about the CRDs of kinds made by `resource()`: `"install"` applies them at start, `"wait"` waits until
   * an administrator has. Default `"wait"`; `lotse dev` installs.
   */
  readonly crds?: "install" | "wait";
  /**
   * Where the operator remembers its work on objects (`settings.persistence.storage`). Default: in the status of kinds
   * made by `resource()`, in an annotation elsewhere. `kopf()` reads and writes what Kopf does, so that each can take
   * over from the other.
   */
  readonly persistence?: RecordStorage;
  /** How many objects of one kind are worked on at the same time (`settings.queueing.concurrency`). Default 10. */
  readonly concurrency?: number;
  /**
   * Which Kubernetes Events the operator posts about its objects (`settings.posting.events`): those that warn, all of
   * them (also when a handler succeeds), or none. Default `"warnings"`; `lotse dev` posts all.
   */
  readonly events?: "all" | "warnings" | "none";
  /** How long running handlers may take to end when the operator stops (`settings.process.graceful`). Default 10 s. */
  readonly graceful?: Duration;
  /** Where the operator answers the API server, if it judges requests or converts objects. */
  readonly webhooks?: WebhookOptions;
  /**
   * How several processes of this operator share its work: `"alone"` (default), `"leader"` or {@link leader}, {@link shards},
   * {@link peering}. What `start()` or `lotse run --coordination` say wins.
   */
  readonly coordination?: Coordination;
  /** Everything else that can be set. `on.startup` handlers may still change it. */
  readonly settings?: SettingsInput;
}

/** An operator's name is part of annotation and finalizer keys, which limits what it can be. */
export function checkName(name: string | undefined): string {
  if (name !== undefined && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw new DeclarationError(`${JSON.stringify(name)} is not an operator's name`, {
    hint: 'use lower case letters, digits and dashes: new Operator({ name: "exchange-rates" })',
  });
}

/** All settings of an operator; the short forms win over the groups, and what was said at the start over both. */
export function settingsFor(operator: OperatorOptions, start: Pick<OperatorOptions, "events"> = {}): Settings {
  const settings = settingsOf(operator.name, operator.settings, process.env);
  if (operator.persistence !== undefined) settings.persistence.storage = operator.persistence;
  if (operator.concurrency !== undefined) settings.queueing.concurrency = operator.concurrency;
  if (operator.graceful !== undefined) settings.process.graceful = operator.graceful;
  const events = start.events ?? operator.events;
  if (events !== undefined) settings.posting.events = events;
  return settings;
}
