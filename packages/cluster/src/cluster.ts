import { randomBytes } from "node:crypto";
import { chmod, rename, writeFile } from "node:fs/promises";
import type { Client, ConnectOptions, Kubeconfig } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import { dump } from "js-yaml";
import {
  type Access,
  type AccessControllers,
  createAccess,
  type Identity,
  loadPolicy,
  newSigningKey,
  podIdentity,
  SYSTEM,
} from "./access/index.ts";
import { admissionPlugins, createAdmission, namespaceLifecycle, ServiceRoutes } from "./admission/index.ts";
import { ApiServer, durably, Faults, KUBERNETES_VERSION, RequestLog, stealLease } from "./api/index.ts";
import {
  bootstrap,
  type Controller,
  type ControllerContext,
  DefinitionController,
  FlowControlController,
  GarbageCollector,
  NamespaceController,
  QuotaController,
  WorkloadControllers,
} from "./controllers/index.ts";
import { type ObjectVersion, objectHistory, type ReadChanges } from "./history.ts";
import { identityOf, loadRules, openData, takeOver } from "./kept.ts";
import { buildKubeconfig } from "./kubeconfig.ts";
import {
  DisruptionController,
  type Kubelet,
  type KubeletMode,
  type KubeletSettings,
  PodPrograms,
  startNode,
} from "./kubelet/index.ts";
import {
  type ApiObject,
  type Backend,
  builtinResources,
  Catalog,
  CelSlot,
  createClusterIpAllocator,
  lazyTables,
  Provisions,
} from "./registry/index.ts";
import { ClusterSnapshot } from "./snapshot.ts";
import { ChangeHistory, type DataFolder, type DataReport, restoreRows, Store } from "./store/index.ts";
import { decodeKubernetesProtobuf, HttpHookClient, Listener } from "./transport/index.ts";

/** Which controllers run. All do unless told otherwise. */
export interface ControllerOptions extends AccessControllers {
  /** All controllers of workloads, from `deployments` to `volumes`; what is said about a single one counts more. */
  readonly workloads?: boolean;
  /** Rolls Deployments out by means of ReplicaSets. */
  readonly deployments?: boolean;
  /** Makes the pods of ReplicaSets and ReplicationControllers. */
  readonly replicaSets?: boolean;
  /** Makes the pods of StatefulSets, and their claims, in order. */
  readonly statefulSets?: boolean;
  /** Makes a pod on each node for DaemonSets. */
  readonly daemonSets?: boolean;
  /** Runs Jobs to their end, and deletes those that are over when they ask for it. */
  readonly jobs?: boolean;
  /** Makes the Jobs of CronJobs when it is time. */
  readonly cronJobs?: boolean;
  /** Writes the Endpoints and EndpointSlices of Services. */
  readonly endpoints?: boolean;
  /** Binds PersistentVolumeClaims to volumes, which it makes where there are none; brings the class `standard`. */
  readonly volumes?: boolean;
  /** Deletes objects whose owners are gone. */
  readonly garbageCollection?: boolean;
  /** Furnishes new namespaces and empties deleted ones. */
  readonly namespaces?: boolean;
  /** Counts what ResourceQuotas limit. */
  readonly quotas?: boolean;
}

/** How a cluster starts. */
export interface ClusterOptions {
  /** The port to listen on; any free one unless told. */
  readonly port?: number;
  /** The address to listen on; `127.0.0.1` unless told. */
  readonly host?: string;
  /** HTTPS with a certificate authority of its own, or plain HTTP; HTTPS unless told. */
  readonly tls?: boolean;
  /**
   * Whether roles decide who may do what, as in a real cluster. `false`, the default: everybody may do everything, and
   * whoever sends no credentials is the administrator.
   */
  readonly rbac?: boolean;
  /** Time as the cluster sees it: timestamps, bookmarks, retries. */
  readonly clock?: Clock;
  /** Numbers in [0, 1) from which uids and generated names are made; give a seeded one for the same names each run. */
  readonly random?: () => number;
  /** The name of the cluster, its user and its context in the kubeconfig; `lotse` unless told. */
  readonly name?: string;
  /**
   * The folder in which the cluster is kept: started again with it, it is the same cluster, even after a crash. Without
   * one it lives in memory and goes with the process.
   */
  readonly data?: string;
  /**
   * How many changes {@link Cluster.history} reaches back to, `true` for a million. Unless told, it tells what the cluster
   * remembers anyway: the last minutes.
   */
  readonly history?: boolean | number;
  readonly controllers?: ControllerOptions;
  /**
   * Whether pods run. `false`, the default: they stay Pending, as in a bare API server. `"simulate"`: they pretend, see
   * {@link Cluster.pods}. `"process"`: the commands of their containers run as processes of this machine.
   */
  readonly kubelet?: KubeletMode | KubeletSettings | false;
}

