/** The part of test-olm-rules.ts that is about the ClusterServiceVersion. */
import { isObject } from "@lotse/client/meta";
import type { BundleObject } from "./test-olm-rules.ts";

/** Told what is wrong. */
export interface Report {
  error(text: string): void;
  warn(text: string): void;
}

const SEMVER = /^\d+\.\d+\.\d+(?:-[\dA-Za-z.-]+)?(?:\+[\dA-Za-z.-]+)?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** Keys that the lifecycle manager reads in this case only. */
const CASED = [
  "olm.operatorGroup",
  "olm.operatorNamespace",
  "olm.targetNamespaces",
  "olm.providedAPIs",
  "olm.skipRange",
];
const CAPABILITIES = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];
const MODES = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];
const ICONS = ["image/gif", "image/jpeg", "image/png", "image/svg+xml"];
const IMAGE = /^[a-z0-9]+([._:/-][a-z0-9]+)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;

interface Owned {
  readonly name: string;
  readonly version: string;
  readonly kind: string;
  readonly description?: string;
}

interface Spec {
  readonly displayName?: string;
  readonly version?: string;
  readonly replaces?: string;
  readonly minKubeVersion?: string;
  readonly provider?: { readonly name?: string };
  readonly maintainers?: readonly { readonly name?: string; readonly email?: string }[];
  readonly links?: readonly { readonly name?: string; readonly url?: string }[];
  readonly icon?: readonly { readonly mediatype?: string; readonly base64data?: string }[];
  readonly installModes?: readonly { readonly type: string; readonly supported: boolean }[];
  readonly customresourcedefinitions?: { readonly owned?: readonly Owned[] };
  readonly install?: { readonly strategy?: string; readonly spec?: Install };
  readonly webhookdefinitions?: readonly WebhookDefinition[];
  readonly relatedImages?: readonly { readonly image?: string }[];
}

interface WebhookDefinition {
  readonly type?: string;
  readonly generateName?: string;
  readonly deploymentName?: string;
  readonly webhookPath?: string;
  readonly containerPort?: number;
  readonly sideEffects?: string;
  readonly admissionReviewVersions?: readonly string[];
  readonly rules?: readonly { readonly apiGroups?: readonly string[]; readonly resources?: readonly string[] }[];
  readonly conversionCRDs?: readonly string[];
}

const WEBHOOKS = ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook"];

/** What the lifecycle manager checks of webhooks before it installs a version. */
function checkWebhooks(spec: Spec, report: Report): void {
  const deployments = spec.install?.spec?.deployments?.map(({ name }) => name) ?? [];
  const owned = spec.customresourcedefinitions?.owned?.map(({ name }) => name) ?? [];
  const names = new Set<string>();
  const converted = new Set<string>();
  for (const one of spec.webhookdefinitions ?? []) {
    const { type = "", generateName = "", deploymentName = "", conversionCRDs = [] } = one;
    if (!WEBHOOKS.includes(type)) report.error(`there is no webhook of the type ${type}`);
    if (!SUBDOMAIN.test(generateName)) report.error(`a webhook has no name: ${generateName}`);
    if (names.has(`${type} ${generateName}`)) report.error(`two webhooks are called ${generateName}`);
    names.add(`${type} ${generateName}`);
    if (!deployments.includes(deploymentName)) report.error(`the webhook ${generateName} has no deployment`);
    if (!one.webhookPath?.startsWith("/")) report.error(`the webhook ${generateName} has no path`);
    if (!(one.containerPort && one.containerPort >= 1)) report.error(`the webhook ${generateName} has no port`);
    if (!["None", "NoneOnDryRun"].includes(one.sideEffects ?? "")) report.error(`${generateName} has side effects`);
    if (!one.admissionReviewVersions?.includes("v1")) report.error(`${generateName} does not know v1`);
    for (const { apiGroups = [] } of one.rules ?? []) {
      if (apiGroups.some((group) => group === "*" || group === "operators.coreos.com")) {
        report.error(`the webhook ${generateName} is for the lifecycle manager's own kinds`);
      }
    }
    if (type !== "ConversionWebhook") continue;
    if (conversionCRDs.length === 0) report.error(`the webhook ${generateName} converts nothing`);
    for (const crd of conversionCRDs) {
      if (!owned.includes(crd)) report.error(`${crd} is converted and not owned`);
      if (converted.has(crd)) report.error(`${crd} is converted twice`);
      converted.add(crd);
    }
    if (spec.installModes?.some(({ type: mode, supported }) => supported !== (mode === "AllNamespaces"))) {
      report.error("an operator that converts has to serve all namespaces, and nothing less");
    }
  }
}

