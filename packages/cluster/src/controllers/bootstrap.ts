import { API_SERVER_IP, type ApiObject, create, objectAt, storeKey, type Target, update } from "../registry/index.ts";
import type { ControllerContext } from "./controller.ts";
import { knownOwner } from "./known-owner.ts";

const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"] as const;
const WRITE = { dryRun: false, fieldManager: "kube-apiserver", fieldValidation: "Ignore" } as const;

const OWNED: Readonly<Record<string, unknown>> = {
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
};

/**
 * Writes what is there before anybody comes: the first namespaces, and the server itself as a Service. In a cluster that
 * was kept they are there already, except that the server may listen elsewhere now.
 */
export async function bootstrap(context: ControllerContext, port: number): Promise<void> {
  for (const name of NAMESPACES) {
    await write(context, "namespaces", undefined, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
      spec: {},
    });
  }
  await write(context, "services", "default", {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    },
    spec: {
      clusterIP: API_SERVER_IP,
      clusterIPs: [API_SERVER_IP],
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
      type: "ClusterIP",
    },
  });
}

async function write(
  { backend, scope }: ControllerContext,
  plural: string,
  namespace: string | undefined,
  object: Record<string, unknown>,
): Promise<void> {
  const endpoint = backend.catalog.storage("", plural);
  if (!endpoint) return;
  const target: Target = { endpoint, namespace, name: undefined, subresource: undefined };
  const fresh = object as unknown as ApiObject;
  const { name } = fresh.metadata;
  if (!backend.store.get(endpoint.resource.table, storeKey(namespace, name))) {
    fresh.metadata.managedFields = knownOwner(WRITE.fieldManager, backend.clock.now(), OWNED[fresh.kind]);
    await create(backend, scope, target, fresh, WRITE, true);
  } else if (fresh.kind === "Service") {
    const { ports } = objectAt(object, "spec");
    await update(backend, scope, { ...target, name }, WRITE, {
      by: "patch",
      tracked: false,
      next: (current) => ({ ...structuredClone(current), spec: { ...objectAt(current, "spec"), ports } }),
    });
  }
}
