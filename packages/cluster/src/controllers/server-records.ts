import {
  type ApiObject,
  type Backend,
  create,
  fromStore,
  listAt,
  objectAt,
  type Requester,
  remove,
  StatusError,
  storeKey,
  type Target,
  timestamp,
  update,
} from "../registry/index.ts";
import { groupPriority } from "./api-priorities.ts";
import type { ServerPlace } from "./bootstrap.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";

const MANAGER = "kube-apiserver";
const SLICES = "endpointslices.discovery.k8s.io";
const RANGES = "servicecidrs.networking.k8s.io";
const ADDRESSES = "ipaddresses.networking.k8s.io";
const CLASSES = "priorityclasses.scheduling.k8s.io";
const API_SERVICES = "apiservices.apiregistration.k8s.io";
const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";
const LEASES = "leases.coordination.k8s.io";

/** What the server writes down about itself. */
export interface ServerInfo {
  readonly place: ServerPlace;
  /** The certificates by which clients may say who they are, PEM; empty where there are none. */
  readonly clientCa: string;
  readonly hostname: string;
}

interface Wish {
  readonly group?: string;
  readonly plural: string;
  readonly object: Record<string, unknown> & {
    readonly metadata: { readonly name: string; readonly namespace?: string };
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

/**
 * The objects that a kube-apiserver writes without being asked, besides its namespaces and its Service. Clients
 * hardly look at them, so that each kind is written when the first one does: a cluster has to start at once.
 */
export class ServerRecords implements Controller {
  readonly #context: ControllerContext;
  readonly #serverInfo: () => ServerInfo;
  /** What follows others, by its table: one after the other, so that none sees half of what another does. */
  readonly #queue: WorkQueue;
  readonly #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext, serverInfo: () => ServerInfo) {
    // What the server writes itself passes no admission.
    const admission = {
      mutate: async (attributes: { object?: ApiObject | undefined }) => attributes.object,
      validate: async () => {},
    };
    this.#context = { ...context, backend: { ...context.backend, admission } };
    this.#serverInfo = serverInfo;
    this.#queue = new WorkQueue(context.backend, "the keeper of the server's own records", (table) =>
      table === ADDRESSES ? this.#addresses() : this.#apiServices(),
    );
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { provisions, store } = this.#context.backend;
    const provide = (table: string, fill: () => Promise<void>) => provisions?.set(table, fill);
    provide("endpoints", () => this.#all([endpointsOf(this.#serverInfo())]));
    provide(SLICES, () => this.#all([sliceOf(this.#serverInfo())]));
    provide(RANGES, () => this.#all([rangeOf(this.#serverInfo(), this.#now())]));
    provide(CLASSES, () => this.#all(PRIORITY_CLASSES));
    provide("configmaps", () => this.#all(configMapsOf(this.#serverInfo(), this.#now())));
    provide(LEASES, () => this.#all([leaseOf(this.#serverInfo(), this.#now(), this.#context.backend.uuid())]));
    provide(ADDRESSES, async () => {
      await this.#addresses();
      this.#stopWatching.push(store.watch("services", store.revision, () => this.#queue.add(ADDRESSES)));
    });
    provide(API_SERVICES, async () => {
      await this.#apiServices();
      this.#stopWatching.push(store.watch(DEFINITIONS, store.revision, () => this.#queue.add(API_SERVICES)));
    });
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  #now(): number {
    return this.#context.backend.clock.now();
  }

  async #all(wishes: readonly Wish[]): Promise<void> {
    for (const wish of wishes) await put(this.#context, wish);
  }

  /** An IPAddress for each address of a Service, and none for those that no Service has any more. */
  async #addresses(): Promise<void> {
    const { store } = this.#context.backend;
    const wanted = new Map<string, Wish>();
    for (const entry of store.list("services")) {
      const service = fromStore(entry.object);
      for (const address of (objectAt(service, "spec").clusterIPs ?? []) as string[]) {
        if (address !== "None") wanted.set(address, addressOf(service, address));
      }
    }
    for (const entry of store.list(ADDRESSES)) {
      const { name, labels = {} } = fromStore(entry.object).metadata;
      const own = labels["ipaddress.kubernetes.io/managed-by"] === ALLOCATOR;
      if (own && !wanted.has(name)) await drop(this.#context, "networking.k8s.io", "ipaddresses", name);
    }
    for (const [address, wish] of wanted) if (!store.get(ADDRESSES, address)) await put(this.#context, wish);
  }

  /** An APIService for each group and version, and none for those of definitions that are gone. */
  async #apiServices(): Promise<void> {
    const { store, catalog } = this.#context.backend;
    const now = this.#now();
    const wanted = new Map<string, Wish>();
    const add = (wish: Wish) => wanted.set(wish.object.metadata.name, wish);
    for (const { group, versions } of catalog.groups()) {
      for (const version of versions) {
        const priority = groupPriority(group, version);
        if (priority) add(apiServiceOf(group, version, priority, "onstart", now));
      }
    }
    for (const entry of store.list(DEFINITIONS)) {
      const definition = fromStore(entry.object);
      const group = String(objectAt(definition, "spec").group);
      for (const { name, served } of listAt(definition, "spec", "versions")) {
        if (served !== false) add(apiServiceOf(group, String(name), [1_000, 100], "true", now));
      }
    }
    for (const entry of store.list(API_SERVICES)) {
      const { name, labels = {} } = fromStore(entry.object).metadata;
      if (labels[MANAGED] === "true" && !wanted.has(name)) {
        await drop(this.#context, "apiregistration.k8s.io", "apiservices", name);
      }
    }
    for (const [name, wish] of wanted) if (!store.get(API_SERVICES, name)) await put(this.#context, wish);
  }
}

const options = { dryRun: false, fieldManager: MANAGER, fieldValidation: "Ignore" } as const;

/** Writes an object as it shall be; one that is there from before is brought up to date. */
async function put(
  { backend, requester }: ControllerContext,
  { group = "", plural, object, status }: Wish,
): Promise<void> {
  const target = targetOf(backend, group, plural, object.metadata);
  if (!target) return;
  const key = storeKey(object.metadata.namespace, object.metadata.name);
  const fresh = structuredClone(object) as unknown as ApiObject;
  if (!backend.store.get(target.endpoint.resource.table, key)) {
    await create(backend, requester, { ...target, name: undefined }, fresh, options);
  } else {
    const { metadata, ...content } = fresh;
    const next = (current: ApiObject) => ({
      ...structuredClone(current),
      ...content,
      metadata: { ...structuredClone(current.metadata), ...metadata },
    });
    await attempt(() => update(backend, requester, target, options, { by: "patch", tracked: false, next }));
  }
  if (!status) return;
  const next = (current: ApiObject) => ({ ...structuredClone(current), status: structuredClone(status) });
  const inStatus = { ...target, subresource: "status" };
  await attempt(() => update(backend, requester, inStatus, options, { by: "patch", tracked: false, next }));
}

async function drop(
  { backend, requester }: ControllerContext,
  group: string,
  plural: string,
  name: string,
): Promise<void> {
  const target = targetOf(backend, group, plural, { name });
  if (target) await attempt(() => remove(backend, requester as Requester, target, { dryRun: false }));
}

/** A client that deletes or changes the object meanwhile has the last word. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StatusError && [404, 409, 422].includes(error.code))) throw error;
  }
}

function targetOf(
  backend: Backend,
  group: string,
  plural: string,
  { name, namespace }: { readonly name: string; readonly namespace?: string },
): Target | undefined {
  const endpoint = backend.catalog.storage(group, plural);
  return endpoint && { endpoint, namespace, name, subresource: undefined };
}

const PLACE = { name: "kubernetes", namespace: "default" } as const;
const isV6 = (address: string): boolean => address.includes(":");

function endpointsOf({ place: { address, port } }: ServerInfo): Wish {
  return {
    plural: "endpoints",
    object: {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { ...PLACE, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
      subsets: [{ addresses: [{ ip: address }], ports: [{ name: "https", port, protocol: "TCP" }] }],
    },
  } as Wish;
}

function sliceOf({ place: { address, port } }: ServerInfo): Wish {
  return {
    group: "discovery.k8s.io",
    plural: "endpointslices",
    object: {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...PLACE, labels: { "kubernetes.io/service-name": "kubernetes" } },
      addressType: isV6(address) ? "IPv6" : "IPv4",
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: "https", port, protocol: "TCP" }],
    },
  } as Wish;
}

function rangeOf({ place }: ServerInfo, now: number): Wish {
  const ready = trueSince(now, "Ready", "", "Kubernetes default Service CIDR is ready");
  return {
    group: "networking.k8s.io",
    plural: "servicecidrs",
    object: {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      metadata: { name: "kubernetes" },
      spec: { cidrs: [place.range.cidr] },
    },
    status: { conditions: [ready] },
  };
}

/** A condition that holds from the start. */
function trueSince(now: number, type: string, reason: string, message: string) {
  return { type, status: "True", lastTransitionTime: timestamp(now), reason, message };
}

const ALLOCATOR = "ipallocator.k8s.io";

function addressOf(service: ApiObject, address: string): Wish {
  const { name, namespace } = service.metadata;
  return {
    group: "networking.k8s.io",
    plural: "ipaddresses",
    object: {
      apiVersion: "networking.k8s.io/v1",
      kind: "IPAddress",
      metadata: {
        name: address,
        labels: {
          "ipaddress.kubernetes.io/ip-family": isV6(address) ? "IPv6" : "IPv4",
          "ipaddress.kubernetes.io/managed-by": ALLOCATOR,
        },
      },
      spec: { parentRef: { group: "", resource: "services", namespace, name } },
    },
  } as Wish;
}

const PRIORITY_CLASSES: readonly Wish[] = (
  [
    [
      "system-node-critical",
      2_000_001_000,
      "Used for system critical pods that must not be moved from their current node.",
    ],
    [
      "system-cluster-critical",
      2_000_000_000,
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ],
  ] as const
).map(([name, value, description]) => ({
  group: "scheduling.k8s.io",
  plural: "priorityclasses",
  object: { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value, description },
}));

function configMapsOf({ clientCa }: ServerInfo, now: number): Wish[] {
  const map = (name: string, data: Record<string, string>): Wish => ({
    plural: "configmaps",
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "kube-system" }, data },
  });
  return [
    ...(clientCa === "" ? [] : [map("extension-apiserver-authentication", { "client-ca-file": clientCa })]),
    map("kube-apiserver-legacy-service-account-token-tracking", { since: timestamp(now).slice(0, 10) }),
  ];
}

function leaseOf({ hostname }: ServerInfo, now: number, uuid: string): Wish {
  // One server has one name, each time that it starts.
  const name = `apiserver-${hostname.toLowerCase().replace(/[^a-z0-9-]/g, "-")}`.slice(0, 63).replace(/-+$/, "");
  return {
    group: "coordination.k8s.io",
    plural: "leases",
    object: {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name,
        namespace: "kube-system",
        labels: { "apiserver.kubernetes.io/identity": MANAGER, "kubernetes.io/hostname": hostname },
      },
      spec: {
        holderIdentity: `${name}_${uuid}`,
        leaseDurationSeconds: 3_600,
        renewTime: new Date(now).toISOString().replace("Z", "000Z"),
      },
    },
  } as Wish;
}

const MANAGED = "kube-aggregator.kubernetes.io/automanaged";

function apiServiceOf(
  group: string,
  version: string,
  [groupPriorityMinimum, versionPriority]: readonly [number, number],
  managed: string,
  now: number,
): Wish {
  const available = trueSince(now, "Available", "Local", "Local APIServices are always available");
  return {
    group: "apiregistration.k8s.io",
    plural: "apiservices",
    object: {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `${version}.${group}`, labels: { [MANAGED]: managed } },
      spec: { ...(group === "" ? {} : { group }), version, groupPriorityMinimum, versionPriority },
    },
    status: { conditions: [available] },
  } as Wish;
}
