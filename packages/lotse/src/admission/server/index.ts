export type { ServingCredentials } from "../certificates/index.ts";
export { Refusal, statusBody, unknownPath, type WebhookAnswer } from "./answers.ts";
export type { WebhookMeasures } from "./desk.ts";
export type { WebhookRoute } from "./head.ts";
export { defaultLimits, LIST_BYTES, type WebhookLimits } from "./limits.ts";
export type { PeerCertificate } from "./peer.ts";
export type { WebhookHandler, WebhookRequest } from "./request.ts";
export { WebhookServer, type WebhookServerHealth, type WebhookServerOptions } from "./server.ts";
export type { ProblemListener } from "./troubles.ts";
