import type { corev1, discoveryv1 } from "@lotse/client/kinds";
import type { LabelSelector } from "@lotse/client/meta";
import { canonical } from "../hash.ts";
import { isFinished, isReady } from "../pods.ts";
import { controllerReference, type EndpointSlice, isDeleting, type Pod, SERVICES, type Service } from "../tables.ts";

const HEADLESS = "service.kubernetes.io/headless";
const SLICE_SERVICE = "kubernetes.io/service-name";
const SLICE_MANAGER = "endpointslice.kubernetes.io/managed-by";
/** By this label the controller knows its own slices. */
export const SLICE_CONTROLLER = "endpointslice-controller.k8s.io";
const ENDPOINTS_MANAGER = "endpoints.kubernetes.io/managed-by";
const MOST_IN_SLICE = 100;
const MOST_IN_ENDPOINTS = 1_000;

type Port = Pick<corev1.ServicePort, "name" | "protocol" | "appProtocol"> & { readonly port: number };

/** The number of a pod's port that a service's port leads to; undefined when the pod has none of that name. */
export function findPort(pod: Pod, { targetPort, port, protocol }: corev1.ServicePort): number | undefined {
  if (typeof targetPort !== "string") return targetPort ?? port;
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...pod.spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((one) => one.name === targetPort && (one.protocol ?? "TCP") === (protocol ?? "TCP"))?.containerPort;
}

function portsOf(service: Service, pod: Pod): Port[] {
  return (service.spec.ports ?? []).flatMap((one) => {
    const port = findPort(pod, one);
    if (port === undefined) return [];
    const { name, protocol = "TCP", appProtocol } = one;
    return [{ ...(name ? { name } : {}), protocol, ...(appProtocol ? { appProtocol } : {}), port }];
  });
}

const isHeadless = ({ spec }: Service): boolean => !spec.clusterIP || spec.clusterIP === "None";

/** Whether a pod can be reached at all. */
const isReachable = (pod: Pod): boolean => !isFinished(pod) && Boolean(pod.status?.podIP);

function hostnameOf(service: Service, pod: Pod): string | undefined {
  const { hostname, subdomain } = pod.spec;
  return hostname && subdomain === service.metadata.name ? hostname : undefined;
}

const targetRef = ({ metadata }: Pod): corev1.ObjectReference => ({
  kind: "Pod",
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  name: metadata.name,
  uid: metadata.uid,
});

/** Pure: the addresses behind a service, those with the same ports together. */
export function endpointSubsets(service: Service, pods: readonly Pod[]): corev1.EndpointSubset[] {
  const unready = service.spec.publishNotReadyAddresses === true;
  const groups = new Map<string, { ports: Port[]; ready: corev1.EndpointAddress[]; other: corev1.EndpointAddress[] }>();
  for (const pod of pods) {
    if (!isReachable(pod) || (isDeleting(pod) && !unready)) continue;
    const ports = portsOf(service, pod);
    if (ports.length === 0 && !(isHeadless(service) && !service.spec.ports?.length)) continue;
    const key = canonical(ports);
    const group = groups.get(key) ?? { ports, ready: [], other: [] };
    groups.set(key, group);
    const hostname = hostnameOf(service, pod);
    const address: corev1.EndpointAddress = {
      ip: pod.status?.podIP ?? "",
      ...(hostname ? { hostname } : {}),
      ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
      targetRef: targetRef(pod),
    };
    (unready || isReady(pod) ? group.ready : group.other).push(address);
  }
  const byIp = (a: corev1.EndpointAddress, b: corev1.EndpointAddress) => (a.ip < b.ip ? -1 : a.ip > b.ip ? 1 : 0);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, ready, other }]) => ({
      ...(ready.length > 0 ? { addresses: ready.sort(byIp) } : {}),
      ...(other.length > 0 ? { notReadyAddresses: other.sort(byIp) } : {}),
      ...(ports.length > 0 ? { ports } : {}),
    }));
}

/**
 * Pure: no more addresses than Endpoints can carry, those that are ready first, each subset giving its share. Undefined
 * when there are few enough.
 */
export function truncateSubsets(subsets: readonly corev1.EndpointSubset[]): corev1.EndpointSubset[] | undefined {
  const count = (key: "addresses" | "notReadyAddresses") =>
    subsets.reduce((total, subset) => total + (subset[key]?.length ?? 0), 0);
  const [ready, other] = [count("addresses"), count("notReadyAddresses")];
  if (ready + other <= MOST_IN_ENDPOINTS) return undefined;
  const key = ready > MOST_IN_ENDPOINTS ? "addresses" : "notReadyAddresses";
  const [room, total] = key === "addresses" ? [MOST_IN_ENDPOINTS, ready] : [MOST_IN_ENDPOINTS - ready, other];
  let left = room;
  return subsets.map(({ addresses = [], notReadyAddresses = [], ...subset }) => {
    const all = key === "addresses" ? addresses : notReadyAddresses;
    const kept = all.slice(0, Math.min(left, Math.ceil((all.length / total) * room)));
    left -= kept.length;
    const some = key === "addresses" ? { addresses: kept } : { addresses, notReadyAddresses: kept };
    return { ...Object.fromEntries(Object.entries(some).filter(([, list]) => list.length > 0)), ...subset };
  });
}

