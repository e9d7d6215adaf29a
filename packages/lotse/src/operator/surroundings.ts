/** What is handed down whole to all parts of a running operator. */
import type { Client } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { OperatorOptions, Settings, SettingsPlan } from "../declare/index.ts";
import { EventRecorder, type Logger, type Metrics, type Reporting, type Traces } from "../report/index.ts";
import type { Ownership, Runtime } from "../runtime/index.ts";
import type { Lifetime } from "./lifetime.ts";

/** See the module comment. */
export interface Surroundings {
  readonly runtime: Runtime;
  readonly reporting: Reporting;
}

/** What {@link makeSurroundings} puts together. */
export interface SurroundingsParts {
  readonly operator: Pick<OperatorOptions, "name" | "formerNames">;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly nextRunId: () => string;
  readonly settings: Settings;
  readonly plan: SettingsPlan;
  readonly ownership: Ownership;
  readonly lifetime: Pick<Lifetime, "stopping" | "cutting">;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly traces: Traces | undefined;
  readonly onHandlerRequest: Reporting["onHandlerRequest"];
  readonly onBehalf: Reporting["onBehalf"];
}

/** Made once for each running operator, when its settings are fixed. */
export function makeSurroundings(parts: SurroundingsParts): Surroundings {
  const { operator, client, clock, random, nextRunId, settings, plan, ownership, lifetime } = parts;
  const { logger, metrics, traces, onHandlerRequest, onBehalf } = parts;
  const events = new EventRecorder({
    client,
    clock,
    random,
    component: settings.posting.component,
    instance: settings.posting.instance,
    onProblem: (message, fields) => logger.warn(message, fields),
    settings: { post: settings.posting.events },
  });
  return {
    runtime: {
      operator: operator.name,
      formerNames: operator.formerNames ?? [],
      client: client.with({ signal: lifetime.cutting }),
      ownership,
      clock,
      random,
      nextRunId,
      settings,
      plan,
      stopping: lifetime.stopping,
    },
    reporting: { logger, metrics, traces, events, onHandlerRequest, onBehalf },
  };
}
