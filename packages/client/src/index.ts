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
export { type Clock, ConfigError, type Duration, KubeError } from "./meta/index.ts";
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
// The client, objects and their classes
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
  type Watch,
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
