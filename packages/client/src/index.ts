/**
 * `@lotse/client`: talk to any Kubernetes API server.
 *
 * @module
 */

// The client and how to connect it
export type { AccessOptions, ExecConfig, Kubeconfig, KubeconfigSource } from "./config/index.ts";
// Errors
export { AuthError } from "./config/index.ts";
// Kinds
export {
  allNamespaces,
  apiVersionOf,
  type Discovery,
  type DiscoveryFailure,
  describeKind,
  findKinds,
  type KindDescription,
  type KindSketch,
  type KubeBody,
  type ManagedFieldsEntry,
  type ObjectBody,
  type ObjectMeta,
  type OwnerReference,
  parseApiVersion,
  pathOf,
  UnknownKindError,
} from "./kinds/index.ts";
// Types of the built-in kinds: `corev1.Pod`, `appsv1.Deployment`, …
export type * from "./kinds/tables/types/index.ts";
// Time
export type { Clock, Duration } from "./meta/index.ts";
export { ConfigError, KubeError } from "./meta/index.ts";
// Options of the verbs
export type {
  ApplyOptions,
  CreateManyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  ReplaceOptions,
  WaitOptions,
  WatchOptions,
  WriteOptions,
} from "./objects/index.ts";
// Objects and their classes
export {
  Client,
  ConfigMap,
  type ConfigMapGen,
  type ConnectOptions,
  CustomResourceDefinition,
  defineKind,
  Event,
  type GenMeta,
  type GenStatics,
  type KindClass,
  type KindLike,
  KubeObject,
  type ListPage,
  type MergePatch,
  Namespace,
  ObjectList,
  type OwnerOptions,
  Pod,
  type PodGen,
  referenceTo,
  Secret,
  type SecretGen,
  type ServerVersion,
  type UserInfo,
  type ViewOptions,
  type WaitCondition,
  WaitTimeoutError,
  type WatchEvent,
  type WriteListener,
  type WriteVerb,
} from "./objects/index.ts";
// Streams: one supervised list and watch
export {
  openStream,
  type StreamClient,
  type StreamOptions,
  type StreamSink,
  type StreamState,
} from "./streams/index.ts";
// Requests
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
  type Query,
  type RawRequest,
  type RawResponse,
  type RequestIdentity,
  type RequestOptions,
  type RequestPhase,
  type StatusCause,
  type StatusDetails,
  TimeoutError,
  TooManyRequestsError,
  type Transport,
  UnauthorizedError,
} from "./transport/index.ts";
