/** The kind of peering objects: Kopf's, in the group that the cluster serves. */

import type { RequestOptions } from "@lotse/client";
import { type Client, describeKind, type KindDescription, NotFoundError } from "@lotse/client";

/** The second one is what old versions of Kopf have. */
const GROUPS = ["kopf.dev", "zalando.org"] as const;

/** How the kind is called. */
export function peeringNames(clusterwide: boolean): { readonly kind: string; readonly plural: string } {
  return clusterwide
    ? { kind: "ClusterKopfPeering", plural: "clusterkopfpeerings" }
    : { kind: "KopfPeering", plural: "kopfpeerings" };
}

/** The kind, as the cluster serves it; undefined when it has neither the one nor the legacy one. */
export async function findPeeringKind(
  client: Client,
  clusterwide: boolean,
  options: RequestOptions = {},
): Promise<KindDescription | undefined> {
  const { kind, plural } = peeringNames(clusterwide);
  for (const group of GROUPS) {
    const names = await resourcesOf(client, `${group}/v1`, options);
    if (!names.includes(plural)) continue;
    const subresources = names.includes(`${plural}/status`) ? ["status"] : [];
    return describeKind({ group, version: "v1", kind, plural, namespaced: !clusterwide, subresources });
  }
  return undefined;
}

async function resourcesOf(client: Client, apiVersion: string, options: RequestOptions): Promise<readonly string[]> {
  try {
    const answer = await client.raw({ ...options, method: "GET", path: `/apis/${apiVersion}` });
    const { resources } = await answer.json<{ resources?: readonly { readonly name: string }[] }>();
    return resources?.map(({ name }) => name) ?? [];
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}
