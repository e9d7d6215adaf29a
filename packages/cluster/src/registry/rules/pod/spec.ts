/** The spec of a pod, alone or in a template: what its parts say, in the order in which a server looks at them. */
import { duplicateValue, forbiddenField, invalidValue, missingReference, required, Verbatim } from "../../fields.ts";
import { checkAffinity } from "./affinity.ts";
import { checkAgreement, checkPodAnnotations, isMirror } from "./annotations.ts";
import {
  checkChoice,
  checkLabel,
  checkLabels,
  checkRange,
  checkSubdomain,
  type Errors,
  type Fields,
  isSet,
  number,
  struct,
  structs,
  text,
} from "./check.ts";
import {
  checkContainers,
  checkEphemeralContainers,
  checkImageSpaces,
  checkInitContainers,
  everyContainer,
  type Surroundings,
} from "./containers.ts";
import { checkDns, checkHostAliases, checkHostnameOverride } from "./names.ts";
import { checkHostNetworkPorts, checkHostProcesses, checkHostUsers, checkPlatform } from "./platform.ts";
import { checkOverhead, checkPodResources } from "./resources.ts";
import { checkReadinessGates, checkSchedulingGates, checkSpread, checkTolerations } from "./scheduling.ts";
import { checkPodSecurityContext } from "./security.ts";
import { checkAnnotations } from "./volume-claims.ts";
import { checkVolumes } from "./volumes.ts";

const LARGEST_DEADLINE = 2_147_483_647;

/** The spec of a pod; `meta` is that of the pod itself and absent in a template. */
export function checkPodSpec(spec: Fields, meta: Fields | undefined, path: string, errors: Errors): void {
  const isPod = meta !== undefined;
  if (!isSet(spec.terminationGracePeriodSeconds)) errors.push(required(`${path}.terminationGracePeriodSeconds`));
  const volumes = checkVolumes(structs(spec.volumes), text(meta?.name), isPod, `${path}.volumes`, errors);
  const claims = structs(spec.resourceClaims);
  checkResourceClaims(claims, meta, `${path}.resourceClaims`, errors);
  const around: Surroundings = {
    volumes,
    claims: new Set(claims.map(({ name }) => text(name)).filter((name) => name !== "")),
    gracePeriod: isSet(spec.terminationGracePeriodSeconds) ? number(spec.terminationGracePeriodSeconds) : undefined,
    restartPolicy: text(spec.restartPolicy),
    hostUsers: spec.hostUsers !== false,
    isPod,
  };
  const containers = structs(spec.containers);
  const first = structs(spec.initContainers);
  checkContainers(containers, around, `${path}.containers`, errors);
  checkInitContainers(first, containers, around, `${path}.initContainers`, errors);
  const visitors = structs(spec.ephemeralContainers);
  checkEphemeralContainers(visitors, [...containers, ...first], around, `${path}.ephemeralContainers`, errors);
  checkPodResources(spec, around.claims, path, errors);
  checkHostNetworkPorts(spec, isPod, path, errors);
  checkChoice(spec.restartPolicy, ["Always", "OnFailure", "Never"], `${path}.restartPolicy`, errors);
  checkChoice(spec.dnsPolicy, DNS_POLICIES, `${path}.dnsPolicy`, errors);
  checkLabels(spec.nodeSelector, `${path}.nodeSelector`, errors);
  checkPodSecurityContext(spec, `${path}.securityContext`, errors);
  checkAffinity(struct(spec.affinity), `${path}.affinity`, errors);
  checkDns(spec, `${path}.dnsConfig`, errors);
  checkReadinessGates(spec.readinessGates, `${path}.readinessGates`, errors);
  checkSchedulingGates(structs(spec.schedulingGates), `${path}.schedulingGates`, errors);
  checkSpread(structs(spec.topologySpreadConstraints), `${path}.topologySpreadConstraints`, errors);
  checkHostProcesses(spec, path, errors);
  checkHostUsers(spec, path, errors);
  checkHostnameOverride(spec, path, errors);
  checkReferences(spec, path, errors);
  checkPlatform(spec, path, errors);
  checkFileVariables(spec, path, errors);
}

const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

