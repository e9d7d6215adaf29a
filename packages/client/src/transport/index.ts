export {
  AlreadyExistsError,
  ApiError,
  apiErrorFrom,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  GoneError,
  InvalidError,
  NotFoundError,
  type RequestIdentity,
  type RequestPhase,
  type StatusCause,
  type StatusDetails,
  TimeoutError,
  TooManyRequestsError,
  UnauthorizedError,
} from "./errors.ts";
export { HttpTransport, type HttpTransportOptions } from "./http.ts";
export { LineSplitter } from "./lines.ts";
export {
  PATCH_MEDIA_TYPE,
  type Query,
  type RawRequest,
  type RawResponse,
  type RequestOptions,
  type Transport,
} from "./request.ts";
export { linkSignals } from "./signals.ts";
