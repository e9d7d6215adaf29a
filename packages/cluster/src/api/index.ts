export type { Documents, ReviewContext, ReviewHandler, Reviews } from "./answerers.ts";
export { KUBERNETES_VERSION } from "./documents/health.ts";
export { type ServerPages, serverPages } from "./documents/server-pages.ts";
export { durably } from "./durable.ts";
export type {
  ApiRequest,
  ApiResponse,
  BytesResponse,
  ClientCertificate,
  CommandSession,
  ForwardSession,
  Headers,
  ReadSession,
  ResetResponse,
  Session,
  SessionProtocol,
  SessionResponse,
  StreamResponse,
  StreamSink,
  WholeResponse,
} from "./exchange.ts";
export type { Fault, FaultMatch, FaultRequest } from "./faults/fault-rules.ts";
export { type FaultHandle, Faults } from "./faults/faults.ts";
export { stealLease } from "./faults/lease-theft.ts";
export type { ProtobufDecoder } from "./media/body-codec.ts";
export type { RequestInfo, ResourceTarget } from "./request-info.ts";
export { type RequestEntry, RequestLog } from "./request-log.ts";
export { type ApiCall, ApiServer, type ApiServerOptions } from "./server.ts";
