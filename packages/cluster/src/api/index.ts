export type { Authenticator, Authorizer, ReviewContext, ReviewHandler, Reviews } from "./access-hooks.ts";
export type { ProtobufDecoder } from "./body-codec.ts";
export type {
  ApiRequest,
  ApiResponse,
  BytesResponse,
  CommandSession,
  ForwardSession,
  Headers,
  Session,
  SessionProtocol,
  SessionResponse,
  StreamResponse,
  StreamSink,
  WholeResponse,
} from "./exchange.ts";
export { KUBERNETES_VERSION } from "./health.ts";
export type { RequestInfo, ResourceTarget } from "./request-info.ts";
export { type RequestEntry, RequestLog } from "./request-log.ts";
export { ApiServer, type ApiServerOptions } from "./server.ts";
