import { matchesLabels } from "@lotse/client/meta";
import {
  type ApiObject,
  type Backend,
  fromStore,
  HookError,
  isRecord,
  listAt,
  objectAt,
  readSelector,
  storeKey,
} from "../registry/index.ts";

const LOOPBACK = "127.0.0.1";
const SLICES = "endpointslices.discovery.k8s.io";

/** An address to connect to. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Where Services of the cluster really are, for the server's own calls to webhooks. There is no network of the cluster:
 * pods are processes of this machine, so that their ports are on its loopback interface; anything else can be named.
 */
export class ServiceRoutes {
  readonly #store: Backend["store"];
  readonly #routes = new Map<string, ServiceAddress>();

  constructor(store: Backend["store"]) {
    this.#store = store;
  }

  /**
   * Sends what goes to a Service to a port of this machine instead, whether the Service exists or not. The returned
   * function takes it back.
   *
   * @example
   * ```ts
   * cluster.services.route("default/my-webhooks", 9443);
   * ```
   */
  route(service: string, port: number, host: string = LOOPBACK): () => void {
    const address = { host, port };
    this.#routes.set(service, address);
    return () => {
      if (this.#routes.get(service) === address) this.#routes.delete(service);
    };
  }

  /** Throws a HookError when there is nothing to connect to. */
  resolve(namespace: string, name: string, port: number): ServiceAddress {
    const routed = this.#routes.get(`${namespace}/${name}`);
    if (routed) return routed;
    const entry = this.#store.get("services", storeKey(namespace, name));
    if (!entry) throw new HookError(`service ${JSON.stringify(name)} not found`);
    const service = fromStore(entry.object);
    const spec = objectAt(service, "spec");
    if (spec.type === "ExternalName") return { host: String(spec.externalName), port };
    const known = listAt(service, "spec", "ports").find((candidate) => candidate.port === port);
    if (!known) throw new HookError(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const found = this.#fromSlices(service, known) ?? this.#fromPods(service, known);
    if (!found) throw new HookError(`no endpoints available for service ${JSON.stringify(name)}`);
    return found;
  }

  #fromSlices({ metadata }: ApiObject, port: Record<string, unknown>): ServiceAddress | undefined {
    for (const entry of this.#store.list(SLICES, `${metadata.namespace}/`)) {
      const slice = fromStore(entry.object);
      if (slice.metadata.labels?.["kubernetes.io/service-name"] !== metadata.name) continue;
      const target = listAt(slice, "ports").find((candidate) => (candidate.name ?? "") === (port.name ?? ""));
      const ready = listAt(slice, "endpoints").find(
        (endpoint) => objectAt(endpoint, "conditions").ready !== false && Array.isArray(endpoint.addresses),
      );
      if (typeof target?.port !== "number" || !ready) continue;
      const ofPod = objectAt(ready, "targetRef").kind === "Pod";
      return { host: ofPod ? LOOPBACK : String((ready.addresses as unknown[])[0]), port: target.port };
    }
    return undefined;
  }

  #fromPods(service: ApiObject, port: Record<string, unknown>): ServiceAddress | undefined {
    const { selector } = objectAt(service, "spec");
    if (!isRecord(selector)) return undefined;
    const labels = readSelector({ matchLabels: selector });
    if (labels === undefined) return undefined;
    for (const entry of this.#store.list("pods", `${service.metadata.namespace}/`)) {
      const pod = fromStore(entry.object);
      if (!matchesLabels(labels, pod.metadata.labels) || !isReady(pod)) continue;
      const target = portOf(pod, port.targetPort ?? port.port);
      if (target !== undefined) return { host: LOOPBACK, port: target };
    }
    return undefined;
  }
}

function isReady(pod: ApiObject): boolean {
  return listAt(pod, "status", "conditions").some(({ type, status }) => type === "Ready" && status === "True");
}

function portOf(pod: ApiObject, wanted: unknown): number | undefined {
  if (typeof wanted === "number") return wanted;
  const ports = listAt(pod, "spec", "containers").flatMap((container) => listAt(container, "ports"));
  const named = ports.find(({ name }) => name === wanted)?.containerPort;
  return typeof named === "number" ? named : undefined;
}
