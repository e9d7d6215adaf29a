import type { corev1, discoveryv1 } from "@lotse/client/kinds";
import { deepEqual } from "@lotse/client/meta";
import { parseStoreKey, storeKey } from "../../../registry/index.ts";
import type { Watch, Workload } from "../engine.ts";
import { canonical } from "../hash.ts";
import {
  controllerReference,
  ENDPOINTS,
  type EndpointSlice,
  type Endpoints,
  isDeleting,
  SERVICES,
  type Service,
  SLICES,
} from "../tables.ts";
import { keyOf, type WorkloadApi } from "../workload-api.ts";

const CONTROLLER = "endpointslicemirroring-controller.k8s.io";
const SLICE_SERVICE = "kubernetes.io/service-name";
const SLICE_MANAGER = "endpointslice.kubernetes.io/managed-by";
const SKIP = "endpointslice.kubernetes.io/skip-mirror";
const LEADER = "control-plane.alpha.kubernetes.io/leader";
/** Annotations that say something about the Endpoints themselves, and not about what is in them. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration",
]);
const MOST_IN_SUBSET = 1_000;

/** Whether Endpoints are of the kind that is mirrored, if their service has no selector. */
export const isMirrored = ({ metadata }: Pick<Endpoints, "metadata">): boolean =>
  metadata.labels?.[SKIP] !== "true" && metadata.annotations?.[LEADER] === undefined;

/** Endpoints that a user wrote by hand for a service without a selector, once more as EndpointSlices. */
export function endpointMirror(api: WorkloadApi): Workload {
  return {
    table: ENDPOINTS.name,
    watches: [services, mirrors],
    async reconcile(key) {
      const { namespace = "", name } = parseStoreKey(key);
      const selector = [
        { key: SLICE_SERVICE, operator: "=" as const, values: [name] },
        { key: SLICE_MANAGER, operator: "=" as const, values: [CONTROLLER] },
      ];
      const existing = api.select(SLICES, namespace, selector);
      const endpoints = api.read(ENDPOINTS, key);
      const service = api.read(SERVICES, key);
      const mirrored = endpoints && service && service.spec.selector === undefined && isMirrored(endpoints);
      const { drafts, remove, skipped } = mirrored
        ? planMirrors(endpoints, existing)
        : { drafts: [], remove: existing, skipped: 0 };
      if (endpoints && skipped > 0) {
        const most = `A max of ${MOST_IN_SUBSET} addresses can be mirrored to EndpointSlices per Endpoints subset.`;
        await api.event(endpoints, "Warning", "TooManyAddressesToMirror", `${most} ${skipped} addresses were skipped`);
      }
      for (const { known, object } of drafts) {
        if (known) await api.change(SLICES, known, (current) => updated(current, object));
        else if (endpoints && !isDeleting(endpoints)) await api.create(SLICES, object);
      }
      for (const slice of remove) await api.remove(SLICES, slice);
      return undefined;
    },
  };
}

/** A service that comes, goes, gets a selector or loses it decides about the Endpoints of its name. */
const services: Watch = {
  table: SERVICES.name,
  wakes: ({ type, object, previous }) => {
    const bare = (service: Service) => service.spec.selector === undefined;
    const now = bare(object as Service);
    const changed = type === "updated" && previous !== undefined && bare(previous as Service) !== now;
    return changed || (type !== "updated" && now) ? [keyOf(object)] : [];
  },
};

/** A client that changes a mirror finds it put right. */
const mirrors: Watch = {
  table: SLICES.name,
  wakes: ({ object: { metadata } }) => {
    const { [SLICE_MANAGER]: manager, [SLICE_SERVICE]: service } = metadata.labels ?? {};
    return manager === CONTROLLER && service ? [storeKey(metadata.namespace, service)] : [];
  },
};

function updated(current: EndpointSlice, { metadata, endpoints, ports }: EndpointSlice): EndpointSlice {
  const { annotations: _, ...rest } = current.metadata;
  const { labels, annotations, ownerReferences } = metadata;
  return {
    ...current,
    metadata: {
      ...rest,
      ...(annotations && { annotations }),
      ...(labels && { labels }),
      ...(ownerReferences && { ownerReferences }),
    },
    endpoints,
    ports,
  } as EndpointSlice;
}

