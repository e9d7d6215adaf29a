/**
 * What each method of the client asks of the API server, in the words of RBAC. One table: a test calls the methods on a
 * cluster and compares, another one looks for methods that are missing here.
 */

/** What a call asks for. */
export interface Ask {
  readonly verbs: readonly string[];
  readonly subresource?: string | undefined;
  /** Another kind than the one that the call is about: group and plural. */
  readonly of?: readonly [group: string, plural: string] | undefined;
  /** In the whole cluster, whatever the namespace. */
  readonly everywhere?: boolean | undefined;
}

/** Whose kind it is: that of the object before the dot, or of the argument at this place. */
export type Subject = "receiver" | number;

/** A method, and what it does. */
export interface CallRule {
  readonly subject: Subject | undefined;
  readonly asks: readonly Ask[];
  /** Where its options are: they may name a subresource, a namespace, or ask it to wait. */
  readonly options?: readonly number[] | undefined;
  /** What each option adds when it is there. */
  readonly withOption?: Readonly<Record<string, readonly Ask[]>> | undefined;
  /** It is about a path that stands in its argument. */
  readonly raw?: "http" | "websocket" | undefined;
}

const READ: Ask = { verbs: ["get"] };
const LIST: Ask = { verbs: ["list"] };
const FOLLOW: Ask = { verbs: ["list", "watch"] };
const CREATE: Ask = { verbs: ["create"] };
const PATCH: Ask = { verbs: ["patch"] };
const UPDATE: Ask = { verbs: ["update"] };
const DELETE: Ask = { verbs: ["delete"] };
/** Where there is no object yet, an apply creates it: a server asks for that right too. */
const APPLY: Ask = { verbs: ["create", "patch"] };
const SCALE: readonly Ask[] = [{ verbs: ["patch"], subresource: "scale" }, READ];

const PODS = ["", "pods"] as const;
const pods = (ask: Ask): Ask => ({ ...ask, of: PODS });
/** A WebSocket: some servers ask for `create`, some for `get`. */
const stream = (subresource: string): Ask => ({ verbs: ["create", "get"], subresource });
const LOG: Ask = { verbs: ["get"], subresource: "log" };

const EXEC = [stream("exec"), READ];
const LOGS = [LOG, READ];
const FORWARD = [stream("portforward"), READ];
const GROUP = [READ, pods(LIST)];
const NOTHING: CallRule = { subject: undefined, asks: [] };

const waits = { wait: [FOLLOW] };

const about = (asks: readonly Ask[], options?: readonly number[], withOption?: CallRule["withOption"]): CallRule => {
  return { subject: "receiver", asks, options, withOption };
};
const first = (asks: readonly Ask[], options?: readonly number[], withOption?: CallRule["withOption"]): CallRule => {
  return { subject: 0, asks, options, withOption };
};

const CLIENT: Readonly<Record<string, CallRule>> = {
  get: first([READ], [1, 2], { waitUpTo: [FOLLOW] }),
  find: first([LIST], [1]),
  list: first([LIST], [1]),
  table: first([LIST], [1]),
  watch: first([FOLLOW], [1]),
  watchObject: first([FOLLOW]),
  informer: first([FOLLOW], [1]),
  wait: first([FOLLOW], [1, 2, 3]),
  create: first([CREATE], [1]),
  apply: first([APPLY], [1]),
  patch: first([PATCH], [2, 3]),
  replace: first([UPDATE], [1]),
  scale: first(SCALE, [2, 3], waits),
  delete: first([DELETE], [1, 2], waits),
  as: {
    subject: undefined,
    asks: ["users", "groups", "serviceaccounts"].map((plural) => {
      return { verbs: ["impersonate"], of: ["", plural] as const, everywhere: true };
    }),
  },
  raw: { subject: undefined, asks: [], raw: "http" },
  webSocket: { subject: undefined, asks: [], raw: "websocket" },
};

const OBJECT: Readonly<Record<string, CallRule>> = {
  get: about([READ], [1], { waitUpTo: [FOLLOW] }),
  list: about([LIST], [0]),
  find: about([LIST], [0]),
  create: about([CREATE], [0]),
  exists: about([READ]),
  assertExists: about([READ]),
  refresh: about([READ]),
  patch: about([PATCH], [1]),
  patchStatus: about([{ verbs: ["patch"], subresource: "status" }]),
  label: about([PATCH]),
  unlabel: about([PATCH]),
  annotate: about([PATCH]),
  setOwner: about([PATCH]),
  adopt: first([PATCH]),
  delete: about([DELETE], [0], waits),
  apply: about([APPLY], [0]),
  replace: about([UPDATE], [0]),
  update: about([READ, UPDATE], [1]),
  createOrPatch: about([READ, CREATE, PATCH]),
  watch: about([FOLLOW]),
  wait: about([FOLLOW]),
};

