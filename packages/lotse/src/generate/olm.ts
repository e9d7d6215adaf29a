/**
 * The bundle of an operator for the Operator Lifecycle Manager: a ClusterServiceVersion with its rights and its
 * Deployment, the definitions, and the annotations by which a catalogue finds all of it.
 */
import type { CustomResourceDefinition } from "@lotse/client";
import { KubeError, toYaml } from "@lotse/client/meta";
import type { About } from "./about.ts";
import { ruleWithReason } from "./access.ts";
import { disruptionBudgetManifest, ONE_ALONE, type Replication } from "./coordination.ts";
import { DEFINITIONS_ARE_THERE, deploymentSpec, labelsOf, podLabelsOf, type Variable } from "./deployment.ts";
import { exampleOf } from "./example.ts";
import type { GeneratedFile } from "./helm.ts";
import { metricsReaderManifest, metricsReaderName } from "./metrics-auth.ts";
import { OLM_WEBHOOKS, webhookDefinitions } from "./olm-webhooks.ts";
import { type Need, rulesFor } from "./rbac.ts";
import type { WebhookPlan } from "./webhooks.ts";

/** What a bundle is made of. */
export interface BundleInput {
  readonly name: string;
  readonly about: About;
  readonly definitions: readonly CustomResourceDefinition["body"][];
  /** What the operator needs; the definitions are installed by the lifecycle manager. */
  readonly needs: readonly Need[];
  /** Undefined: the operator's name and version. */
  readonly image: string | undefined;
  /** How long the operator may take to stop. */
  readonly stopMs: number;
  /** Objects of the operator's kinds that show what they are for; others are made from the schema. */
  readonly examples: readonly ExampleObject[];
  /** What the API server asks of the operator; undefined: nothing. */
  readonly webhooks?: WebhookPlan | undefined;
  /** How many there are, and how they share the work; default: one, alone. */
  readonly replication?: Replication | undefined;
  /** Whether metrics are for those who may read them. */
  readonly metricsAuth?: boolean | undefined;
}

/** An object as a manifest. */
export interface ExampleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The oldest Kubernetes that is served. */
const MIN_KUBE_VERSION = "1.31.0";
/** The lifecycle manager labels things with the name of the version. */
const LONGEST_NAME = 63;

/** The files of the bundle, in the order of their names. */
export function olmBundle(input: BundleInput): GeneratedFile[] {
  const { name, definitions, replication = ONE_ALONE } = input;
  const labels = bundleLabels(input);
  const budget = disruptionBudgetManifest({ name, labels: labelsOf(name) }, podLabelsOf(name));
  return [
    { name: "bundle.Dockerfile", text: bundleDockerfile(labels) },
    {
      name: `manifests/${name}.clusterserviceversion.yaml`,
      text: toYaml(clusterServiceVersion(input)),
    },
    ...definitions.map((one) => ({ name: `manifests/${one.metadata?.name ?? "crd"}.yaml`, text: toYaml(one) })),
    ...(replication.replicas > 1 ? [{ name: `manifests/${name}.poddisruptionbudget.yaml`, text: toYaml(budget) }] : []),
    ...(input.metricsAuth
      ? [{ name: `manifests/${metricsReaderName(name)}.clusterrole.yaml`, text: toYaml(metricsReaderManifest(name)) }]
      : []),
    { name: "metadata/annotations.yaml", text: toYaml({ annotations: labels }) },
  ];
}

function clusterServiceVersion(input: BundleInput): object {
  const { name, about, definitions, needs, webhooks } = input;
  const asked = webhooks && (webhooks.asked || webhooks.policies.length > 0) ? webhookDefinitions(name, webhooks) : [];
  const image = input.image ?? `${name}:${about.version.replaceAll("+", "_")}`;
  // A role beside the operator is made in its own namespace; what it keeps in another one is of the cluster.
  const isOfCluster = ({ clusterWide, namespace }: Need) => clusterWide || namespace !== undefined;
  const [cluster, namespaced] = [true, false].map((wide) => needs.filter((one) => isOfCluster(one) === wide));
  const examples = definitions.flatMap((definition) => examplesOf(definition, input.examples));
  const links = [
    { name: "Home", url: about.homepage },
    { name: "Source", url: about.source },
  ].filter(({ url }) => url !== undefined);
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: versionName(name, about.version),
      namespace: "placeholder",
      labels: labelsOf(name),
      annotations: {
        "alm-examples": JSON.stringify(examples, null, 2),
        capabilities: "Basic Install",
        containerImage: image,
        description: about.description,
        repository: about.source,
      },
    },
    spec: {
      displayName: titleOf(name),
      description: about.description ?? `The operator ${name}`,
      version: about.version,
      maturity: maturityOf(about.version),
      minKubeVersion: MIN_KUBE_VERSION,
      keywords: about.keywords.length > 0 ? about.keywords : [name],
      provider: { name: about.author?.name ?? titleOf(name), url: about.author?.url ?? about.homepage },
      maintainers:
        about.author?.email === undefined ? undefined : [{ name: about.author.name, email: about.author.email }],
      links: links.length > 0 ? links : undefined,
      installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map((type) => ({
        type,
        // Whoever converts the objects of a kind converts those of all namespaces: the lifecycle manager insists on it.
        supported: type === "AllNamespaces" || !webhooks || webhooks.converted.length === 0,
      })),
      customresourcedefinitions: { owned: definitions.flatMap(ownedVersions) },
      install: {
        strategy: "deployment",
        spec: {
          clusterPermissions: permissionsFor(name, cluster ?? []),
          permissions: permissionsFor(name, namespaced ?? []),
          deployments: [
            {
              name,
              label: labelsOf(name),
              spec: deploymentSpec({
                name,
                image,
                env: environment(input),
                stopMs: input.stopMs,
                webhooks: webhooks?.asked ? OLM_WEBHOOKS : undefined,
                replication: input.replication,
                metricsAuth: input.metricsAuth,
              }),
            },
          ],
        },
      },
      webhookdefinitions: asked.length > 0 ? asked : undefined,
      relatedImages: [{ name: "operator", image }],
    },
  };
}

