/** How a running operator speaks: to people in logs and Events, to machines in metrics and traces. Handed down whole. */
import type { KubeBody } from "@lotse/client";
import type { OnBehalf } from "./actor.ts";
import type { EventRecorder } from "./events.ts";
import type { Journal } from "./journal.ts";
import type { Logger } from "./logger.ts";
import type { KindMeasures } from "./measures.ts";
import type { Metrics } from "./metrics.ts";
import type { RecordedRequest } from "./recorded-request.ts";
import type { RunningAttempts } from "./running-attempts.ts";
import type { Traces } from "./traces.ts";

/** See the module comment. Made once for each running operator. */
export interface Reporting {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined when the project has no OpenTelemetry. */
  readonly traces: Traces | undefined;
  /** Posts Kubernetes Events; never fails. */
  readonly events: EventRecorder;
  /** Hears of every request of a handler, and of every write that the framework makes on its behalf. */
  readonly onHandlerRequest: ((request: RecordedRequest) => void) | undefined;
  /** Told who does something, where somebody wants to know; see `shadow/`. */
  readonly onBehalf?: OnBehalf | undefined;
}

/** Posts a Kubernetes Event about an object; never fails. */
export type PostEvent = (body: KubeBody, type: "Normal" | "Warning", reason: string, message: string) => void;

/** The same for the work on one kind: its own logger and measures, and what is remembered of its turns. */
export interface KindReporting extends Omit<Reporting, "events"> {
  readonly post: PostEvent;
  readonly measures: KindMeasures;
  readonly journal: Journal;
  /** The attempts that are under way. */
  readonly attempts: RunningAttempts;
  /** What has been said once for the kind, and need not be said for each object. */
  readonly saidOnce: Set<string>;
}