const OF_CLASSES: Readonly<Record<string, Readonly<Record<string, CallRule>>>> = {
  Client: CLIENT,
  ClientReads: CLIENT,
  // What `object.connected()` gives: the same verbs.
  ObjectClient: CLIENT,
  KubeObject: OBJECT,
  KindStatics: OBJECT,
  ScalableObject: { scale: about(SCALE, [1], waits) },
  Pod: {
    ready: about([READ]),
    waitReady: about([FOLLOW]),
    tolerate: about([READ, PATCH]),
    evict: about([{ verbs: ["create"], subresource: "eviction" }]),
    exec: about(EXEC),
    spawn: about(EXEC),
    copyTo: about(EXEC),
    copyFrom: about(EXEC),
    attach: about([stream("attach"), READ]),
    logs: about(LOGS),
    portForward: about(FORWARD),
    connect: about(FORWARD),
    agent: about(FORWARD),
  },
  PodGroup: {
    pods: about(GROUP),
    readyPods: about(GROUP),
    readyPod: about(GROUP),
    exec: about([...GROUP, ...EXEC.map(pods)]),
    logs: about([...GROUP, ...LOGS.map(pods)]),
    portForward: about([...GROUP, ...FORWARD.map(pods)]),
  },
  Workload: {
    pods: about(GROUP),
    ready: about([READ]),
    rolloutStatus: about([READ]),
    waitRollout: about([FOLLOW]),
    restart: about([READ, PATCH]),
    setImage: about([READ, PATCH]),
  },
  ScalableWorkload: { scale: about(SCALE, [1], waits) },
  Deployment: {
    pause: about([PATCH]),
    resume: about([PATCH]),
    undo: about([READ, PATCH, { ...LIST, of: ["apps", "replicasets"] }]),
  },
  StatefulSet: { undo: about([READ, PATCH, { ...LIST, of: ["apps", "controllerrevisions"] }]) },
  DaemonSet: { undo: about([READ, PATCH, { ...LIST, of: ["apps", "controllerrevisions"] }]) },
  Job: {
    pods: about(GROUP),
    // A job has no subresource for it.
    scale: about([PATCH], [1], waits),
    succeeded: about([READ]),
    failed: about([READ]),
    // What a failed job said last is part of the error.
    waitDone: about([FOLLOW, ...GROUP, ...LOGS.map(pods)]),
  },
  CronJob: {
    trigger: about([READ, { ...CREATE, of: ["batch", "jobs"] }]),
    suspend: about([PATCH]),
    resume: about([PATCH]),
  },
  Node: {
    cordon: about([PATCH]),
    uncordon: about([PATCH]),
    taint: about([READ, UPDATE]),
    untaint: about([READ, UPDATE]),
    pods: about([{ ...pods(LIST), everywhere: true }]),
    drain: about([
      PATCH,
      { ...pods(FOLLOW), everywhere: true },
      { verbs: ["create"], subresource: "eviction", of: PODS, everywhere: true },
    ]),
  },
  Service: {
    pods: about([
      READ,
      { ...FOLLOW, verbs: ["get", "list"], of: PODS },
      { ...LIST, of: ["discovery.k8s.io", "endpointslices"] },
    ]),
    ready: about([
      READ,
      { ...FOLLOW, verbs: ["get", "list"], of: PODS },
      { ...LIST, of: ["discovery.k8s.io", "endpointslices"] },
    ]),
    portForward: about([...GROUP, ...FORWARD.map(pods)]),
  },
  ServiceProxy: {
    fetch: {
      subject: undefined,
      asks: [
        { verbs: ["create", "delete", "get", "patch", "update"], subresource: "proxy", of: ["", "services"] },
        { verbs: ["get"], of: ["", "services"] },
      ],
    },
  },
  Namespace: { waitGone: about([FOLLOW]) },
  CustomResourceDefinition: { waitEstablished: about([FOLLOW]) },
  Event: { for: { subject: undefined, asks: [{ verbs: ["list"], of: ["", "events"] }] } },
  // What contexts have: reads by the operator's own copy of the cluster, which follows what is read.
  CachedGet: { "()": first([FOLLOW], [2]), live: first([READ], [2]) },
  CachedList: { "()": first([FOLLOW], [1]) },
  CachedReads: { exists: first([FOLLOW], [2]) },
};

/** Methods that make, show or prepare something, and ask for nothing that has to be allowed. */
const QUIET: Readonly<Record<string, readonly string[]>> = {
  Client: ["connect", "default", "setDefault", "with", "inNamespace", "close"],
  ClientReads: ["discover", "resolve", "describe", "classFor", "object", "path", "whoami", "version", "reauthenticate"],
  ObjectClient: ["describe"],
  ObjectBase: ["is", "at", "toJSON", "toManifest", "toString", "toYAML"],
  KubeObject: ["ref", "withClient", "connected"],
  KindStatics: ["ref"],
  Pod: ["access"],
  ConfigMap: ["fromFiles"],
};

/** The rule for a member of a class or interface of the client, or of a context; undefined when the tables have none. */
export function ruleFor(owner: string, member: string): CallRule | undefined {
  const known = Object.hasOwn(OF_CLASSES, owner) ? OF_CLASSES[owner] : undefined;
  if (known && Object.hasOwn(known, member)) return known[member];
  // A handler that makes an object has not asked the API server for anything yet.
  const quiet = QUIET[owner]?.includes(member) || member === "gen" || member === "new";
  return quiet ? NOTHING : undefined;
}

/** The classes that have rules. */
export const RULED_CLASSES: readonly string[] = Object.keys(OF_CLASSES);
