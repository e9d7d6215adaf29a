import { randomBytes } from "node:crypto";
import { chmod, rename, writeFile } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import type { Client, ConnectOptions, Kubeconfig } from "@lotse/client";
import { type Identity, loadPolicy, podIdentity } from "./access/index.ts";
import type { ServiceRoutes } from "./admission/index.ts";
import { durably, type Faults, KUBERNETES_VERSION, type RequestLog } from "./api/index.ts";
import { type ClusterParts, compose, SERVER_NAMES } from "./compose.ts";
import { bootstrap, type Controller } from "./controllers/index.ts";
import { type ObjectChange, type ObjectVersion, objectHistory, type ReadChanges } from "./history.ts";
import { buildKubeconfig, kubeconfigText } from "./kubeconfig.ts";
import { type KubeletMode, type KubeletSettings, loadNode, type PodPrograms } from "./kubelet/index.ts";
import { type ClusterOptions, chosenOf } from "./options.ts";
import { loadRules, openData } from "./persistence.ts";
import { fromStore } from "./registry/index.ts";
import { ClusterSnapshot } from "./snapshot.ts";
import { ChangeHistory, type DataFolder, type DataReport, restoreRows, type Store } from "./store/index.ts";
import { Listener } from "./transport/index.ts";

const HOSTS = ["127.0.0.1", "::1", ...SERVER_NAMES];
const NAME = "lotse";
const HOST = "127.0.0.1";

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
  readonly #name: string;
  readonly #parts: ClusterParts;
  readonly #data: DataFolder | undefined;
  readonly #changes: ReadChanges;
  readonly #listener: Listener;
  #stopped: Promise<void> | undefined;

  private constructor(options: ClusterOptions, parts: ClusterParts, listener: Listener, data: DataFolder | undefined) {
    const { name = NAME, host = HOST } = options;
    const scheme = parts.authority ? "https" : "http";
    this.port = listener.port;
    this.url = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${this.port}`;
    const { certificate } = options;
    this.caPem = certificate ? (certificate.ca ?? certificate.cert) : (parts.authority?.certPem ?? "");
    this.token = parts.token;
    this.requests = parts.requests;
    this.faults = parts.faults;
    this.pods = parts.programs;
    this.services = parts.services;
    this.kubeconfig = buildKubeconfig({ name, url: this.url, caPem: this.caPem, user: { token: parts.token } });
    this.data = data?.report;
    this.#name = name;
    this.#parts = parts;
    this.#data = data;
    this.#changes = changesOf(parts.store, options.history);
    this.#listener = listener;
  }

  /** Boots a cluster and resolves when it answers and its first objects are there. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    if (options.data === undefined) return Cluster.#boot(options, undefined);
    const data = await openData(options.data, options.sync);
    try {
      return await Cluster.#boot(options, data);
    } catch (error) {
      await data.close();
      throw error;
    }
  }

  static async #boot(options: ClusterOptions, data: DataFolder | undefined): Promise<Cluster> {
    const { host = HOST, port = 0 } = options;
    const parts = await compose(options, data);
    const { gate, authority, context, controllers, doors, state } = parts;
    const hosts = HOSTS.includes(host) ? HOSTS : [...HOSTS, host];
    const handle: typeof gate.handle = (request) => {
      const rest = doors.rest();
      return rest ? rest.then(() => gate.handle(request)) : gate.handle(request);
    };
    const listener = await Listener.open({
      host,
      port,
      openPort: options.openPort,
      tls:
        authority &&
        (options.certificate
          ? { certPem: options.certificate.cert, keyPem: options.certificate.key }
          : authority.issue({ commonName: "kube-apiserver", hosts, usage: "server" })),
      clientAuthority: authority && [authority.certPem, ...(options.clientCa ? [options.clientCa] : [])],
      // As TLS itself does it: the time of the machine, whatever time the cluster believes it is.
      now: () => Date.now(),
      handle: data ? durably(handle, data.journal) : handle,
      trouble: (work, error) => context.backend.troubles.report(work, error),
    });
    state.greeting = () => listener.greeting;
    const cluster = new Cluster(options, parts, listener, data);
    for (const controller of controllers) controller.start();
    const place = { address: options.advertiseAddress ?? reachable(host), port: listener.port, range: parts.range };
    state.serverInfo = { place, clientCa: options.clientCa ?? authority?.certPem ?? "", hostname: hostname() };
    await bootstrap(context, place);
    if (options.rbac) {
      const aggregates = chosenOf(options).clusterRoleAggregation !== false;
      (await loadPolicy()).bootstrapPolicy(context.backend, aggregates);
    }
    // As in a real cluster, the server is ready before its first node has joined.
    state.ready = true;
    if (options.kubelet) await cluster.#addNode(options.kubelet, options.rbac === true);
    await cluster.settle();
    return cluster;
  }

  async #addNode(kubelet: KubeletMode | KubeletSettings, rbac: boolean): Promise<void> {
    const { access, context, controllers, programs, services, state } = this.#parts;
    const { startNode, Scheduler, TaintEviction } = await loadNode();
    const node = startNode(kubelet, {
      context,
      name: this.#name,
      programs,
      version: KUBERNETES_VERSION,
      // Where roles count, pods are their service accounts; elsewhere that would make no difference but in logs.
      kubeconfig: (pod) => (rbac ? kubeconfigText(this.kubeconfigFor(podIdentity(pod))) : this.kubeconfigYaml()),
      token: access.podToken,
      resolve: (...service) => services.resolve(...service),
    });
    state.kubelet = node;
    const begin = (controller: Controller) => {
      controllers.push(controller);
      controller.start();
    };
    begin(new TaintEviction(context));
    begin(node);
    await node.register();
    // Not before: pods that wait would be told that there are no nodes.
    begin(new Scheduler(context, node.nodeName));
  }

  /** kubectl's configuration as it stands in a file. */
  kubeconfigYaml(): string {
    return kubeconfigText(this.kubeconfig);
  }

  /**
   * A kubeconfig for another user than the administrator: a person by a client certificate (over plain HTTP by a token),
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
      caPem: this.caPem,
      user: this.#parts.access.credentialsFor(identity),
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

  /** Forgets the past: a client that asks for an older version than the present one is told that it is gone. */
  compact(): void {
    this.#parts.store.compact();
  }

  /** Resolves when every controller has done what it can do now. */
  async settle(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#parts.controllers.some((controller) => !controller.idle));
    await this.#data?.journal.durable();
  }

  /** All objects as they are now, to come back to with {@link restore}. */
  snapshot(): ClusterSnapshot {
    const { store } = this.#parts;
    return new ClusterSnapshot(store.revision, store.rows());
  }

  /**
   * Makes the cluster hold exactly the objects of a snapshot again, and resolves when its controllers have settled.
   * Objects get new versions on the way, as everybody who watches has to follow; everything else about them is as it was.
   */
  async restore(snapshot: ClusterSnapshot): Promise<void> {
    await loadRules(snapshot.rows, this.#parts.cel);
    restoreRows(this.#parts.store, snapshot.rows);
    await this.settle();
  }

  /**
   * The versions of an object, oldest first, as far back as {@link ClusterOptions.history} goes. The resource is named by
   * its plural (`widgets.example.com` where several have the same) or its kind; of an object in a namespace the namespace
   * comes before the name.
   *
   * @example
   * ```ts
   * const labels = cluster.history("Pod", "default", "web").map(({ object }) => object.metadata?.labels);
   * ```
   */
  history(resource: string, ...place: [name: string] | [namespace: string, name: string]): ObjectVersion[] {
    return objectHistory(this.#parts.catalog, this.#changes, resource, place);
  }

  /**
   * Calls `listener` with every change of every object from now on, in order and before anybody is told of it; the returned
   * function ends that. `resource` is the plural with its group, as in `widgets.example.com`.
   *
   * @example
   * ```ts
   * const stop = cluster.onChange(({ type, resource, object }) => console.log(type, resource, object.metadata?.name));
   * ```
   */
  onChange(listener: (change: ObjectChange) => void): () => void {
    return this.#parts.store.watchAll((resource, change) => {
      const { type, revision } = change;
      listener({ type, resource, resourceVersion: String(revision), object: fromStore(change.object) });
    });
  }

  /** Ends all watches, closes all connections and frees the port. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { context, controllers, doors, hooks, state } = this.#parts;
    state.ready = false;
    context.backend.troubles.stop();
    for (const controller of controllers) controller.stop();
    context.backend.pace.stop();
    doors.stop();
    await state.kubelet?.close();
    hooks.close();
    await this.#listener.close();
    await this.#data?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** An address that pods would reach this machine at, were there any: a loopback address leads to themselves. */
function reachable(host: string): string {
  if (!["127.0.0.1", "::1", "localhost", "0.0.0.0", "::"].includes(host)) return host;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? NOWHERE;
}

/** Of a network for documentation: a machine that has no network at all is nowhere. */
const NOWHERE = "192.0.2.1";
const LONG_HISTORY = 1_000_000;
const LARGE_HISTORY = 64 * 1_024 * 1_024;

function changesOf(store: Store, wanted: boolean | number | undefined): ReadChanges {
  if (!wanted) return (table, key) => store.changesOf(table, key);
  const changes = wanted === true ? LONG_HISTORY : wanted;
  const history = new ChangeHistory(store, { changes, bytes: LARGE_HISTORY });
  return (table, key) => history.of(table, key);
}
