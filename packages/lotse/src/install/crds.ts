/** Installs the CRDs of kinds made by `resource()`; writes nothing when the cluster has them already. */
import { type Client, CustomResourceDefinition, NotFoundError } from "@lotse/client";
import { DeclarationError, isResourceClass, type ResourceClass, type ResourceInput } from "../declare/index.ts";
import { type Retrying, retryForever } from "../informers/index.ts";
import { shows } from "../reconcile/index.ts";

/**
 * Installs the CRD of `resource` and waits until its objects can be created. Returns whether anything was written.
 * `definition`: with where its objects are converted, where they are.
 */
export async function installCrd(
  client: Client,
  resource: ResourceClass<unknown, unknown>,
  fieldManager: string,
  signal: AbortSignal,
  definition: Definition = resource.crd(),
): Promise<boolean> {
  const crd = new CustomResourceDefinition(definition, client);
  const installed = await find(client, crd.name, signal);
  if (installed) checkStored(crd.body, installed.body);
  const writes = installed === undefined || !shows(installed.spec, crd.spec);
  if (writes) await crd.apply({ fieldManager, force: true, signal });
  await crd.wait("condition=Established", { timeout: "30s", signal });
  return writes;
}

/** Objects that are stored in a version cannot be read any more when the version is gone. */
function checkStored(crd: Definition, installed: Definition): void {
  const versions = crd.spec?.versions.map(({ name }) => name) ?? [];
  const dropped = (installed.status?.storedVersions ?? []).filter((name) => !versions.includes(name));
  if (dropped.length === 0) return;
  const { name } = crd.metadata ?? {};
  throw new StoredVersionError(`${name} cannot be without ${dropped.join(", ")}: objects may still be stored in it`, {
    hint: `keep the version, run lotse migrate ${name}, and drop it then`,
  });
}

/** A definition would drop a version in which objects are stored. */
export class StoredVersionError extends DeclarationError {
  override readonly code: string = "LOTSE_STORED_VERSION";
}

async function find(client: Client, name: string, signal: AbortSignal) {
  try {
    return await client.get(CustomResourceDefinition, name, { signal });
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

type Definition = CustomResourceDefinition["body"];

/** Installs the CRDs of all declared resources that are made by `resource()`, however long the cluster takes to allow it. */
export async function installCrds(
  client: Client,
  resources: readonly ResourceInput[],
  operator: string,
  retrying: Retrying,
  definitionOf: (resource: ResourceClass<unknown, unknown>) => Definition = (resource) => resource.crd(),
): Promise<void> {
  const { logger, signal } = retrying;
  const installed = new Set<string | undefined>();
  for (const resource of resources) {
    if (!isResourceClass(resource) || installed.has(resource.crd().metadata?.name)) continue;
    // All versions of a kind are in one definition.
    installed.add(resource.crd().metadata?.name);
    const install = () => installCrd(client, resource, operator, signal, definitionOf(resource));
    const written = await retryForever("the custom resource definition could not be installed", install, retrying);
    if (written) logger.info("the custom resource definition is installed", { crd: resource.crd().metadata?.name });
  }
}