const HOSTS = ["127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];

/**
 * A Kubernetes cluster inside this process: the API server and the controllers that keep it in order.
 *
 * @example
 * ```ts
 * await using cluster = await Cluster.start();
 * const client = await cluster.connect();
 * await client.create(ConfigMap.gen({ name: "hello", data: { greeting: "moin" } }));
 * ```
 */
export class Cluster implements AsyncDisposable {
  /** Where the API is: `https://127.0.0.1:41234`. */
  readonly url: string;
  readonly port: number;
  /** The certificate that clients must trust; empty over plain HTTP. */
  readonly caPem: string;
  /** The administrator's bearer token. */
  readonly token: string;
  /** kubectl's configuration for this cluster. */
  readonly kubeconfig: Kubeconfig;
  /** Every request that was answered. */
  readonly requests: RequestLog;
  /** What shall go wrong. */
  readonly faults: Faults;
  /** What simulated pods do. */
  readonly pods: PodPrograms;
  /** Where Services really are, for calls to webhooks behind them. */
  readonly services: ServiceRoutes;
  /** What was found in the data folder; undefined when the cluster lives in memory. */
  readonly data: DataReport | undefined;
  readonly #access: Access;
  readonly #hooks: HttpHookClient;
  readonly #name: string;
  readonly #data: DataFolder | undefined;
  readonly #catalog: Catalog;
  readonly #cel: CelSlot;
  readonly #changes: ReadChanges;
  readonly #listener: Listener;
  readonly #store: Store;
  readonly #controllers: readonly Controller[];
  readonly #kubelet: Kubelet | undefined;
  readonly #state: ClusterState;
  #stopped: Promise<void> | undefined;

  private constructor(parts: ClusterParts) {
    const scheme = parts.caPem === "" ? "http" : "https";
    this.port = parts.listener.port;
    this.url = `${scheme}://${parts.host.includes(":") ? `[${parts.host}]` : parts.host}:${this.port}`;
    this.caPem = parts.caPem;
    this.token = parts.token;
    this.requests = parts.requests;
    this.pods = parts.pods;
    this.kubeconfig = buildKubeconfig({
      name: parts.name,
      url: this.url,
      caPem: parts.caPem === "" ? undefined : parts.caPem,
      user: { token: parts.token },
    });
    this.#access = parts.access;
    this.services = parts.services;
    this.#hooks = parts.hooks;
    this.#name = parts.name;
    this.faults = parts.faults;
    this.data = parts.data?.report;
    this.#data = parts.data;
    this.#catalog = parts.catalog;
    this.#cel = parts.cel;
    this.#changes = parts.changes;
    this.#listener = parts.listener;
    this.#store = parts.store;
    this.#controllers = parts.controllers;
    this.#kubelet = parts.kubelet;
    this.#state = parts.state;
  }

  /** Boots a cluster and resolves when it answers and its first objects are there. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    if (options.data === undefined) return Cluster.#boot(options, undefined);
    const data = await openData(options.data);
    try {
      return await Cluster.#boot(options, data);
    } catch (error) {
      await data.close();
      throw error;
    }
  }

  static async #boot(options: ClusterOptions, data: DataFolder | undefined): Promise<Cluster> {
    const {
      host = "127.0.0.1",
      port = 0,
      tls = true,
      name = "lotse",
      clock = systemClock,
      random = Math.random,
    } = options;
    const { token, authority } = await identityOf(name, tls, data);
    const caPem = authority?.certPem ?? "";
    const hosts = HOSTS.includes(host) ? HOSTS : [...HOSTS, host];

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
      adminToken: token,
      certificates: authority,
      signingKey: data && (await data.keep("sa.pem", newSigningKey)),
    });
    const services = new ServiceRoutes(store);
    const hooks = new HttpHookClient({ clock, resolve: (...service) => services.resolve(...service) });
    const backend: Backend = {
      store,
      catalog,
      clock,
      random,
      uuid,
      admission: createAdmission([
        // The first one: no other is asked about what somebody may not do.
        access.creationChecks,
        namespaceLifecycle(store),
        ...(options.controllers?.namespaces === false ? [] : [access.podAccounts]),
        ...admissionPlugins({ world: { store, catalog, clock, uuid }, hooks, cel, access: access.decide }),
        // The last one: what all others made of a role counts.
        access.escalationChecks,
      ]),
      allocateClusterIp: createClusterIpAllocator(store),
      provisions: new Provisions(),
    };
    const context: ControllerContext = {
      backend,
      scope: { user: SYSTEM, defaultManager: "kube-controller-manager", warn: () => {} },
    };
    const controllers: Controller[] = [
      new DefinitionController(context, tables, cel, hooks),
      new FlowControlController(context),
    ];
    if (options.controllers?.garbageCollection !== false) controllers.push(new GarbageCollector(context));
    if (options.controllers?.namespaces !== false) controllers.push(new NamespaceController(context, caPem));
    const workloadsOn = options.controllers?.workloads !== false;
    controllers.push(new WorkloadControllers(context, (workload) => options.controllers?.[workload] ?? workloadsOn));
    if (options.controllers?.quotas !== false) controllers.push(new QuotaController(context));
    controllers.push(...access.controllers(context, caPem, options.controllers));

    const pods = new PodPrograms();
    let written = (_pod: ApiObject) => "";
    const kubelet = options.kubelet
      ? startNode(options.kubelet, {
          context,
          name,
          programs: pods,
          version: KUBERNETES_VERSION,
          kubeconfig: (pod) => written(pod),
          token: access.podToken,
        })
      : undefined;
    // Budgets are about pods that run; where none do, they stay as they are written.
    if (kubelet) controllers.push(kubelet, new DisruptionController(context));

    const requests = new RequestLog();
    const faults = new Faults({
      clock,
      random,
      compact: () => store.compact(),
      stealLease: (namespace, lease, thief) => stealLease(backend, context.scope, namespace, lease, thief),
    });
    const state: ClusterState = { ready: false };
    const api = new ApiServer({
      backend,
      tables,
      ...access.hooks,
      protobuf: (bytes) => decodeKubernetesProtobuf(bytes, tables().messages).object,
      pods: kubelet,
      log: requests,
      faults,
      ready: () => state.ready,
    });
    const handle: typeof api.handle = (request) => api.handle(request);
    const listener = await Listener.open({
      host,
      port,
      tls: authority?.issue({ commonName: "kube-apiserver", hosts, usage: "server" }),
      clientAuthority: authority?.certPem,
      handle: data ? durably(handle, data.journal) : handle,
    });
    const cluster = new Cluster({
      listener,
      access,
      services,
      hooks,
      host,
      name,
      caPem,
      token,
      requests,
      faults,
      data,
      catalog,
      cel,
      changes: changesOf(store, options.history),
      store,
      controllers,
      pods,
      kubelet,
      state,
    });
    // Where roles count, pods are their service accounts; elsewhere that would make no difference but in logs.
    written = (pod) => (options.rbac ? dump(cluster.kubeconfigFor(podIdentity(pod))) : cluster.kubeconfigYaml());
    for (const controller of controllers) controller.start();
    await bootstrap(context, listener.port);
    if (options.rbac) (await loadPolicy()).bootstrapPolicy(backend);
    await kubelet?.register();
    await cluster.settle();
    state.ready = true;
    return cluster;
  }

  /** kubectl's configuration as it stands in a file. */
  kubeconfigYaml(): string {
    return dump(this.kubeconfig);
  }

  /**
   * A kubeconfig for somebody else than the administrator: a person by a client certificate (over plain HTTP by a token),
   * a service account by a token.
   *
   * @example
   * ```ts
   * const kubeconfig = cluster.kubeconfigFor({ user: "jane", groups: ["developers"] });
   * const client = await cluster.connect({ kubeconfig });
   * ```
   */
  kubeconfigFor(identity: Identity): Kubeconfig {
    const [place, name] = "user" in identity ? ["default", identity.user] : identity.serviceAccount.split("/");
    return buildKubeconfig({
      name: this.#name,
      url: this.url,
      caPem: this.caPem === "" ? undefined : this.caPem,
      user: this.#access.credentialsFor(identity),
      userName: name ?? this.#name,
      namespace: place ?? "default",
    });
  }

  /** Writes the kubeconfig to a file of its own that only its owner can read; a reader never sees half of it. */
  async writeKubeconfig(path: string): Promise<void> {
    const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    await writeFile(temporary, this.kubeconfigYaml(), { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  }

  /** A client that is the administrator. */
  async connect(options: ConnectOptions = {}): Promise<Client> {
    // `lotse cluster` never needs it, and would start later for it.
    const { Client } = await import("@lotse/client");
    return Client.connect({ kubeconfig: this.kubeconfig, ...options });
  }

  /** Forgets the past: whoever asks for an older version than the present one is told that it is gone. */
  compact(): void {
    this.#store.compact();
  }

  /** Resolves when every controller has done what it can do now. */
  async settle(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#controllers.some((controller) => !controller.idle));
    await this.#data?.journal.durable();
  }

  /** All objects as they are now, to come back to with {@link restore}. */
  snapshot(): ClusterSnapshot {
    return new ClusterSnapshot(this.#store.revision, this.#store.rows());
  }

  /**
   * Makes the cluster hold exactly the objects of a snapshot again, and resolves when its controllers have settled.
   * Objects get new versions on the way, as everybody who watches has to follow; everything else about them is as it was.
   */
  async restore(snapshot: ClusterSnapshot): Promise<void> {
    await loadRules(snapshot.rows, this.#cel);
    restoreRows(this.#store, snapshot.rows);
    await this.settle();
  }

  /**
   * The versions of an object, oldest first, as far back as {@link ClusterOptions.history} goes. The resource is named by
   * its plural (`widgets.example.com` where several have the same) or its kind; of an object in a namespace the namespace
   * comes before the name.
   *
   * @example
   * ```ts
   * const phases = cluster.history("Pod", "default", "web").map((version) => version.object.status?.phase);
   * ```
   */
  history(resource: string, ...place: [name: string] | [namespace: string, name: string]): ObjectVersion[] {
    return objectHistory(this.#catalog, this.#changes, resource, place);
  }

  /** Ends all watches, closes all connections and frees the port. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#state.ready = false;
    for (const controller of this.#controllers) controller.stop();
    await this.#kubelet?.close();
    this.#hooks.close();
    await this.#listener.close();
    await this.#data?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

interface ClusterState {
  ready: boolean;
}

interface ClusterParts {
  readonly listener: Listener;
  readonly access: Access;
  readonly services: ServiceRoutes;
  readonly hooks: HttpHookClient;
  readonly host: string;
  readonly name: string;
  readonly caPem: string;
  readonly token: string;
  readonly requests: RequestLog;
  readonly faults: Faults;
  readonly data: DataFolder | undefined;
  readonly catalog: Catalog;
  readonly cel: CelSlot;
  readonly changes: ReadChanges;
  readonly store: Store;
  readonly controllers: readonly Controller[];
  readonly pods: PodPrograms;
  readonly kubelet: Kubelet | undefined;
  readonly state: ClusterState;
}

const LONG_HISTORY = 1_000_000;

function changesOf(store: Store, wanted: boolean | number | undefined): ReadChanges {
  if (!wanted) return (table, key) => store.changesOf(table, key);
  const history = new ChangeHistory(store, wanted === true ? LONG_HISTORY : wanted);
  return (table, key) => history.of(table, key);
}

/** A version 4 UUID out of the cluster's own randomness, so that a seed decides it. */
function uuidFrom(random: () => number): string {
  const word = () => (Math.floor(random() * 2 ** 32) >>> 0).toString(16).padStart(8, "0");
  const [a, b, c, d] = [word(), word(), word(), word()];
  const variant = "89ab"[Number.parseInt(c.slice(0, 1), 16) & 3];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}