interface Install {
  readonly deployments?: readonly { readonly name?: string; readonly spec?: Deployment }[];
  readonly permissions?: readonly Permission[];
  readonly clusterPermissions?: readonly Permission[];
}

interface Deployment {
  readonly template: { readonly spec: { readonly containers: readonly Container[] } };
}

interface Container {
  readonly name: string;
  readonly resources?: { readonly requests?: { readonly cpu?: string; readonly memory?: string } };
}

interface Permission {
  readonly serviceAccountName?: string;
  readonly rules?: readonly { apiGroups?: string[]; resources?: string[]; verbs?: string[] }[];
}

/** Checks a ClusterServiceVersion by itself. */
export function checkCsv(csv: BundleObject, report: Report): void {
  const spec = (csv.spec ?? {}) as Spec;
  if (!csv.apiVersion?.endsWith("/v1alpha1")) report.error("the ClusterServiceVersion has no version");
  checkName("metadata.name", csv.metadata?.name ?? "", report);
  if (spec.replaces !== undefined) checkName("spec.replaces", spec.replaces, report);
  if (!/^[^.]+\.v\d+\.\d+\.\d+/.test(csv.metadata?.name ?? "")) report.warn("the name is not <operator>.v<version>");
  for (const key of Object.keys(csv.metadata?.annotations ?? {})) {
    const right = CASED.find((one) => one.toLowerCase() === key.toLowerCase());
    if (right !== undefined && right !== key) report.error(`the annotation ${key} has to be ${right}`);
    if (key === "olm.properties") report.warn("properties belong into metadata/properties.yaml");
  }
  checkExamples(csv, spec, report);
  checkModes(spec, report);
  checkHub(csv, spec, report);
  checkInstall(spec.install, report);
  checkWebhooks(spec, report);
  for (const { image = "" } of spec.relatedImages ?? []) {
    if (!IMAGE.test(image)) report.error(`the related image ${JSON.stringify(image)} is no image`);
  }
}

function checkName(field: string, name: string, report: Report): void {
  if (!SUBDOMAIN.test(name)) report.error(`${field} ${JSON.stringify(name)} is no name`);
  if (name.length > 63) report.error(`${field} has ${name.length} characters, a label's value has at most 63`);
}

function provided({ customresourcedefinitions }: Spec): Map<string, Owned> {
  return new Map(
    (customresourcedefinitions?.owned ?? []).map((one) => [
      `${one.name.slice(one.name.indexOf(".") + 1)}/${one.version} ${one.kind}`,
      one,
    ]),
  );
}

function checkExamples({ metadata }: BundleObject, spec: Spec, report: Report): void {
  const text = metadata?.annotations?.["alm-examples"];
  if (text === undefined) {
    report.warn("there are no examples");
    return;
  }
  let examples: unknown;
  try {
    examples = JSON.parse(text);
  } catch (error) {
    report.error(`the examples are not JSON: ${(error as Error).message}`);
    return;
  }
  if (!Array.isArray(examples)) {
    report.error("the examples are no list");
    return;
  }
  const shown = new Set(examples.map((one: BundleObject) => `${one.apiVersion} ${one.kind}`));
  const apis = provided(spec);
  for (const one of shown) if (!apis.has(one)) report.error(`there is an example of ${one}, which is not provided`);
  for (const one of apis.keys()) if (!shown.has(one)) report.warn(`${one} has no example`);
}

