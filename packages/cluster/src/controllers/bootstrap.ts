import {
  type ApiObject,
  objectAt,
  type ServiceRange,
  storeKey,
  type Target,
  timestamp,
  toStore,
  update,
} from "../registry/index.ts";
import type { ControllerContext } from "./controller.ts";
import { knownOwner } from "./known-owner.ts";

const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"] as const;
const MANAGER = "kube-apiserver";
const SERVICE_PLACE = { namespace: "default", name: "kubernetes" } as const;

const OWNED_BY_SERVER = {
  Namespace: { "f:metadata": { "f:labels": { ".": {}, "f:kubernetes.io/metadata.name": {} } } },
  Service: {
    "f:metadata": { "f:labels": { ".": {}, "f:component": {}, "f:provider": {} } },
    "f:spec": {
      "f:clusterIP": {},
      "f:clusterIPs": {},
      "f:internalTrafficPolicy": {},
      "f:ports": {
        ".": {},
        'k:{"port":443,"protocol":"TCP"}': {
          ".": {},
          "f:name": {},
          "f:port": {},
          "f:protocol": {},
          "f:targetPort": {},
        },
      },
      "f:sessionAffinity": {},
      "f:type": {},
    },
  },
} as const;

/** Where the API server is. */
export interface ServerPlace {
  /** The address that it is reached at. */
  readonly address: string;
  readonly port: number;
  /** The range of addresses of Services. */
  readonly range: ServiceRange;
}

/**
 * Writes what is there before the first client comes: the first namespaces, and the server itself as a Service. They
 * are written as they come to lie in the store, with all defaults: to find those out takes longer than all the rest of
 * the start. In a cluster that was kept they are there already, except that the server may listen elsewhere now.
 */
export async function bootstrap(context: ControllerContext, { port, range }: ServerPlace): Promise<void> {
  for (const name of NAMESPACES) {
    write(context, "namespaces", {
      kind: "Namespace",
      metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  }
  const ports = [{ name: "https", protocol: "TCP", port: 443, targetPort: port }];
  const written = write(context, "services", {
    kind: "Service",
    metadata: { ...SERVICE_PLACE, labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      clusterIP: range.first,
      clusterIPs: [range.first],
      ports,
      type: "ClusterIP",
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    },
    status: { loadBalancer: {} },
  });
  if (!written) await moveService(context, ports);
}

interface FirstObject {
  readonly kind: keyof typeof OWNED_BY_SERVER;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels: Record<string, string> };
  readonly spec: unknown;
  readonly status: unknown;
}

/** False when the object is there already. */
function write({ backend }: ControllerContext, table: string, { kind, metadata, spec, status }: FirstObject): boolean {
  const { name, namespace, labels } = metadata;
  const now = backend.clock.now();
  const object = {
    kind,
    apiVersion: "v1",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid: backend.uuid(),
      resourceVersion: "",
      creationTimestamp: timestamp(now),
      labels,
      managedFields: knownOwner(MANAGER, now, OWNED_BY_SERVER[kind]),
    },
    spec,
    status,
  };
  return backend.store.create(table, storeKey(namespace, name), toStore(object as unknown as ApiObject)).ok;
}

async function moveService({ backend, requester }: ControllerContext, ports: readonly unknown[]): Promise<void> {
  const endpoint = backend.catalog.storage("", "services");
  if (!endpoint) return;
  const target: Target = { endpoint, ...SERVICE_PLACE, subresource: undefined };
  const options = { dryRun: false, fieldManager: MANAGER, fieldValidation: "Ignore" } as const;
  await update(backend, requester, target, options, {
    by: "patch",
    tracked: false,
    next: (current) => ({ ...structuredClone(current), spec: { ...objectAt(current, "spec"), ports } }),
  });
}
