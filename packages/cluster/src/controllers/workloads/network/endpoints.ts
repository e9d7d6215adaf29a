import { deepEqual } from "@lotse/client/meta";
import { storeKey } from "../../../registry/index.ts";
import { matcher, requirementsOf } from "../claim.ts";
import type { Watch, Workload } from "../engine.ts";
import {
  ENDPOINTS,
  type EndpointSlice,
  type Endpoints,
  isDeleting,
  PODS,
  type Pod,
  SERVICES,
  type Service,
  SLICES,
} from "../tables.ts";
import { keyOf, type WorkloadApi } from "../workload-api.ts";
import {
  endpointLabels,
  endpointSubsets,
  isSliceOf,
  planSlices,
  type SliceDraft,
  serviceOf,
  slicesOf,
  truncateSubsets,
} from "./endpoint-plan.ts";

const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
const LAST_CHANGE = "endpoints.kubernetes.io/last-change-trigger-time";

/**
 * Endpoints and EndpointSlices: which pods are behind a service. The endpoints of a service without a selector are its
 * user's to write.
 */
export function endpoints(api: WorkloadApi): Workload {
  return {
    table: SERVICES.name,
    watches: [podsBehind(), slices, ownEndpoints],
    weigh: (key) => {
      const service = api.read(SERVICES, key);
      const requirements = requirementsOf(service?.spec.selector);
      return requirements ? api.weigh(PODS, service?.metadata.namespace, requirements) : 0;
    },
    async reconcile(key) {
      const service = api.read(SERVICES, key);
      if (!service) return forget(api, key);
      const { selector, type } = service.spec;
      if (!selector || type === "ExternalName" || isDeleting(service)) return undefined;
      const { namespace } = service.metadata;
      const requirements = requirementsOf(selector);
      const pods = requirements ? api.select(PODS, namespace, requirements) : [];
      await writeEndpoints(api, service, pods);
      const existing = api.select(SLICES, namespace, slicesOf(service)).filter((slice) => isSliceOf(service, slice));
      const { drafts, remove } = planSlices(service, pods, existing);
      for (const draft of drafts) await writeSlice(api, draft, triggerTime(service, pods));
      for (const slice of remove) await api.remove(SLICES, slice);
      return undefined;
    },
  };
}

/** Every change of a pod asks every service of its namespace: what their selectors say is read once. */
function podsBehind(): Watch {
  const known = new WeakMap<object, ReturnType<typeof matcher>>();
  const matcherOf = (selector: NonNullable<Service["spec"]["selector"]>) => {
    const found = known.get(selector) ?? matcher(selector);
    known.set(selector, found);
    return found;
  };
  return {
    table: PODS.name,
    wakes: ({ object, previous }, api) =>
      api
        .list(SERVICES, object.metadata.namespace)
        .filter(({ spec: { selector } }) => {
          if (!selector) return false;
          const matches = matcherOf(selector);
          return matches(object.metadata.labels) || (previous !== undefined && matches(previous.metadata.labels));
        })
        .map(keyOf),
  };
}

/** A client that changes a slice of ours finds it put right. */
const slices: Watch = {
  table: SLICES.name,
  wakes: ({ object }, api) => {
    const key = storeKey(object.metadata.namespace, serviceOf(object as EndpointSlice) ?? "");
    return api.read(SERVICES, key) ? [key] : [];
  },
};

const ownEndpoints: Watch = {
  table: ENDPOINTS.name,
  wakes: ({ object }, api) => (api.read(SERVICES, keyOf(object)) ? [keyOf(object)] : []),
};

/** Slices are owned by their service and go with it; Endpoints only share its name. */
async function forget(api: WorkloadApi, key: string): Promise<undefined> {
  const found = api.read(ENDPOINTS, key);
  if (found) await api.remove(ENDPOINTS, found);
  return undefined;
}

/** When the last thing happened that changes what is behind the service. */
function triggerTime(service: Service, pods: readonly Pod[]): string | undefined {
  const times = pods.flatMap(({ status }) => {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.lastTransitionTime ?? [];
  });
  const own = service.metadata.creationTimestamp;
  return [...times, ...(own ? [own] : [])].sort().at(-1);
}

async function writeEndpoints(api: WorkloadApi, service: Service, pods: readonly Pod[]): Promise<void> {
  const { name, namespace } = service.metadata;
  const all = endpointSubsets(service, pods);
  const some = truncateSubsets(all);
  const subsets = some ?? all;
  const labels = endpointLabels(service);
  const found = api.read(ENDPOINTS, keyOf(service));
  const time = triggerTime(service, pods);
  const { [OVER_CAPACITY]: _, ...known } = found?.metadata.annotations ?? {};
  const annotations = {
    ...known,
    ...(time ? { [LAST_CHANGE]: time } : {}),
    ...(some ? { [OVER_CAPACITY]: "truncated" } : {}),
  };
  if (!found) {
    const made = {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name, namespace, labels, annotations },
      ...(subsets.length > 0 ? { subsets } : {}),
    };
    await api.create(ENDPOINTS, made as unknown as Endpoints);
    return;
  }
  if (deepEqual(found.subsets ?? [], subsets) && deepEqual(found.metadata.labels, labels)) return;
  await api.change(ENDPOINTS, found, ({ subsets: __, ...current }) => {
    const next = { ...current, metadata: { ...current.metadata, labels, annotations } };
    return (subsets.length > 0 ? { ...next, subsets } : next) as Endpoints;
  });
}

async function writeSlice(api: WorkloadApi, { known, object }: SliceDraft, time: string | undefined): Promise<void> {
  const stamp: Record<string, string> = time ? { [LAST_CHANGE]: time } : {};
  if (!known) {
    await api.create(SLICES, { ...object, metadata: { ...object.metadata, annotations: stamp } });
    return;
  }
  const same =
    deepEqual(known.endpoints ?? [], object.endpoints ?? []) &&
    deepEqual(known.ports ?? [], object.ports ?? []) &&
    deepEqual(known.metadata.labels, object.metadata.labels);
  if (same) return;
  await api.change(SLICES, known, (current) => {
    const { endpoints, ports } = object;
    const annotations = { ...current.metadata.annotations, ...stamp };
    const metadata = { ...current.metadata, labels: { ...object.metadata.labels }, annotations };
    return { ...current, metadata, endpoints, ports } as EndpointSlice;
  });
}
