/**
 * A throw-away embedded cluster as the judge: do the objects that another cluster has stored fit the definitions? Nothing
 * is written to that other cluster.
 */
import {
  allNamespaces,
  type Client,
  CustomResourceDefinition,
  defineKind,
  InvalidError,
  type KubeBody,
  Namespace,
} from "@lotse/client";
import { importCluster } from "../local-cluster/index.ts";
import type { Definition } from "./against.ts";
import type { Finding } from "./findings.ts";

/** Calls `work` with a client of a cluster that is gone afterwards; undefined when there is none to be had. */
export async function withScratchCluster<T>(work: (client: Client) => Promise<T>): Promise<T | undefined> {
  const found = await importCluster().catch(() => undefined);
  if (!found) return undefined;
  const cluster = await found.Cluster.start({ kubelet: false });
  try {
    const client = await cluster.connect();
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  } finally {
    await cluster.stop();
  }
}

/** Has the scratch cluster serve a definition that a server takes. */
export async function serveDefinition(client: Client, crd: Definition): Promise<void> {
  const made = await client.create(new CustomResourceDefinition(onlySchemas(crd), client));
  await made.wait("condition=Established", { timeout: "30s" });
}

/** Without subresources the status is checked along with the rest; conversion is the other cluster's own business. */
function onlySchemas(crd: Definition): Definition {
  const { spec } = crd;
  if (!spec) return crd;
  const { conversion: _conversion, ...rest } = spec;
  return {
    ...crd,
    spec: { ...rest, versions: spec.versions.map(({ subresources: _subresources, ...version }) => version) },
  };
}

/** What became of the stored objects. */
export interface StoredReport {
  readonly findings: readonly Finding[];
  readonly objects: number;
}

/** Holds every object of the kind that `from` has against the definition in `scratch`. */
export async function judgeObjects(
  scratch: Client,
  from: Client,
  now: Definition,
  old: Definition,
): Promise<StoredReport> {
  const { group = "", names, scope } = now.spec ?? {};
  const { kind = "", plural = "" } = names ?? {};
  const stored =
    old.spec?.versions.find(({ served, storage }) => served && storage) ??
    old.spec?.versions.find(({ served }) => served);
  const target =
    now.spec?.versions.find(({ name }) => name === stored?.name) ?? now.spec?.versions.find(({ storage }) => storage);
  if (!stored || !target) return { findings: [], objects: 0 };
  const Stored = defineKind<KubeBody>({ group, version: stored.name, kind, plural, namespaced: scope !== "Cluster" });
  const findings: Finding[] = [];
  const namespaces = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);
  let objects = 0;
  for await (const { body } of from.list(Stored, { namespace: allNamespaces })) {
    objects++;
    const { namespace, name = "" } = body.metadata ?? {};
    if (namespace !== undefined && !namespaces.has(namespace)) {
      await scratch.create(Namespace.gen({ name: namespace }));
      namespaces.add(namespace);
    }
    const message = await refusal(scratch, `${group}/${target.name}`, plural, body);
    if (message === undefined) continue;
    const place = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
    findings.push({ level: "error", check: "objects", place, message, todo: "mend the object before the release" });
  }
  return { findings, objects };
}

async function refusal(
  client: Client,
  apiVersion: string,
  plural: string,
  body: KubeBody,
): Promise<string | undefined> {
  const { namespace, name, labels, annotations } = body.metadata ?? {};
  const metadata = { name, namespace, labels, annotations };
  const where = namespace === undefined ? "" : `namespaces/${namespace}/`;
  try {
    await client.raw({
      method: "POST",
      path: `/apis/${apiVersion}/${where}${plural}`,
      query: { dryRun: "All", fieldValidation: "Ignore" },
      body: { ...body, apiVersion, metadata },
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error;
    const causes = (error.details.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
    return `would be refused: ${causes.join("; ") || error.message}`;
  }
}
