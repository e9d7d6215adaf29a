/** What a user who writes a pod, or a template of some, should know although it is no mistake. */
import { canonicalQuantity } from "../../quantity-form.ts";
import { entries, everyContainer, type Fields, isSet, number, struct, structs, text, texts } from "../pod/index.ts";
import { nanosOf } from "../resources.ts";
import { addressWarnings } from "./addresses.ts";
import { APP_ARMOR, appArmorOf, sameProfile } from "./app-armor.ts";
import { oldLabel, termWarnings } from "./nodes.ts";
import { portWarnings } from "./ports.ts";
import { overlapWarnings } from "./volume-paths.ts";

const OLD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
];

const OLD_VOLUMES: readonly (readonly [field: string, shown: string, message: string])[] = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["ephemeral", "", ""],
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

const SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const NO_SELECTOR = "a null labelSelector results in matching no pod";
const MILLI = 1_000_000n;

/** Bytes come whole. */
function fractional(amounts: unknown, name: string, path: string): string[] {
  const value = struct(amounts)?.[name];
  if (!isSet(value)) return [];
  const nanos = nanosOf(value);
  const milli = nanos / MILLI + (nanos > 0n && nanos % MILLI !== 0n ? 1n : 0n);
  if (milli % 1_000n === 0n) return [];
  const shown = canonicalQuantity(String(value));
  return [`${path}[${name}]: fractional byte value "${shown}" is invalid, must be an integer`];
}

/** The spec of a claim, here or where a pod brings its own. */
export function claimSpecWarnings(spec: Fields | undefined, path: string): string[] {
  return ["requests", "limits"].flatMap((list) =>
    fractional(struct(spec?.resources)?.[list], "storage", `${path}.resources.${list}`),
  );
}

