/** Who is wired to whom: makes the parts of a cluster. Nothing listens yet, and no controller runs. */

import type { CertificateAuthority } from "@lotse/client/certificates";
import { systemClock } from "@lotse/client/meta";
import {
  type Access,
  createAccess,
  createWebGuard,
  type Gate,
  newSigningKey,
  peopleOf,
  SYSTEM,
} from "./access/index.ts";
import {
  type AdmissionPluginName,
  admissionPlugins,
  createAdmission,
  namespaceLifecycle,
  ServiceRoutes,
} from "./admission/index.ts";
import { ApiServer, Faults, RequestLog, serverPages, stealLease } from "./api/index.ts";
import {
  CertificateController,
  type Controller,
  type ControllerContext,
  DefinitionController,
  EventExpiry,
  FlowControlController,
  GarbageCollector,
  NamespaceController,
  PolicyController,
  QuotaController,
  type ServerInfo,
  ServerRecords,
  WorkloadControllers,
} from "./controllers/index.ts";
import { type Kubelet, PodKeepers, PodPrograms } from "./kubelet/index.ts";
import { type ClusterOptions, type ControllerOptions, chosenOf } from "./options.ts";
import { identityOf, keepSigningKey, loadRules, takeOver } from "./persistence.ts";
import { decodeKubernetesProtobuf } from "./protobuf/index.ts";
import {
  type Backend,
  builtinResources,
  Catalog,
  CelSlot,
  createClusterIpAllocator,
  Expressions,
  lazyTables,
  Pace,
  Provisions,
  type ServiceRange,
  serviceRange,
  Troubles,
} from "./registry/index.ts";
import { type DataFolder, Store } from "./store/index.ts";
import { createRequestSigner, HttpHookClient } from "./transport/index.ts";

/** The parts of one cluster. */
export interface ClusterParts {
  /**
   * Lets requests in: of those that come in the same moment a few in each turn of the event loop, so that new connections,
   * watches and the cluster's own work go on between them.
   */
  readonly doors: Pace;
  /** The administrator's. */
  readonly token: string;
  /** Absent over plain HTTP. */
  readonly authority: CertificateAuthority | undefined;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly cel: CelSlot;
  readonly access: Access;
  readonly services: ServiceRoutes;
  readonly hooks: HttpHookClient;
  readonly context: ControllerContext;
  /** Those that a node brings with it come later. */
  readonly controllers: Controller[];
  readonly programs: PodPrograms;
  readonly requests: RequestLog;
  readonly faults: Faults;
  /** Where requests come in. */
  readonly gate: Gate;
  readonly state: ClusterState;
  /** Where Services get their addresses from. */
  readonly range: ServiceRange;
}

/** What becomes of a cluster while it runs. */
export interface ClusterState {
  ready: boolean;
  /** The node, once it has joined. */
  kubelet: Kubelet | undefined;
  /** What the server writes about itself, once it listens. */
  serverInfo: ServerInfo | undefined;
  /** How many connections are being greeted, once the server listens. */
  greeting: () => number;
}

/** What requests may take of one turn of the event loop; the clock stands still where time is virtual. */
const DOORS = { budgetMs: 6, pieces: 32 } as const;