interface Mirrors {
  readonly drafts: readonly { readonly known: EndpointSlice | undefined; readonly object: EndpointSlice }[];
  readonly remove: readonly EndpointSlice[];
  /** How many addresses did not fit. */
  readonly skipped: number;
}

/** Pure: a slice for each set of ports and each family of addresses; those that are right already are left out. */
export function planMirrors(endpoints: Endpoints, existing: readonly EndpointSlice[]): Mirrors {
  const { groups, skipped } = groupAddresses(endpoints);
  const left = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const key = groupKey(slice.addressType, (slice.ports ?? []) as Ports);
    left.set(key, [...(left.get(key) ?? []), slice]);
  }
  const drafts: { known: EndpointSlice | undefined; object: EndpointSlice }[] = [];
  for (const [key, group] of groups) {
    const known = left.get(key)?.shift();
    const object = mirrorOf(endpoints, group);
    if (!known || !isSame(known, object)) drafts.push({ known, object });
  }
  // One that is not needed any more becomes what would have to be made.
  const spare = [...left.values()].flat();
  for (const draft of drafts) {
    const fitting = spare.findIndex((slice) => slice.addressType === draft.object.addressType);
    if (!draft.known && fitting >= 0) draft.known = spare.splice(fitting, 1)[0];
  }
  return { drafts, remove: spare, skipped };
}

type Ports = readonly discoveryv1.EndpointPort[];

interface Group {
  readonly family: "IPv4" | "IPv6";
  readonly ports: Ports;
  readonly endpoints: Map<string, discoveryv1.Endpoint>;
}

const groupKey = (family: string, ports: Ports): string => `${family} ${canonical([...ports].map(canonical).sort())}`;

function groupAddresses({ subsets = [] }: Endpoints): { groups: Map<string, Group>; skipped: number } {
  const groups = new Map<string, Group>();
  let skipped = 0;
  for (const { addresses = [], notReadyAddresses = [], ports: given = [] } of subsets) {
    const ports = given.map(({ name = "", protocol = "TCP", port, appProtocol }) => ({
      name,
      protocol,
      port,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    }));
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    skipped += Math.max(0, all.length - MOST_IN_SUBSET);
    for (const { address, ready } of all.slice(0, MOST_IN_SUBSET)) {
      const family = address.ip.includes(":") ? "IPv6" : "IPv4";
      const key = groupKey(family, ports);
      const group = groups.get(key) ?? { family, ports, endpoints: new Map() };
      groups.set(key, group);
      group.endpoints.set(`${address.ip} ${address.hostname ?? ""}`, mirroredEndpoint(address, ready));
    }
  }
  return { groups, skipped };
}

function mirroredEndpoint(address: corev1.EndpointAddress, ready: boolean): discoveryv1.Endpoint {
  const { ip, hostname, nodeName, targetRef } = address;
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef ? { targetRef } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

function mirrorOf(endpoints: Endpoints, { family, ports, endpoints: found }: Group): EndpointSlice {
  const { name, namespace, labels, annotations = {} } = endpoints.metadata;
  const kept = Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  const slice = {
    apiVersion: SLICES.apiVersion,
    kind: SLICES.kind,
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: { ...labels, [SLICE_SERVICE]: name, [SLICE_MANAGER]: CONTROLLER },
      ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}),
      ownerReferences: [controllerReference(ENDPOINTS, endpoints)],
    },
    addressType: family,
    endpoints: [...found.values()],
    ports: ports.length > 0 ? ports : null,
  };
  return structuredClone(slice) as unknown as EndpointSlice;
}

function isSame(known: EndpointSlice, wanted: EndpointSlice): boolean {
  return (
    deepEqual(known.endpoints ?? [], wanted.endpoints ?? []) &&
    deepEqual(known.ports ?? [], wanted.ports ?? []) &&
    deepEqual(known.metadata.labels ?? {}, wanted.metadata.labels ?? {}) &&
    deepEqual(known.metadata.annotations ?? {}, wanted.metadata.annotations ?? {})
  );
}
