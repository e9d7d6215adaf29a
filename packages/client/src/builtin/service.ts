import { builtinDescription, type corev1 } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import { type GenMeta, headerOf, splitMeta } from "../objects/index.ts";
import { type PortForward, type PortForwardOptions, type PortSpec, portForward } from "../pods/index.ts";
import { NotFoundError, type RequestOptions } from "../transport/index.ts";
import { EndpointSlice } from "./generated.ts";
import { Pod } from "./pod.ts";
import { PodGroup } from "./pod-group.ts";
import type { ServiceProxy } from "./service-proxy.ts";

/** What `Service.gen` takes. */
export interface ServiceGen extends GenMeta {
  /** Which pods stand behind it. Default: the `labels`, or `{ app: <name> }`. */
  selector?: Record<string, string> | undefined;
  /** A number is the port of the service and of its pods. */
  ports: number | readonly (number | corev1.ServicePort)[];
  type?: corev1.ServiceSpec["type"] | undefined;
  clusterIP?: string | undefined;
}

/**
 * A Service.
 *
 * @example
 * ```ts
 * const service = await Service.gen({ name: "web", ports: [{ port: 80, targetPort: 8080 }] }).create();
 * const response = await service.proxy.fetch("/healthz");
 * ```
 */
export class Service extends PodGroup<corev1.Service> {
  static override readonly description = builtinDescription("", "v1", "Service");

  static gen(o: ServiceGen): Service {
    const { meta, rest } = splitMeta(o);
    const {
      selector = meta.labels ?? (meta.name === undefined ? undefined : { app: meta.name }),
      type,
      clusterIP,
    } = rest;
    const list = typeof rest.ports === "number" ? [rest.ports] : rest.ports;
    const several = list.length > 1;
    const ports = list.map((port) =>
      typeof port === "number" ? { port, ...(several && { name: `port-${port}` }) } : port,
    );
    return new Service({
      ...headerOf(Service.description),
      metadata: meta,
      spec: {
        ...(selector !== undefined && { selector }),
        ports,
        ...(type !== undefined && { type }),
        ...(clusterIP !== undefined && { clusterIP }),
      },
    } as corev1.Service);
  }

  /** The pods that the selector means; of a service without one those that its EndpointSlices name. */
  async pods(o: RequestOptions = {}): Promise<Pod[]> {
    const client = await this.connected();
    if (this.body.spec === undefined) await this.refresh(o);
    const { selector } = this.spec;
    const { namespace } = this;
    if (selector && Object.keys(selector).length > 0) {
      return client.list(Pod, { ...o, namespace, labelSelector: selector }).toArray();
    }
    const names = new Set<string>();
    const labelSelector = { "kubernetes.io/service-name": this.name };
    for await (const { body } of client.list(EndpointSlice, { ...o, namespace, labelSelector })) {
      for (const { targetRef } of body.endpoints ?? []) {
        if (targetRef?.kind === "Pod" && targetRef.name) names.add(targetRef.name);
      }
    }
    const found = await Promise.all(
      [...names].map((name) =>
        client.get(Pod, name, { ...o, namespace }).catch((error) => {
          // A slice may still name a pod that has gone a moment ago.
          if (error instanceof NotFoundError) return undefined;
          throw error;
        }),
      ),
    );
    return found.filter((pod) => pod !== undefined);
  }

  /** Reads the service anew: does a pod answer behind it, and has a load balancer its address? */
  async ready(o?: RequestOptions): Promise<boolean> {
    await this.refresh(o);
    const { type } = this.spec;
    if (type === "ExternalName") return true;
    if (type === "LoadBalancer" && !this.status?.loadBalancer?.ingress?.length) return false;
    return (await this.readyPods(o)).length > 0;
  }

  /** HTTP to the pods behind the service by way of the API server, with no forwarded port. */
  get proxy(): ServiceProxy {
    return {
      fetch: async (path, init) => {
        const { fetchThroughService } = await import("./service-proxy.ts");
        return fetchThroughService(this, path, init);
      },
    };
  }

  /** Opens local ports; a port is one of the service, by number or name, and leads to its `targetPort` in a pod. */
  override async portForward(ports: PortSpec | readonly PortSpec[], o?: PortForwardOptions): Promise<PortForward> {
    await this.refresh();
    const target = {
      pick: async () => (await this.readyPod()).access(),
      portOf: (port: number | string) => targetPortOf(this.body, port),
    };
    return portForward(target, ports, o);
  }
}

/** The port of the pods behind a port of the service: a number, or a name that the pod knows. */
export function targetPortOf({ metadata, spec }: corev1.Service, port: number | string): number | string {
  const ports = spec?.ports ?? [];
  const found = ports.find(({ port: number, name }) => number === port || name === port);
  if (!found) {
    const known = ports.map(({ port: number, name }) => (name ? `${number} (${name})` : number)).join(", ");
    throw new ConfigError(`Service ${metadata?.name} has no port ${port}`, {
      hint: `its ports are: ${known || "none"}`,
    });
  }
  return found.targetPort === undefined || found.targetPort === 0 ? found.port : found.targetPort;
}
