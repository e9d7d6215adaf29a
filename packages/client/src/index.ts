/**
 * `@lotse/client`: talk to any Kubernetes API server.
 *
 * @module
 */

// Where the server is, and who to be there
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
// Types of the built-in kinds: `corev1.Pod`, `appsv1.Deployment`, …
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
  metav1,
  networkingv1,
  nodev1,
  policyv1,
  rbacv1,
  resourcev1,
  schedulingv1,
  storagev1,
} from "./kinds/index.ts";
// Kinds: descriptions, discovery, names
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
// What every part needs
export { type Clock, ConfigError, type Duration, KubeError, parseDuration } from "./meta/index.ts";
// The client, objects, a class for every built-in kind, and the options of the verbs
export * from "./objects/index.ts";
// Inside of pods: commands, logs, ports, files
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
// Streams: one supervised list and watch
export {
  ObjectStore,
  openStream,
  type StoreChange,
  type StoreKey,
  type StreamClient,
  type StreamOptions,
  type StreamSink,
  type StreamState,
  storeKey,
} from "./streams/index.ts";
// Requests and their errors
export {
  AlreadyExistsError,
  ApiError,
  apiErrorFrom,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  GoneError,
  InvalidError,
  type KnownUser,
  NotFoundError,
  type Query,
  type RawRequest,
  type RawResponse,
  type RequestAttempt,
  type RequestHeaders,
  type RequestIdentity,
  type RequestOptions,
  type RequestPhase,
  type StatusCause,
  type StatusDetails,
  TimeoutError,
  TooManyRequestsError,
  type Transport,
  UnauthorizedError,
  UnexpectedAnswerError,
  type WebSocketConnection,
  type WebSocketRequest,
} from "./transport/index.ts";
