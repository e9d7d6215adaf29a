import path from "node:path";
import { type ApiObject, objectAt } from "../../registry/index.ts";
import { hookVariables, writeHook, writeTable } from "./process-hook.ts";
import { HttpProxy } from "./process-proxy.ts";
import { Forwarder, LOOPBACK, open } from "./process-sockets.ts";
import { hostTable, keyOf, namesOf, portsOf, type ServicePort } from "./services.ts";
import { serviceVariables } from "./variables.ts";

/** What the network needs to know of the cluster. */
export interface NetworkOptions {
  /** All Services. */
  readonly services: () => readonly ApiObject[];
  /** Calls `listener` after each change of a Service; the returned function stops it. */
  readonly watch: (listener: () => void) => () => void;
  /** Where a ready pod behind a Service is; throws a sentence when there is none. */
  readonly resolve: (namespace: string, service: string, port: number) => { host: string; port: number };
}

/** What a namespace has for the programs of its pods. */
interface Segment {
  readonly proxy: HttpProxy;
  /** The file of the hook's table. */
  readonly table: string;
}

/**
 * The way from pods to Services where pods are processes of this machine. Addresses, names and low ports are not to be had
 * there without an administrator's rights, on macOS even less than on Linux. So each port of a Service has a port of the
 * loopback interface that leads to a ready pod, and programs are told of it in the ways that they listen to: by
 * variables, as everywhere; by a proxy that knows the names; and Node.js by a hook.
 */
export class ProcessNetwork {
  readonly #options: NetworkOptions;
  readonly #forwarders = new Map<string, Forwarder>();
  readonly #segments = new Map<string, Promise<Segment>>();
  readonly #tables = new Map<string, string>();
  #ports: readonly ServicePort[] = [];
  #hook = "";
  #stopWatching: (() => void) | undefined;
  /** The last look at the Services; rejects when one of them could not be given a port. */
  #looked: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** What a container of this pod has to know. `folder` is for the files of the network, and the same each time. */
  async variables(pod: ApiObject, folder: string): Promise<Record<string, string>> {
    if (this.#closed) throw new Error("the cluster has stopped");
    this.#start(folder);
    const namespace = pod.metadata.namespace ?? "";
    const { proxy, table } = await this.#segment(namespace, folder);
    await this.#looked;
    const links = objectAt(pod, "spec").enableServiceLinks !== false;
    return {
      ...proxyVariables(proxy.url),
      ...hookVariables(this.#hook, table),
      ...(links ? serviceVariables(this.#ports, namespace, LOOPBACK, this.#local) : {}),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopWatching?.();
    await this.#looked.catch(() => {});
    const segments = await Promise.allSettled(this.#segments.values());
    const proxies = segments.flatMap((one) => (one.status === "fulfilled" ? one.value.proxy : []));
    await Promise.all([...proxies, ...this.#forwarders.values()].map((one) => one[Symbol.asyncDispose]()));
  }

  readonly #local = (port: ServicePort): number | undefined => this.#forwarders.get(keyOf(port))?.port;

  /** A cluster whose pods ask for nothing has no ports open for them. */
  #start(folder: string): void {
    if (this.#stopWatching) return;
    this.#hook = writeHook(folder);
    this.#stopWatching = this.#options.watch(() => this.#changed());
    this.#changed();
  }

  /** One look after the other. A look that fails is told to the next start of a container, and the next one may succeed. */
  #changed(): void {
    this.#looked = this.#looked.catch(() => {}).then(() => this.#look());
    this.#looked.catch(() => {});
  }

  async #look(): Promise<void> {
    if (this.#closed) return;
    this.#ports = this.#options.services().flatMap(portsOf);
    const wanted = new Map(this.#ports.map((port) => [keyOf(port), port]));
    for (const [key, forwarder] of this.#forwarders) {
      if (wanted.has(key)) continue;
      this.#forwarders.delete(key);
      await forwarder[Symbol.asyncDispose]();
    }
    for (const [key, port] of wanted) {
      if (!this.#forwarders.has(key)) this.#forwarders.set(key, await Forwarder.start(() => this.#dial(port)));
    }
    for (const [namespace, file] of this.#tables) this.#tell(namespace, file);
  }

  #tell(namespace: string, file: string): void {
    writeTable(file, hostTable(this.#ports, namespace, this.#local));
  }

  #segment(namespace: string, folder: string): Promise<Segment> {
    const known = this.#segments.get(namespace);
    if (known) return known;
    const table = path.join(folder, `services-${namespace}.json`);
    this.#tables.set(namespace, table);
    this.#tell(namespace, table);
    const made = HttpProxy.start((host, port) => this.#connect(namespace, host, port)).then((proxy) => ({
      proxy,
      table,
    }));
    this.#segments.set(namespace, made);
    // A start that waits for it is told; the next one tries anew.
    made.catch(() => this.#segments.delete(namespace));
    return made;
  }

  /** By a name that programs of the namespace use; what is no Service may be anywhere. */
  #connect(namespace: string, host: string, port: number) {
    const service = this.#ports.find(
      (one) => one.port === port && namesOf(one, namespace).includes(host.toLowerCase()),
    );
    return service ? this.#dial(service) : open(host, port);
  }

  async #dial({ namespace, service, port }: ServicePort) {
    const place = this.#options.resolve(namespace, service, port);
    return open(place.host, place.port);
  }
}

function proxyVariables(url: string): Record<string, string> {
  const variables: Record<string, string> = {};
  const values = { http_proxy: url, https_proxy: url, no_proxy: "localhost,127.0.0.1,::1" };
  // Each spelling has programs that read only that one.
  for (const [name, value] of Object.entries(values)) variables[name] = variables[name.toUpperCase()] = value;
  return variables;
}