/** A pod, or the template at `path`; the path of a pod is empty. */
export function podWarnings(spec: Fields, annotations: Fields, path: string): string[] {
  const at = (rest: string) => (path === "" ? rest : `${path}.${rest}`);
  return [
    ...schedulingWarnings(spec, at("spec")),
    ...OLD_ANNOTATIONS.filter(([key]) => Object.hasOwn(annotations, key)).map(
      ([key, message]) => `${at("metadata.annotations")}[${key}]: ${message}`,
    ),
    ...structs(spec.volumes).flatMap((volume, i) => volumeWarnings(volume, `${at("spec.volumes")}[${i}]`)),
    ...overlapWarnings(structs(spec.volumes)),
    ...repeated(
      structs(spec.hostAliases).map(({ ip }) => text(ip)),
      at("spec.hostAliases"),
      "ip",
    ),
    ...secretWarnings(spec, at("spec.imagePullSecrets")),
    ...["memory", "ephemeral-storage"].flatMap((name) => fractional(spec.overhead, name, at("spec.overhead"))),
    ...profileWarnings(spec, annotations, at("metadata.annotations")),
    ...containerWarnings(spec, annotations, path),
    ...portWarnings(spec, at("spec")),
    ...(number(spec.terminationGracePeriodSeconds) < 0
      ? [
          `${at("spec.terminationGracePeriodSeconds")}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(spec, at("spec.affinity")),
    ...texts(struct(spec.dnsConfig)?.nameservers).flatMap((ip, i) =>
      addressWarnings(ip, `${at("spec.dnsConfig.nameservers")}[${i}]`),
    ),
    ...structs(spec.hostAliases).flatMap(({ ip }, i) =>
      addressWarnings(text(ip), `${at("spec.hostAliases")}[${i}].ip`),
    ),
  ];
}

function schedulingWarnings(spec: Fields, path: string): string[] {
  const node = struct(struct(spec.affinity)?.nodeAffinity);
  const required = structs(struct(node?.requiredDuringSchedulingIgnoredDuringExecution)?.nodeSelectorTerms);
  const preferred = structs(node?.preferredDuringSchedulingIgnoredDuringExecution);
  const affinity = `${path}.affinity.nodeAffinity`;
  return [
    ...entries(spec.nodeSelector).flatMap(([key]) => {
      const old = oldLabel(key);
      return old === undefined ? [] : [`${path}.nodeSelector[${key}]: ${old}`];
    }),
    ...required.flatMap((term, i) =>
      termWarnings(term, false, `${affinity}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`),
    ),
    ...preferred.flatMap((term, i) =>
      termWarnings(
        struct(term.preference),
        true,
        `${affinity}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`,
      ),
    ),
    ...structs(spec.topologySpreadConstraints).flatMap((constraint, i) => {
      const here = `${path}.topologySpreadConstraints[${i}]`;
      const key = text(constraint.topologyKey);
      const old = oldLabel(key);
      return [
        ...(old === undefined ? [] : [`${here}.topologyKey: ${key} is ${old}`]),
        ...(isSet(constraint.labelSelector) ? [] : [`${here}.labelSelector: ${NO_SELECTOR}`]),
      ];
    }),
  ];
}

function volumeWarnings(volume: Fields, path: string): string[] {
  return OLD_VOLUMES.flatMap(([field, shown, message]) => {
    if (!isSet(volume[field])) return [];
    if (field !== "ephemeral") return [`${path}.${shown}: ${message}`];
    const template = struct(struct(volume.ephemeral)?.volumeClaimTemplate);
    return claimSpecWarnings(struct(template?.spec), `${path}.ephemeral.volumeClaimTemplate.spec`);
  });
}

function repeated(values: readonly string[], path: string, field: string): string[] {
  return values.flatMap((value, i) =>
    values.indexOf(value) < i ? [`${path}[${i}].${field}: duplicate ${field} ${JSON.stringify(value)}`] : [],
  );
}

function secretWarnings(spec: Fields, path: string): string[] {
  const names = structs(spec.imagePullSecrets).map(({ name }) => text(name));
  return [
    ...repeated(names, path, "name"),
    ...names.flatMap((name, i) => (name === "" ? [`${path}[${i}].name: invalid empty name ""`] : [])),
  ];
}

function profileWarnings(spec: Fields, annotations: Fields, path: string): string[] {
  const key = "seccomp.security.alpha.kubernetes.io/pod";
  if (isSet(struct(spec.securityContext)?.seccompProfile) || !Object.hasOwn(annotations, key)) return [];
  return [`${path}[${key}]: ${SECCOMP}`];
}

function containerWarnings(spec: Fields, annotations: Fields, path: string): string[] {
  const notes = path === "" ? "metadata.annotations" : `${path}.metadata.annotations`;
  const ofPod = struct(struct(spec.securityContext)?.appArmorProfile);
  const warnings: string[] = [];
  for (const [container, here] of everyContainer(spec, path === "" ? "spec" : `${path}.spec`)) {
    const security = struct(container.securityContext);
    const seccomp = `container.seccomp.security.alpha.kubernetes.io/${text(container.name)}`;
    if (!isSet(security?.seccompProfile) && Object.hasOwn(annotations, seccomp)) {
      warnings.push(`${notes}[${seccomp}]: ${SECCOMP}`);
    }
    const armor = `${APP_ARMOR}${text(container.name)}`;
    // A pod is told when its annotations become fields, before this.
    if (path !== "" && !isSet(security?.appArmorProfile) && Object.hasOwn(annotations, armor)) {
      if (!ofPod || !sameProfile(ofPod, appArmorOf(text(annotations[armor])))) {
        warnings.push(`${notes}[${armor}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
      }
    }
    const resources = struct(container.resources);
    for (const name of ["memory", "ephemeral-storage"]) {
      for (const list of ["limits", "requests"]) {
        warnings.push(...fractional(resources?.[list], name, `${here}.resources.${list}`));
      }
    }
    warnings.push(...variableWarnings(structs(container.env), `${here}.env`));
  }
  return warnings;
}

/** A variable that is there twice hides the first, unless it is made of it. */
function variableWarnings(variables: readonly Fields[], path: string): string[] {
  const seen = new Set<string>();
  return variables.flatMap((variable, i) => {
    const name = text(variable.name);
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${name})`;
    const value = text(variable.value);
    if (!isSet(variable.valueFrom) && value !== reference && value.includes(reference)) return [];
    return [
      `${path}[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    ];
  });
}

function affinityWarnings(spec: Fields, path: string): string[] {
  const affinity = struct(spec.affinity);
  return ["podAffinity", "podAntiAffinity"].flatMap((kind) => {
    const rules = struct(affinity?.[kind]);
    const here = `${path}.${kind}`;
    return [
      ...structs(rules?.requiredDuringSchedulingIgnoredDuringExecution).flatMap((term, i) =>
        isSet(term.labelSelector)
          ? []
          : [`${here}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector: ${NO_SELECTOR}`],
      ),
      ...structs(rules?.preferredDuringSchedulingIgnoredDuringExecution).flatMap((term, i) =>
        isSet(struct(term.podAffinityTerm)?.labelSelector)
          ? []
          : [
              `${here}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector: ${NO_SELECTOR}`,
            ],
      ),
    ];
  });
}