/** The labels that the Endpoints of a service carry. */
export function endpointLabels(service: Service): Record<string, string> {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {};
  return { ...labels, [ENDPOINTS_MANAGER]: "endpoint-controller", ...(isHeadless(service) ? { [HEADLESS]: "" } : {}) };
}

/** What one slice should hold; `known` is the slice that holds most of it already. */
export interface SliceDraft {
  readonly known: EndpointSlice | undefined;
  readonly object: EndpointSlice;
}

/** Pure: the slices of a service, and those that it needs no more. At least one, even when nothing is behind it. */
export function planSlices(
  service: Service,
  pods: readonly Pod[],
  existing: readonly EndpointSlice[],
): { readonly drafts: readonly SliceDraft[]; readonly remove: readonly EndpointSlice[] } {
  const groups = new Map<string, { ports: Port[]; endpoints: discoveryv1.Endpoint[] }>();
  for (const pod of pods) {
    if (!isReachable(pod)) continue;
    const ports = portsOf(service, pod);
    const key = canonical(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    group.endpoints.push(endpointOf(service, pod));
  }
  if (groups.size === 0) groups.set("", { ports: [], endpoints: [] });
  const finder = new SliceFinder(existing);
  const drafts: SliceDraft[] = [];
  for (const { ports, endpoints } of groups.values()) {
    for (const part of chunks(endpoints, MOST_IN_SLICE)) {
      drafts.push({ known: finder.take(ports, part), object: sliceOf(service, ports, part) });
    }
  }
  return { drafts, remove: finder.left };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  if (items.length === 0) return [[]];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Finds, for endpoints that belong together, the slice with the same ports that shares most of them. */
class SliceFinder {
  readonly #left: Map<EndpointSlice, string>;
  readonly #places = new Map<string, EndpointSlice>();

  constructor(slices: readonly EndpointSlice[]) {
    this.#left = new Map(slices.map((slice) => [slice, canonical(slice.ports ?? [])]));
    for (const slice of slices) {
      for (const { targetRef } of slice.endpoints ?? []) if (targetRef?.uid) this.#places.set(targetRef.uid, slice);
    }
  }

  /** Those that no endpoints have taken. */
  get left(): EndpointSlice[] {
    return [...this.#left.keys()];
  }

  /** Any other, when none has the same ports. */
  take(ports: readonly Port[], endpoints: readonly discoveryv1.Endpoint[]): EndpointSlice | undefined {
    const shared = new Map<EndpointSlice, number>();
    for (const { targetRef } of endpoints) {
      const slice = this.#places.get(targetRef?.uid ?? "");
      if (slice) shared.set(slice, (shared.get(slice) ?? 0) + 1);
    }
    const wanted = canonical(slicePorts(ports));
    let best: EndpointSlice | undefined;
    let most = -1;
    for (const [slice, known] of this.#left) {
      const score = (known === wanted ? MOST_IN_SLICE + 1 : 0) + (shared.get(slice) ?? 0);
      if (score > most) [best, most] = [slice, score];
    }
    if (best) this.#left.delete(best);
    return best;
  }
}

const slicePorts = (ports: readonly Port[]) => ports.map(({ name = "", ...rest }) => ({ name, ...rest }));

function endpointOf(service: Service, pod: Pod): discoveryv1.Endpoint {
  const [serving, terminating] = [isReady(pod), isDeleting(pod)];
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameOf(service, pod);
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: { ready, serving, terminating },
    ...(hostname ? { hostname } : {}),
    targetRef: targetRef(pod),
    ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
  };
}

function sliceOf(service: Service, ports: readonly Port[], endpoints: readonly discoveryv1.Endpoint[]): EndpointSlice {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {};
  const slice = {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      generateName: `${service.metadata.name}-`,
      namespace: service.metadata.namespace,
      labels: {
        ...labels,
        ...(isHeadless(service) ? { [HEADLESS]: "" } : {}),
        [SLICE_SERVICE]: service.metadata.name,
        [SLICE_MANAGER]: SLICE_CONTROLLER,
      },
      ownerReferences: [controllerReference(SERVICES, service)],
    },
    addressType: "IPv4",
    // A real server shows lists that must be there, and are empty, as null.
    endpoints: endpoints.length > 0 ? endpoints : null,
    ports: ports.length > 0 ? slicePorts(ports) : null,
  };
  return structuredClone(slice) as unknown as EndpointSlice;
}

/** Matches the slices that say they are about the service, also those that another controller keeps. */
export const slicesOf = (service: Service): LabelSelector => [
  { key: SLICE_SERVICE, operator: "=", values: [service.metadata.name] },
];

/** Whether a slice is one that this controller keeps for the service. */
export const isSliceOf = (service: Service, { metadata }: EndpointSlice): boolean =>
  metadata.labels?.[SLICE_SERVICE] === service.metadata.name && metadata.labels[SLICE_MANAGER] === SLICE_CONTROLLER;

/** The service that a slice belongs to. */
export const serviceOf = ({ metadata }: EndpointSlice): string | undefined =>
  metadata.labels?.[SLICE_MANAGER] === SLICE_CONTROLLER ? metadata.labels[SLICE_SERVICE] : undefined;
