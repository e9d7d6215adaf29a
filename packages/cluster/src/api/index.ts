export type { Documents, ReviewContext, ReviewHandler, Reviews } from "./answerers.ts";
export type { ProtobufDecoder } from "./body-codec.ts";
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
export type { Fault, FaultMatch, FaultRequest } from "./fault-rules.ts";
export { type FaultHandle, Faults } from "./faults.ts";
export { KUBERNETES_VERSION } from "./health.ts";
export { stealLease } from "./lease-theft.ts";
export type { RequestInfo, ResourceTarget } from "./request-info.ts";
export { type RequestEntry, RequestLog } from "./request-log.ts";
export { type ApiCall, ApiServer, type ApiServerOptions } from "./server.ts";
export { type ServerPages, serverPages } from "./server-pages.ts";