/** Makes the parts of a cluster out of what it was started with, and of what its data folder holds. */
export async function compose(options: ClusterOptions, data: DataFolder | undefined): Promise<ClusterParts> {
  const { tls = true, name = "lotse", clock = systemClock, random = Math.random } = options;
  const { serviceAccounts = {}, tokens = {} } = options;
  const chosen = chosenOf(options);
  const isOn = pluginSwitch(options, chosen);
  const range = serviceRange(options.serviceRange);
  const { token, authority } = await identityOf(name, tls, data);
  const tables = lazyTables();
  const cel = new CelSlot();
  const store = new Store({ now: () => clock.monotonic(), journal: data?.journal });
  if (data) {
    takeOver(store, data);
    await loadRules(store.rows(), cel);
  }
  const catalog = new Catalog();
  for (const resource of builtinResources(tables, cel)) catalog.register(resource);
  const uuid = () => uuidFrom(random);
  const access = createAccess({
    backend: { store, clock, random, uuid },
    rbac: options.rbac === true,
    openDoors: options.anonymous === "admin",
    adminToken: token,
    certificates: authority,
    signingKey: serviceAccounts.signingKey ?? (data && (await keepSigningKey(data, newSigningKey))),
    issuer: serviceAccounts.issuer,
    accountKeys: serviceAccounts.keys,
    people: peopleOf(tokens),
  });
  const services = new ServiceRoutes(store);
  const hooks = new HttpHookClient({
    clock,
    resolve: (...service) => services.resolve(...service),
    ...(options.webhookCa !== undefined && { authorities: options.webhookCa }),
  });
  const state: ClusterState = { ready: false, kubelet: undefined, serverInfo: undefined, greeting: () => 0 };
  const loop = {
    clock,
    defer: (fn: () => void) => void setImmediate(fn),
    // Ticks come when no promise is left to settle, if it is a promise that asks for them.
    afterPromises: (fn: () => void) => queueMicrotask(() => process.nextTick(fn)),
  };
  const backend: Backend = {
    store,
    catalog,
    clock,
    random,
    uuid,
    pace: new Pace({ ...loop, crowded: () => state.greeting() > 0 }),
    troubles: new Troubles({
      clock,
      tell: options.onTrouble ?? ((text) => process.emitWarning(text, "ClusterWarning")),
    }),
    admission: createAdmission([
      // The first one: no other is asked about what the user may not do.
      access.creationChecks,
      ...(isOn("NamespaceLifecycle") ? [namespaceLifecycle(store)] : []),
      ...(isOn("ServiceAccount") ? [access.podAccounts] : []),
      ...admissionPlugins({ backend: { store, catalog, clock, uuid }, hooks, cel, access: access.decide, isOn }),
      // The last one: what all others made of a role counts.
      access.escalationChecks,
    ]),
    allocateClusterIp: createClusterIpAllocator(store, range),
    provisions: new Provisions(),
  };
  const context: ControllerContext = {
    backend,
    requester: { user: SYSTEM, defaultManager: "kube-controller-manager", warn: () => {} },
  };
  const caPem = options.certificate ? (options.certificate.ca ?? options.certificate.cert) : (authority?.certPem ?? "");
  const requests = new RequestLog();
  const faults = new Faults({
    clock,
    random,
    compact: () => store.compact(),
    stealLease: (namespace, lease, thief) => stealLease(backend, context.requester, namespace, lease, thief),
  });
  const api = new ApiServer({
    backend,
    tables,
    reviews: access.answers.reviews,
    documents: new Map([
      ...access.answers.documents,
      ...serverPages({ started: clock.now(), now: () => clock.now(), flags: options.flags ?? {} }),
    ]),
    protobuf: (bytes) => decodeKubernetesProtobuf(bytes, tables().messages).object,
    pods: () => state.kubelet,
    log: requests,
    faults,
    ready: () => state.ready,
    machine: () => ({
      started: Date.now() / 1_000 - process.uptime(),
      cpuSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
      residentBytes: process.memoryUsage().rss,
      heapBytes: process.memoryUsage().heapUsed,
    }),
  });
  return {
    doors: new Pace({ ...loop, ...DOORS }),
    token,
    authority,
    store,
    catalog,
    cel,
    access,
    services,
    hooks,
    context,
    controllers: [
      new DefinitionController(context, tables, cel, hooks),
      new FlowControlController(context),
      new EventExpiry(context),
      new ServerRecords(context, () => state.serverInfo as ServerInfo),
      ...(authority && chosen.certificates !== false
        ? [new CertificateController(context, createRequestSigner(authority, Date.now), access.decide)]
        : []),
      ...chosenControllers(chosen, context, caPem, () => Expressions.load({ cel, access: access.decide })),
      ...access.controllers(context, caPem, chosen),
    ],
    programs: new PodPrograms(),
    requests,
    faults,
    gate: access.gate(api, createWebGuard(authority ? undefined : plainNames(options.host))),
    state,
    range,
  };
}

/** The names of the API server, as its certificate has them, too: those that clients use, inside of pods as well. */
export const SERVER_NAMES: readonly string[] = [
  "localhost",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

const plainNames = (host: string | undefined): readonly string[] =>
  host === undefined ? SERVER_NAMES : [...SERVER_NAMES, host];

function pluginSwitch({ admission = {} }: ClusterOptions, { namespaces }: ControllerOptions) {
  const { disable = [], enable = [] } = admission;
  return (name: AdmissionPluginName): boolean => {
    if (disable.includes(name)) return false;
    // Where no controller makes the accounts of namespaces, no pod would come in.
    return name !== "ServiceAccount" || namespaces !== false || enable.includes(name);
  };
}

function chosenControllers(
  chosen: ControllerOptions,
  context: ControllerContext,
  caPem: string,
  expressions: () => Promise<Expressions>,
): Controller[] {
  const workloadsOn = chosen.workloads !== false;
  return [
    ...(chosen.garbageCollection === false ? [] : [new GarbageCollector(context)]),
    ...(chosen.namespaces === false ? [] : [new NamespaceController(context, caPem)]),
    new WorkloadControllers(context, (workload) => chosen[workload] ?? workloadsOn),
    new PodKeepers(context, chosen),
    ...(chosen.quotas === false ? [] : [new QuotaController(context)]),
    ...(chosen.policies === false ? [] : [new PolicyController(context, expressions)]),
  ];
}

/** A version 4 UUID out of the cluster's own randomness, so that a seed decides it. */
function uuidFrom(random: () => number): string {
  const word = () => (Math.floor(random() * 2 ** 32) >>> 0).toString(16).padStart(8, "0");
  const [a, b, c, d] = [word(), word(), word(), word()];
  const variant = "89ab"[Number.parseInt(c.slice(0, 1), 16) & 3];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}