/** Names, numbers and short lists that need no file of their own. */
function checkReferences(spec: Fields, path: string, errors: Errors): void {
  for (const field of ["serviceAccountName", "nodeName"]) {
    if (text(spec[field]) !== "") checkSubdomain(text(spec[field]), `${path}.${field}`, errors);
  }
  if (isSet(spec.activeDeadlineSeconds)) {
    checkRange(number(spec.activeDeadlineSeconds), 1, LARGEST_DEADLINE, `${path}.activeDeadlineSeconds`, errors);
  }
  for (const field of ["hostname", "subdomain"]) {
    if (text(spec[field]) !== "") checkLabel(text(spec[field]), `${path}.${field}`, errors);
  }
  checkTolerations(structs(spec.tolerations), `${path}.tolerations`, errors);
  checkHostAliases(structs(spec.hostAliases), `${path}.hostAliases`, errors);
  if (text(spec.priorityClassName) !== "") {
    checkSubdomain(text(spec.priorityClassName), `${path}.priorityClassName`, errors);
  }
  if (isSet(spec.runtimeClassName)) checkSubdomain(text(spec.runtimeClassName), `${path}.runtimeClassName`, errors);
  if (isSet(spec.preemptionPolicy)) {
    checkChoice(spec.preemptionPolicy, ["PreemptLowerPriority", "Never"], `${path}.preemptionPolicy`, errors);
  }
  const overhead = struct(spec.overhead);
  if (overhead !== undefined) checkOverhead(overhead, `${path}.overhead`, errors);
}

function checkResourceClaims(claims: readonly Fields[], meta: Fields | undefined, path: string, errors: Errors): void {
  const names = new Set<string>();
  for (const [i, claim] of claims.entries()) {
    if (meta !== undefined && isMirror(struct(meta.annotations) ?? {})) {
      errors.push(forbiddenField("", "static pods do not support resource claims"));
      continue;
    }
    const here = `${path}[${i}]`;
    const name = text(claim.name);
    if (name === "") errors.push(required(`${here}.name`));
    else if (names.has(name)) errors.push(duplicateValue(`${here}.name`, name));
    else {
      checkLabel(name, `${here}.name`, errors);
      names.add(name);
    }
    const { resourceClaimName: one, resourceClaimTemplateName: other } = claim;
    const shown = (): Verbatim => {
      const own = { Name: name, ResourceClaimName: one ?? null, ResourceClaimTemplateName: other ?? null };
      return new Verbatim(JSON.stringify(own));
    };
    if (isSet(one) && isSet(other)) {
      const detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      errors.push(invalidValue(here, shown(), detail));
    }
    if (!isSet(one) && !isSet(other)) {
      const detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
      errors.push(invalidValue(here, shown(), detail));
    }
    if (isSet(one)) checkSubdomain(text(one), `${here}.resourceClaimName`, errors);
    if (isSet(other)) checkSubdomain(text(other), `${here}.resourceClaimTemplateName`, errors);
  }
}

/** Variables that are read from a file: it must be in a volume that nothing else fills. */
function checkFileVariables(spec: Fields, path: string, errors: Errors): void {
  for (const [container, here] of everyContainer(spec, path)) {
    for (const [i, variable] of structs(container.env).entries()) {
      const ref = struct(struct(variable.valueFrom)?.fileKeyRef);
      if (ref === undefined) continue;
      const name = text(ref.volumeName);
      const field = `${here}.env[${i}].valueFrom.fileKeyRef.volumeName`;
      const volume = structs(spec.volumes).findLast((item) => text(item.name) === name);
      if (volume === undefined) errors.push(missingReference(field, name));
      else if (!isSet(volume.emptyDir)) {
        errors.push(invalidValue(field, name, "referenced volume must be of type emptyDir"));
      }
    }
  }
}

/** A pod, whatever is done to it. */
export function checkPod(pod: Fields, errors: Errors): void {
  const spec = struct(pod.spec) ?? {};
  const meta = struct(pod.metadata) ?? {};
  checkPodAnnotations(struct(meta.annotations) ?? {}, spec, "metadata.annotations", errors);
  checkPodSpec(spec, meta, "spec", errors);
  if (text(spec.serviceAccountName) === "") {
    for (const [i, volume] of structs(spec.volumes).entries()) {
      for (const [j, source] of structs(struct(volume.projected)?.sources).entries()) {
        if (!isSet(source.serviceAccountToken)) continue;
        const field = `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`;
        errors.push(forbiddenField(field, "must not be specified when serviceAccountName is not set"));
      }
    }
  }
  for (const list of ["containers", "initContainers"]) {
    for (const [i, container] of structs(spec[list]).entries()) {
      checkImageSpaces(container, `spec.${list}[${i}]`, errors);
    }
  }
}

/** A template of pods in any kind. */
export function checkPodTemplate(template: Fields, path: string, errors: Errors): void {
  const meta = struct(template.metadata) ?? {};
  const annotations = struct(meta.annotations) ?? {};
  const spec = struct(template.spec) ?? {};
  checkLabels(meta.labels, `${path}.labels`, errors);
  checkAnnotations(annotations, `${path}.annotations`, errors);
  checkPodAnnotations(annotations, spec, `${path}.annotations`, errors);
  checkPodSpec(spec, undefined, `${path}.spec`, errors);
  checkAgreement(annotations, spec, `${path}.spec`, errors);
  if (structs(spec.ephemeralContainers).length > 0) {
    errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  }
}
