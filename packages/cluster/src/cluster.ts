import { randomBytes } from "node:crypto";
import { chmod, rename, writeFile } from "node:fs/promises";
import { Client, type ConnectOptions, type Kubeconfig } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import { dump } from "js-yaml";
import { ADMIN, createAuthenticator, createReviews, SYSTEM } from "./access/index.ts";
import { createAdmission, namespaceLifecycle } from "./admission/index.ts";
import { ApiServer, KUBERNETES_VERSION, RequestLog } from "./api/index.ts";
import {
  bootstrap,
  type Controller,
  type ControllerContext,
  DefinitionController,
  GarbageCollector,
  NamespaceController,
} from "./controllers/index.ts";
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
  type Backend,
  builtinResources,
  Catalog,
  CelSlot,
  createClusterIpAllocator,
  lazyTables,
} from "./registry/index.ts";
import { Store } from "./store/index.ts";
import { CertificateAuthority, decodeKubernetesProtobuf, Listener } from "./transport/index.ts";

/** Which controllers run. All do unless told otherwise. */
export interface ControllerOptions {
  /** Deletes objects whose owners are gone. */
  readonly garbageCollection?: boolean;
  /** Furnishes new namespaces and empties deleted ones. */
  readonly namespaces?: boolean;
}

/** How a cluster starts. */
export interface ClusterOptions {
  /** The port to listen on; any free one unless told. */
  readonly port?: number;
  /** The address to listen on; `127.0.0.1` unless told. */
  readonly host?: string;
  /** HTTPS with a certificate authority of its own, or plain HTTP; HTTPS unless told. */
  readonly tls?: boolean;
  /** Time as the cluster sees it: timestamps, bookmarks, retries. */
  readonly clock?: Clock;
  /** Numbers in [0, 1) from which uids and generated names are made; give a seeded one for the same names each run. */
  readonly random?: () => number;
  /** The name of the cluster, its user and its context in the kubeconfig; `lotse` unless told. */
  readonly name?: string;
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
  /** What simulated pods do. */
  readonly pods: PodPrograms;
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
      token: parts.token,
    });
    this.#listener = parts.listener;
    this.#store = parts.store;
    this.#controllers = parts.controllers;
    this.#kubelet = parts.kubelet;
    this.#state = parts.state;
  }

  /** Boots a cluster and resolves when it answers and its first objects are there. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const {
      host = "127.0.0.1",
      port = 0,
      tls = true,
      name = "lotse",
      clock = systemClock,
      random = Math.random,
    } = options;
    const token = randomBytes(24).toString("base64url");
    const authority = tls ? new CertificateAuthority(`${name}-ca`, Date.now()) : undefined;
    const caPem = authority?.certPem ?? "";
    const hosts = HOSTS.includes(host) ? HOSTS : [...HOSTS, host];

    const tables = lazyTables();
    const cel = new CelSlot();
    const store = new Store({ now: () => clock.monotonic() });
    const catalog = new Catalog();
    for (const resource of builtinResources(tables, cel)) catalog.register(resource);
    const backend: Backend = {
      store,
      catalog,
      clock,
      random,
      uuid: () => uuidFrom(random),
      admission: createAdmission([namespaceLifecycle(store)]),
      allocateClusterIp: createClusterIpAllocator(store),
    };
    const context: ControllerContext = {
      backend,
      scope: { user: SYSTEM, defaultManager: "kube-controller-manager", warn: () => {} },
    };
    const controllers: Controller[] = [new DefinitionController(context, tables, cel)];
    if (options.controllers?.garbageCollection !== false) controllers.push(new GarbageCollector(context));
    if (options.controllers?.namespaces !== false) controllers.push(new NamespaceController(context, caPem));

    const pods = new PodPrograms();
    let written = () => "";
    const kubelet = options.kubelet
      ? startNode(options.kubelet, {
          context,
          name,
          programs: pods,
          version: KUBERNETES_VERSION,
          kubeconfig: () => written(),
        })
      : undefined;
    // Budgets are about pods that run; where none do, they stay as they are written.
    if (kubelet) controllers.push(kubelet, new DisruptionController(context));

    const tokens = new Map([[token, ADMIN]]);
    const requests = new RequestLog();
    const state: ClusterState = { ready: false };
    const api = new ApiServer({
      backend,
      tables,
      authenticate: createAuthenticator(tokens, ADMIN),
      authorize: () => undefined,
      reviews: createReviews(tokens),
      protobuf: (bytes) => decodeKubernetesProtobuf(bytes, tables().messages).object,
      pods: kubelet,
      log: requests,
      ready: () => state.ready,
    });
    const listener = await Listener.open({
      host,
      port,
      tls: authority?.issue({ commonName: "kube-apiserver", hosts, usage: "server" }),
      handle: (request) => api.handle(request),
    });
    const cluster = new Cluster({
      listener,
      host,
      name,
      caPem,
      token,
      requests,
      store,
      controllers,
      pods,
      kubelet,
      state,
    });
    written = () => cluster.kubeconfigYaml();
    for (const controller of controllers) controller.start();
    await bootstrap(context, listener.port);
    await kubelet?.register();
    await cluster.settle();
    state.ready = true;
    return cluster;
  }

  /** kubectl's configuration as it stands in a file. */
  kubeconfigYaml(): string {
    return dump(this.kubeconfig);
  }

  /** Writes the kubeconfig to a file of its own that only its owner can read; a reader never sees half of it. */
  async writeKubeconfig(path: string): Promise<void> {
    const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    await writeFile(temporary, this.kubeconfigYaml(), { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  }

  /** A client that is the administrator. */
  connect(options: ConnectOptions = {}): Promise<Client> {
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
    await this.#listener.close();
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
  readonly host: string;
  readonly name: string;
  readonly caPem: string;
  readonly token: string;
  readonly requests: RequestLog;
  readonly store: Store;
  readonly controllers: readonly Controller[];
  readonly pods: PodPrograms;
  readonly kubelet: Kubelet | undefined;
  readonly state: ClusterState;
}

/** A version 4 UUID out of the cluster's own randomness, so that a seed decides it. */
function uuidFrom(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = "4";
  hex[16] = "89ab"[Math.floor(random() * 4)] as string;
  const text = hex.join("");
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}
