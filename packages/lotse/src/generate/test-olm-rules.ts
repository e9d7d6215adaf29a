/**
 * What the validators of operator-framework/api and the loader of operator-registry demand of a bundle, for tests:
 * errors are what `operator-sdk bundle validate` fails for, warnings what its optional suites recommend.
 */
import { gzipSync } from "node:zlib";
import { isObject } from "@lotse/client/meta";
import { load } from "js-yaml";
import type { GeneratedFile } from "./helm.ts";
import { checkCsv, checkOwned, type Report } from "./test-olm-csv-rules.ts";

/** An object of a bundle. */
export interface BundleObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** What is wrong with a bundle. */
export interface Findings {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

const PREFIX = "operators.operatorframework.io.bundle";
/** A bundle is staged in one ConfigMap. */
const LARGEST_BYTES = 1 << 20;

/** Checks the files of a bundle. */
export function validateBundle(files: readonly GeneratedFile[]): Findings {
  const errors: string[] = [];
  const warnings: string[] = [];
  const report: Report = {
    error: (text) => void errors.push(text),
    warn: (text) => void warnings.push(text),
  };
  const objects = manifestsOf(files, report);
  checkAnnotations(files, report);
  checkSize(files, report);
  const versions = objects.filter(({ kind }) => kind === "ClusterServiceVersion");
  const [csv] = versions;
  if (!csv || versions.length > 1)
    report.error(`a bundle has one ClusterServiceVersion, this one has ${versions.length}`);
  const definitions = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
  for (const definition of definitions) checkDefinition(definition, report);
  if (csv) {
    checkCsv(csv, report);
    checkOwned(csv, definitions, report);
    checkAccounts(csv, objects, report);
  }
  for (const object of objects) checkObject(object, report);
  return { errors, warnings };
}

function manifestsOf(files: readonly GeneratedFile[], report: Report): BundleObject[] {
  return files.flatMap(({ name, text }) => {
    const inside = /^manifests\/(.*)$/.exec(name)?.[1];
    if (inside === undefined) return [];
    if (inside.includes("/")) report.error(`the folder of manifests contains another folder: ${name}`);
    if (inside.startsWith(".")) report.error(`the folder of manifests has a hidden file: ${name}`);
    try {
      const object = load(text);
      if (isObject(object)) return [object as BundleObject];
      report.error(`${name} is no object`);
    } catch (error) {
      // Also for a second document: a file holds one object.
      report.error(`${name} cannot be decoded: ${(error as Error).message}`);
    }
    return [];
  });
}

function checkAnnotations(files: readonly GeneratedFile[], report: Report): void {
  const file = files.find(({ name }) => name === "metadata/annotations.yaml");
  if (!file) {
    report.error("there is no metadata/annotations.yaml");
    return;
  }
  const { annotations = {} } = (load(file.text) ?? {}) as { annotations?: Record<string, string> };
  const fixed = { "mediatype.v1": "registry+v1", "manifests.v1": "manifests/", "metadata.v1": "metadata/" };
  for (const [key, value] of Object.entries(fixed)) {
    if (annotations[`${PREFIX}.${key}`] !== value) report.error(`the annotation ${PREFIX}.${key} has to be ${value}`);
  }
  for (const key of ["package.v1", "channels.v1", "channel.default.v1"]) {
    if (!annotations[`${PREFIX}.${key}`]) report.error(`the annotation ${PREFIX}.${key} is empty`);
  }
  const channels = (annotations[`${PREFIX}.channels.v1`] ?? "").split(",");
  const byDefault = annotations[`${PREFIX}.channel.default.v1`] ?? "";
  if (!channels.includes(byDefault)) report.error(`the default channel ${byDefault} is none of ${channels.join(", ")}`);
  for (const channel of channels) {
    if (!/^(?:candidate|fast|stable)/.test(channel))
      report.warn(`the channel ${channel} does not follow the convention`);
  }
  const dockerfile = files.find(({ name }) => name === "bundle.Dockerfile")?.text ?? "";
  for (const [key, value] of Object.entries(annotations)) {
    if (!dockerfile.includes(`LABEL ${key}=${value}\n`)) report.error(`the image has no label ${key}=${value}`);
  }
}

function checkSize(files: readonly GeneratedFile[], report: Report): void {
  const inBundle = files.filter(({ name }) => /^(?:manifests|metadata)\//.test(name));
  const size = inBundle.reduce((sum, { text }) => sum + gzipSync(text).toString("base64").length, 0);
  if (size > LARGEST_BYTES) report.error(`the bundle has ${size} bytes when compressed, at most ${LARGEST_BYTES} fit`);
  else if (size > 0.85 * LARGEST_BYTES) report.warn(`the bundle is nearly too large: ${size} bytes when compressed`);
}

function checkDefinition({ apiVersion, metadata, spec = {} }: BundleObject, report: Report): void {
  const name = metadata?.name ?? "";
  if (apiVersion !== "apiextensions.k8s.io/v1") report.error(`${name}: ${apiVersion} is not served any more`);
  const names = isObject(spec.names) ? spec.names : {};
  const versions = (Array.isArray(spec.versions) ? spec.versions : []) as { name: string; storage?: boolean }[];
  if (name !== `${String(names.plural)}.${String(spec.group)}`) report.error(`${name}: has to be <plural>.<group>`);
  if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") report.error(`${name}: scope is missing`);
  if (!/^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(String(names.kind ?? ""))) report.error(`${name}: no valid kind`);
  if (versions.filter(({ storage }) => storage).length !== 1) report.error(`${name}: exactly one version is stored`);
  if (new Set(versions.map((one) => one.name)).size < versions.length)
    report.error(`${name}: a version is there twice`);
}

function checkAccounts(csv: BundleObject, objects: readonly BundleObject[], report: Report): void {
  const install = csv.spec?.install as { spec?: { deployments?: { spec: DeploymentSpec }[] } } | undefined;
  const used = (install?.spec?.deployments ?? []).map(({ spec }) => spec.template.spec.serviceAccountName);
  for (const { kind, metadata } of objects) {
    if (kind === "ServiceAccount" && used.includes(metadata?.name)) {
      report.error(`the ServiceAccount ${metadata?.name} is made by the ClusterServiceVersion already`);
    }
  }
}

interface DeploymentSpec {
  readonly template: { readonly spec: { readonly serviceAccountName?: string } };
}

/** Securities of OpenShift that no bundle may change. */
const DEFAULT_CONSTRAINTS = [
  "privileged",
  "restricted",
  "anyuid",
  "hostaccess",
  "hostmount-anyuid",
  "hostnetwork",
  "node-exporter",
  "nonroot",
];

function checkObject(object: BundleObject, report: Report): void {
  const { kind, spec = {}, metadata } = object;
  const name = `${kind} ${metadata?.name ?? ""}`;
  if (kind === "PodDisruptionBudget") {
    if ([0, "0%"].includes(spec.maxUnavailable as number)) report.error(`${name}: maxUnavailable cannot be 0`);
    if (spec.minAvailable === "100%") report.error(`${name}: minAvailable cannot be 100%`);
  }
  if (kind === "PriorityClass" && object.globalDefault === true) report.error(`${name}: cannot be the default of all`);
  if (kind !== "Role" && kind !== "ClusterRole") return;
  for (const rule of (object.rules ?? []) as Record<
    "apiGroups" | "resources" | "verbs" | "resourceNames",
    string[]
  >[]) {
    const writes = rule.verbs.some((verb) => ["*", "create", "update", "patch", "delete"].includes(verb));
    if (writes && rule.resources.includes("poddisruptionbudgets")) report.warn(`${name}: writes disruption budgets`);
    if (
      writes &&
      rule.apiGroups.includes("security.openshift.io") &&
      rule.resourceNames?.some((one) => DEFAULT_CONSTRAINTS.includes(one))
    ) {
      report.error(`${name}: changes default securitycontextconstraints`);
    }
  }
}
