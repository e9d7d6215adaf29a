import { lookup } from "@lotse/client/meta";
import type { ApiObject } from "../../object.ts";
import { canonicalQuantity } from "../../quantity-form.ts";
import type { Strategy } from "../../strategy.ts";
import { entries, struct, structs, text } from "../pod/index.ts";
import { nanosOf } from "../resources.ts";
import { addressWarnings } from "./addresses.ts";
import * as network from "./network.ts";
import { oldLabel } from "./nodes.ts";
import { secretWarnings } from "./secrets.ts";
import { balancerWarnings, serviceWarnings } from "./service.ts";
import * as storage from "./storage.ts";
import * as workloads from "./workloads.ts";

type Warnings = NonNullable<Strategy["warnings"]>;

/** Only about the object itself, not when a part of it is written for itself. */
const whole =
  (warnings: (object: ApiObject, old?: ApiObject) => string[]): Warnings =>
  (object, old, subresource) =>
    subresource === undefined ? warnings(object, old) : [];

const onCreate = (warnings: (object: ApiObject) => string[]): Warnings =>
  whole((object, old) => (old ? [] : warnings(object)));

const withBalancer =
  (warnings: Warnings): Warnings =>
  (object, old, subresource) =>
    subresource === "status" ? balancerWarnings(object) : warnings(object, old, subresource);

function podStatusWarnings(object: ApiObject): string[] {
  const status = struct(object.status);
  return ["podIPs", "hostIPs"].flatMap((list) =>
    structs(status?.[list]).flatMap(({ ip }, i) => addressWarnings(text(ip), `status.${list}[${i}].ip`)),
  );
}

const newPods = onCreate(workloads.newPodWarnings);

const MOUNTABLE = "kubernetes.io/enforce-mountable-secrets";

function accountWarnings({ metadata }: ApiObject, old?: ApiObject): string[] {
  const has = (annotations: Record<string, string> | undefined) => Object.hasOwn(annotations ?? {}, MOUNTABLE);
  if (!has(metadata.annotations) || has(old?.metadata.annotations)) return [];
  return [
    `metadata.annotations[${MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ];
}

function runtimeClassWarnings({ scheduling }: ApiObject): string[] {
  return entries(struct(scheduling)?.nodeSelector).flatMap(([key]) => {
    const old = oldLabel(key);
    return old === undefined ? [] : [`scheduling.nodeSelector: ${old}`];
  });
}

/** Requests that may be larger than limits. */
function quotaWarnings(object: ApiObject): string[] {
  const hard = struct(struct(object.spec)?.hard) ?? {};
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const bare = name === "cpu" || name === "memory";
    const request = [`requests.${name}`, ...(bare ? [name] : [])].find((key) => hard[key] !== undefined);
    const limit = `limits.${name}`;
    if (request === undefined || hard[limit] === undefined || nanosOf(hard[request]) <= nanosOf(hard[limit])) return [];
    const shown = (key: string) => `${key} (${canonicalQuantity(String(hard[key]))})`;
    return [`ResourceQuota ${shown(request)} should be less than ${shown(limit)}`];
  });
}

const STATIC = ".static.k8s.io";

function staticName({ metadata }: ApiObject): string[] {
  if (!metadata.name.endsWith(STATIC)) return [];
  return [
    `metadata.name: names ending with "${STATIC}" are reserved for static manifest-based configurations and cannot be managed via the API`,
  ];
}

const WARNINGS: Readonly<Record<string, Warnings>> = {
  "/pods": (object, old, subresource) =>
    subresource === "status" ? podStatusWarnings(object) : newPods(object, old, subresource),
  "/podtemplates": whole(workloads.podTemplateWarnings),
  "/replicationcontrollers": whole(workloads.replicationControllerWarnings),
  "/services": withBalancer(whole(serviceWarnings)),
  "/secrets": whole(secretWarnings),
  "/serviceaccounts": whole(accountWarnings),
  "/endpoints": whole(network.endpointsWarnings),
  "/nodes": whole(network.nodeWarnings),
  "/persistentvolumes": whole(storage.volumeWarnings),
  "/persistentvolumeclaims": whole(storage.claimWarnings),
  "/resourcequotas": onCreate(quotaWarnings),
  "apps/deployments": whole(workloads.ownerWarnings),
  "apps/replicasets": whole(workloads.ownerWarnings),
  "apps/daemonsets": whole(workloads.daemonSetWarnings),
  "apps/statefulsets": whole(workloads.statefulSetWarnings),
  "batch/jobs": whole(workloads.jobWarnings),
  "batch/cronjobs": whole(workloads.cronJobWarnings),
  "discovery.k8s.io/endpointslices": whole(network.sliceWarnings),
  "networking.k8s.io/networkpolicies": whole(network.networkPolicyWarnings),
  "networking.k8s.io/ingresses": withBalancer(onCreate(network.ingressWarnings)),
  "node.k8s.io/runtimeclasses": whole(runtimeClassWarnings),
  "storage.k8s.io/storageclasses": whole(storage.classWarnings),
  "storage.k8s.io/csistoragecapacities": whole(storage.capacityWarnings),
  "storage.k8s.io/csidrivers": whole(storage.driverWarnings),
  ...Object.fromEntries(
    ["validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies"]
      .concat("validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
      .map((plural) => [`admissionregistration.k8s.io/${plural}`, whole(staticName)]),
  ),
};

/** What writers of a kind should know although it is no mistake. */
export function warningsOf(group: string, plural: string): Warnings | undefined {
  return lookup(WARNINGS, `${group}/${plural}`);
}