function checkModes({ installModes = [] }: Spec, report: Report): void {
  if (installModes.length === 0) {
    report.error("there are no install modes");
    return;
  }
  const types = installModes.map(({ type }) => type);
  if (new Set(types).size < types.length) report.error("an install mode is there twice");
  for (const type of types) if (!MODES.includes(type)) report.error(`${type} is no install mode`);
  if (!installModes.some(({ supported }) => supported)) report.error("no install mode is supported");
}

/** What a public catalogue wants to show. */
function checkHub({ metadata }: BundleObject, spec: Spec, report: Report): void {
  if (!spec.displayName) report.error("spec.displayName is missing");
  if (!SEMVER.test(spec.version ?? "")) report.error("spec.version is no semantic version");
  if (!spec.minKubeVersion) report.warn("spec.minKubeVersion is missing");
  else if (!SEMVER.test(spec.minKubeVersion)) report.error("spec.minKubeVersion is no semantic version");
  if (!spec.provider?.name?.trim()) report.error("spec.provider.name is missing");
  for (const { name, email = "" } of spec.maintainers ?? []) {
    if (!name || !EMAIL.test(email)) report.error("a maintainer has a name and an address");
  }
  for (const { name, url = "" } of spec.links ?? []) {
    if (!name || !URL.canParse(url)) report.error("a link has a name and an address");
  }
  const capability = metadata?.annotations?.capabilities;
  if (capability !== undefined && !CAPABILITIES.includes(capability)) report.error(`${capability} is no capability`);
  if (spec.icon === undefined) report.warn("there is no icon");
  else if (spec.icon.length !== 1) report.error("there is one icon");
  for (const { mediatype = "", base64data } of spec.icon ?? []) {
    if (!ICONS.includes(mediatype) || !base64data) report.error("an icon has data of a known type");
  }
}

function checkInstall(install: Spec["install"], report: Report): void {
  if (install?.strategy !== "deployment") report.error("spec.install.strategy has to be deployment");
  const deployments = install?.spec?.deployments ?? [];
  if (deployments.length === 0) report.error("there is no deployment to install");
  for (const { name, spec } of deployments) {
    if (!name || !spec) report.error("a deployment has a name and a spec");
    for (const container of spec?.template.spec.containers ?? []) {
      const { cpu, memory } = container.resources?.requests ?? {};
      if (!cpu || !memory) report.warn(`the container ${container.name} requests no resources`);
    }
  }
  for (const { serviceAccountName, rules = [] } of [
    ...(install?.spec?.permissions ?? []),
    ...(install?.spec?.clusterPermissions ?? []),
  ]) {
    if (!serviceAccountName || rules.length === 0) report.error("a permission has an account and rules");
    for (const { apiGroups = [], resources = [], verbs = [] } of rules) {
      if (verbs.length === 0) report.error("a rule has verbs");
      const definitions = apiGroups.includes("apiextensions.k8s.io") && resources.includes("customresourcedefinitions");
      if (definitions && verbs.some((verb) => ["*", "create", "patch"].includes(verb))) {
        report.warn("the operator may write definitions, which is the lifecycle manager's business");
      }
    }
  }
}

/** Definitions that are owned are there, and those that are there are owned. */
export function checkOwned(csv: BundleObject, definitions: readonly BundleObject[], report: Report): void {
  const there = new Map<string, string>();
  for (const { spec = {} } of definitions) {
    const kind = isObject(spec.names) ? String(spec.names.kind) : "";
    for (const { name } of (spec.versions ?? []) as { name: string }[]) {
      const key = `${String(spec.group)}/${name} ${kind}`;
      if (there.has(key)) report.error(`the definition of ${key} is there twice`);
      there.set(key, `${String(spec.group)} ${kind}`);
    }
  }
  const owned = provided((csv.spec ?? {}) as Spec);
  const kinds = new Set<string>();
  for (const [key, { name, description }] of owned) {
    const kind = there.get(key);
    if (kind === undefined) report.error(`the owned definition of ${key} is not in the bundle`);
    else kinds.add(kind);
    if (!description) report.warn(`the owned definition ${name} has no description`);
  }
  for (const [key, kind] of there) {
    if (!kinds.has(kind)) report.error(`the definition of ${key} is in the bundle and not owned`);
  }
}
