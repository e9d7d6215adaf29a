export { bootstrap, type ServerPlace } from "./bootstrap.ts";
export type { SigningFacts, SigningTerms } from "./certificate-rules.ts";
export { CertificateController, type RequestSigner } from "./certificates.ts";
export { type Controller, type ControllerContext, type QueueOptions, WorkQueue } from "./controller.ts";
export { DefinitionController } from "./definitions.ts";
export { EventExpiry } from "./event-expiry.ts";
export { FlowControlController } from "./flow-control.ts";
export { GarbageCollector } from "./garbage-collector.ts";
export { LabelIndex } from "./label-index.ts";
export { NamespaceController } from "./namespaces.ts";
export { checkExpressions, type ExpressionWarning, PolicyController } from "./policies.ts";
export { QuotaController } from "./quota.ts";
export { type ServerFacts, ServerRecords } from "./server-records.ts";
export {
  type EventNote,
  EventRecorder,
  type EventSource,
  matchesNode,
  WorkloadControllers,
} from "./workloads/index.ts";
