/** The definitions of peering objects, as users of Kopf have them, and of the legacy group. */
import type { Client, KubeBody } from "@lotse/client";

/** One definition. */
export function peeringCrd(clusterwide: boolean, group = "kopf.dev", hasStatus = false): KubeBody {
  const kind = clusterwide ? "ClusterKopfPeering" : "KopfPeering";
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: clusterwide ? "Cluster" : "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          ...(hasStatus && { subresources: { status: {} } }),
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
            },
          },
        },
      ],
    },
  };
}

/** A peering object. */
export function peeringObject(namespace?: string, name = "default", group = "kopf.dev"): KubeBody {
  const kind = namespace === undefined ? "ClusterKopfPeering" : "KopfPeering";
  return { apiVersion: `${group}/v1`, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

/** Creates a definition, and waits until objects of it can be made. */
export async function installPeering(client: Client, crd: KubeBody = peeringCrd(true)): Promise<void> {
  await client.create(crd);
  await client.wait("crd", crd.metadata?.name ?? "", "condition=Established", { timeout: "170s" });
}
