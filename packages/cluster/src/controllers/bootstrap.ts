import { API_SERVER_IP, type ApiObject, create, type Target } from "../registry/index.ts";
import type { ControllerContext } from "./controller.ts";

const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"] as const;
const WRITE = { dryRun: false, fieldManager: "kube-apiserver", fieldValidation: "Ignore" } as const;

/** Writes what is there before anybody comes: the first namespaces, and the server itself as a Service. */
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
  await create(backend, scope, target, object as unknown as ApiObject, WRITE);
}
