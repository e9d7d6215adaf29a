/** Installs the CRDs of kinds made by `resource()`; writes nothing when the cluster has them already. */
import { type Client, CustomResourceDefinition, NotFoundError } from "@lotse/client";
import type { ResourceClass } from "../declare/index.ts";
import { shows } from "../reconcile/index.ts";

/** Installs the CRD of `resource` and waits until its objects can be created. Returns whether anything was written. */
export async function installCrd(
  client: Client,
  resource: ResourceClass<unknown, unknown>,
  fieldManager: string,
  signal: AbortSignal,
): Promise<boolean> {
  const crd = new CustomResourceDefinition(resource.crd(), client);
  const installed = await find(client, crd.name, signal);
  const writes = installed === undefined || !shows(installed.spec, crd.spec);
  if (writes) await crd.apply({ fieldManager, force: true, signal });
  await crd.wait("condition=Established", { timeout: "30s", signal });
  return writes;
}

async function find(client: Client, name: string, signal: AbortSignal) {
  try {
    return await client.get(CustomResourceDefinition, name, { signal });
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