/** The lifecycle manager writes the namespaces to serve onto the pod; none means all. */
function environment({ definitions, webhooks }: BundleInput): Variable[] {
  const fieldPath = "metadata.annotations['olm.targetNamespaces']";
  const served = { name: "LOTSE_RUN_NAMESPACE", valueFrom: { fieldRef: { fieldPath } } };
  return [
    served,
    ...(definitions.length > 0 ? [DEFINITIONS_ARE_THERE] : []),
    ...(webhooks?.asked ? OLM_WEBHOOKS.env : []),
  ];
}

function permissionsFor(serviceAccountName: string, needs: readonly Need[]): object[] | undefined {
  return needs.length === 0 ? undefined : [{ serviceAccountName, rules: rulesFor(needs).map(ruleWithReason) }];
}

function ownedVersions({ metadata, spec }: CustomResourceDefinition["body"]): object[] {
  const { kind } = spec.names;
  return spec.versions
    .filter(({ served }) => served)
    .map(({ name: version, schema }) => ({
      name: metadata?.name,
      version,
      kind,
      displayName: titleOf(kind.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase()),
      description: descriptionOf(schema?.openAPIV3Schema) ?? `Objects of the kind ${kind}`,
    }));
}

function descriptionOf(schema: { readonly description?: string | undefined } | undefined): string | undefined {
  return schema?.description === "" ? undefined : schema?.description;
}

/** One for each served version: those that the author wrote, else one that the schema gives. */
function examplesOf({ spec }: CustomResourceDefinition["body"], written: readonly ExampleObject[]): object[] {
  const { kind } = spec.names;
  return spec.versions.flatMap(({ name: version, served, schema }) => {
    if (!served) return [];
    const apiVersion = `${spec.group}/${version}`;
    const own = written.filter((one) => one.apiVersion === apiVersion && one.kind === kind);
    if (own.length > 0) return own;
    const properties = schema?.openAPIV3Schema?.properties as Record<string, unknown> | undefined;
    return [
      { apiVersion, kind, metadata: { name: `example-${kind.toLowerCase()}` }, spec: exampleOf(properties?.spec) },
    ];
  });
}

/** `shop.v1.2.3`: the name of this version of the operator, which is a label's value too. */
function versionName(name: string, version: string): string {
  const full = `${name}.v${version.toLowerCase().replaceAll("+", "-")}`;
  if (full.length <= LONGEST_NAME) return full;
  throw new KubeError(`${full} is longer than the ${LONGEST_NAME} characters that a bundle's name may have`, {
    hint: "give the operator a shorter name, or the package a shorter version",
  });
}

function maturityOf(version: string): "alpha" | "stable" {
  return /^0\.|-/.test(version) ? "alpha" : "stable";
}

/** `exchange-rates` as people write it: Exchange Rates. */
function titleOf(name: string): string {
  return name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

function bundleLabels({ name, about }: BundleInput): Readonly<Record<string, string>> {
  const prefix = "operators.operatorframework.io.bundle";
  const channel = maturityOf(about.version) === "stable" ? "stable" : "candidate";
  return {
    [`${prefix}.mediatype.v1`]: "registry+v1",
    [`${prefix}.manifests.v1`]: "manifests/",
    [`${prefix}.metadata.v1`]: "metadata/",
    [`${prefix}.package.v1`]: name,
    [`${prefix}.channels.v1`]: channel,
    [`${prefix}.channel.default.v1`]: channel,
  };
}

function bundleDockerfile(labels: Readonly<Record<string, string>>): string {
  const lines = Object.entries(labels).map(([key, value]) => `LABEL ${key}=${value}`);
  return `FROM scratch\n\n${lines.join("\n")}\n\nCOPY manifests /manifests/\nCOPY metadata /metadata/\n`;
}
