/** What the controllers of one operator have in common. */
import type { Client, KindDescription, KubeBody } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { FixedSettings, Memo, SettingsPlan } from "../declare/index.ts";
import type { RecordedRequest } from "../generate/index.ts";
import type { OperatorIndexes, Scopes } from "../informers/index.ts";
import type { Author, TrackedKinds } from "../reconcile/index.ts";
import type { EventRecorder, Logger, Metrics, Traces } from "../report/index.ts";
import type { HandlerWrite } from "../turn/index.ts";

/** What all controllers of an operator share. */
export interface ControllerShared {
  readonly operator: string;
  /** Names that it had before. */
  readonly formerNames: readonly string[];
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined when the project has no OpenTelemetry. */
  readonly traces: Traces | undefined;
  readonly stopping: AbortSignal;
  readonly settings: FixedSettings;
  readonly plan: SettingsPlan;
  /** What each object's memo begins with. */
  readonly memo: Memo;
  readonly scopes: Scopes;
  readonly indexes: OperatorIndexes<Author>;
  readonly events: EventRecorder;
  readonly tracked: TrackedKinds;
  /** A handler wrote an object of this kind. */
  readonly handlerWrote: (body: KubeBody, kind: KindDescription, how: HandlerWrite) => void;
  /** Hears of every request of a handler. */
  readonly record: ((request: RecordedRequest) => void) | undefined;
  /** What waits for another try is tried when its object is first seen. */
  readonly retryAtStart: boolean;
}
