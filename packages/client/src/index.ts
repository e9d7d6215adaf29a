/**
 * `@lotse/client`: talk to any Kubernetes API server.
 *
 * @module
 */

// The client: connected once, it has every verb for every kind.

export { Client, type ConnectOptions, type GroupVersionKind, type PathOptions } from "./client/index.ts";
export type {
  AnnouncedRequest,
  KindLike,
  RequestFollower,
  RequestListener,
  ServerVersion,
  ViewOptions,
  WriteGuard,
  WriteListener,
  WriteVerb,
} from "./objects/index.ts";

// Objects: plain JSON with verbs, a class for every built-in kind, and `defineKind` for all others.

export * from "./builtin/index.ts";
export {
  type AnyObject,
  type ClientOption,
  defineKind,
  type GenMeta,
  type GenStatics,
  type KindClass,
  type KindDefinition,
  type KindStatics,
  KubeObject,
  type ListPage,
  ObjectBase,
  type ObjectClient,
  ObjectList,
  type OwnerOptions,
  referenceTo,
  ScalableObject,
  type ScalePaths,
  type Table,
  type TableColumn,
  type TableOptions,
  type TableRow,
} from "./objects/index.ts";

// Manifests: objects out of YAML and JSON, from files, folders, addresses and streams.

export { fromManifest, type LoadOptions, loadManifests, type ManifestSource, readDocuments } from "./client/index.ts";

// The verbs' options, and what a write may say.

export type {
  ApplyManyOptions,
  ApplyOptions,
  Change,
  CreateManyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  LabelChanges,
  ListOptions,
  MergePatch,
  ObjectWatchOptions,
  PatchFor,
  PatchOptions,
  PatchType,
  ReplaceOptions,
  ScaleOptions,
  SelectOptions,
  StrategicPatch,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from "./objects/index.ts";

// Waiting: kubectl's conditions, predicates, and several of them as one.

export {
  allOf,
  anyOf,
  type CombinedCondition,
  noneOf,
  type WaitCondition,
  type WaitOptions,
  type WaitSelection,
  WaitTimeoutError,
} from "./objects/index.ts";

// Following the cluster: changes as they come, a local copy, and beneath both the reflector and its list and watch.

export {
  type Informer,
  type InformerEvents,
  type InformerOptions,
  ObjectStore,
  openStream,
  Reflector,
  type ReflectorChange,
  type ReflectorListener,
  type StoreChange,
  type StreamClient,
  type StreamOptions,
  type StreamSink,
  type StreamState,
  type Watch,
  type WatchEvent,
} from "./streams/index.ts";

// Inside of pods: commands, logs, ports, files.

export {
  type AttachOptions,
  ConnectionClosedError,
  ContainerNotRunningError,
  type ContainerOptions,
  CopyError,
  type CopyOptions,
  type CopyResult,
  ExecError,
  type ExecFailure,
  type ExecInput,
  type ExecOptions,
  type ExecProcess,
  type ExecResult,
  type ForwardedPort,
  type LogEntry,
  type LogLines,
  type LogOptions,
  type LogSource,
  type PodAccess,
  type PortForward,
  type PortForwardOptions,
  type PortSpec,
  type SpawnOptions,
  sh,
  type TerminalSize,
  type WorkloadLogEntry,
  type WorkloadLogOptions,
} from "./pods/index.ts";

// Kinds: how they are described, found on a server, and addressed.

export {
  allNamespaces,
  apiVersionOf,
  type Discovery,
  type DiscoveryFailure,
  describeKind,
  findKinds,
  type KindDescription,
  type KindSketch,
  mayBeHidden,
  parseApiVersion,
  pathOf,
  UnknownKindError,
} from "./kinds/index.ts";

// Keys of objects and of kinds, for maps.

export {
  type KeyedBody,
  nameIn,
  namespaceIn,
  type ObjectKey,
  objectKey,
  objectKeyOf,
  type VersionedKindKey,
  versionedKindKey,
} from "./meta/index.ts";

// Bodies: what objects are in JSON, and the types of the built-in kinds (`corev1.Pod`, `appsv1.Deployment`, …).

export type {
  admissionregistrationv1,
  apiextensionsv1,
  apiregistrationv1,
  appsv1,
  authenticationv1,
  authorizationv1,
  autoscalingv1,
  autoscalingv2,
  batchv1,
  certificatesv1,
  coordinationv1,
  corev1,
  discoveryv1,
  eventsv1,
  flowcontrolv1,
  KubeBody,
  ManagedFieldsEntry,
  metav1,
  networkingv1,
  nodev1,
  ObjectBody,
  ObjectMeta,
  OwnerReference,
  policyv1,
  rbacv1,
  resourcev1,
  schedulingv1,
  storagev1,
  WithBody,
} from "./kinds/index.ts";

// Where the server is, and who to be there.

export {
  type AccessOptions,
  AuthError,
  type ExecConfig,
  type Impersonation,
  KubeConfig,
  type KubeConfigEntries,
  type KubeConfigLoadOptions,
  type KubeConfigNames,
  type Kubeconfig,
  type KubeconfigSource,
  type Login,
  type LoginFunction,
} from "./config/index.ts";

// Requests as they are sent, what carries them, and how much of an answer is kept.

export {
  type AnswerLimits,
  isOutOfReach,
  type KnownUser,
  type LimitOptions,
  type Query,
  type RawRequest,
  type RawResponse,
  type Reachability,
  type RequestAttempt,
  type RequestHeaders,
  type RequestIdentity,
  type RequestOptions,
  type RequestPhase,
  type ServerWait,
  type Transport,
  type WebSocketConnection,
  type WebSocketRequest,
} from "./transport/index.ts";

// Errors: one class for each thing that can go wrong; all are KubeErrors.

export { ConfigError, KubeError } from "./meta/index.ts";
export {
  AmbiguousError,
  DrainError,
  JobFailedError,
  ManifestError,
  RolloutError,
  UnsupportedError,
} from "./objects/index.ts";
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
  type StatusCause,
  type StatusDetails,
  TimeoutError,
  TooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnexpectedAnswerError,
} from "./transport/index.ts";

// Time: a clock that tests may replace, and durations such as "1h30m".

export { type Clock, type Duration, parseDuration } from "./meta/index.ts";
