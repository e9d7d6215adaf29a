export { isStatus, parseAnswer } from "./answers.ts";
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
  TooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnexpectedAnswerError,
} from "./errors.ts";
export { HttpTransport, type HttpTransportOptions } from "./http.ts";
export { type IdentifyContext, identify, type KnownUser } from "./identify.ts";
export { type AnswerLimits, type LimitOptions, limitsOf, tooLarge } from "./limits.ts";
export { LineSplitter } from "./lines.ts";
export { Passage, type PassageRequest, type PassageUpgrade } from "./passage.ts";
export {
  isOutOfReach,
  type Reachability,
  ServerReachability,
  type ServerWait,
  tellingReachability,
} from "./reachability.ts";
export {
  PATCH_MEDIA_TYPE,
  type Query,
  type RawRequest,
  type RawResponse,
  type RequestAttempt,
  type RequestHeaders,
  type RequestOptions,
  type Transport,
  type WebSocketConnection,
  type WebSocketRequest,
} from "./request.ts";
export { type ParsedVersion, parseServerVersion, supportWarning } from "./server-version.ts";
export { linkSignals } from "./signals.ts";
