import { lookup } from "@lotse/client/meta";
import type { Strategy } from "../strategy.ts";
import * as certificates from "./certificates.ts";
import * as flow from "./flow-control.ts";
import * as network from "./network.ts";
import * as policy from "./policy.ts";
import * as storage from "./storage.ts";
import * as workloads from "./workloads.ts";

/** What a kind checks beyond the types of its fields. */
export interface KindRules extends Pick<Strategy, "validate" | "validateCreate" | "validateUpdate"> {
  /** Paths, without indexes, that the kind words itself, so that nobody else may complain about them. */
  readonly own?: readonly string[];
}

const BINDING = ["roleRef.apiGroup", "roleRef.kind", "roleRef.name", "subjects[].kind", "subjects[].name"];

const RULES: Readonly<Record<string, KindRules>> = {
  "apps/deployments": { own: ["spec.strategy.type"], validate: workloads.deployment },
  "apps/replicasets": { validate: workloads.alwaysRestarts },
  "apps/statefulsets": {
    own: ["spec.podManagementPolicy", "spec.updateStrategy.type"],
    validate: workloads.statefulSet,
  },
  "apps/daemonsets": { own: ["spec.updateStrategy.type"], validate: workloads.daemonSet },
  "apps/controllerrevisions": {
    validate: workloads.controllerRevision,
    validateUpdate: workloads.controllerRevisionUpdate,
  },
  "batch/jobs": { validate: workloads.job, validateUpdate: workloads.jobUpdate },
  "batch/cronjobs": { validate: workloads.cronJob },
  "/replicationcontrollers": { validate: workloads.replicationController },
  "/persistentvolumeclaims": {
    own: ["spec.accessModes[]"],
    validate: storage.claim,
    validateUpdate: storage.claimUpdate,
  },
  "/persistentvolumes": { own: ["spec.accessModes[]"], validate: storage.volume },
  "/limitranges": { validate: storage.limitRange },
  "/resourcequotas": { own: ["spec.scopes[]"], validate: storage.quota, validateUpdate: storage.quotaUpdate },
  "storage.k8s.io/storageclasses": {
    own: ["reclaimPolicy", "provisioner"],
    validate: storage.storageClass,
    validateUpdate: storage.storageClassUpdate,
  },
  "scheduling.k8s.io/priorityclasses": {
    own: ["preemptionPolicy"],
    validate: storage.priorityClass,
    validateUpdate: storage.priorityClassUpdate,
  },
  "node.k8s.io/runtimeclasses": {
    own: ["handler"],
    validate: storage.runtimeClass,
    validateUpdate: storage.runtimeClassUpdate,
  },
  "events.k8s.io/events": { own: ["series.count", "series.lastObservedTime"] },
  "/endpoints": { own: ["subsets[].addresses[].ip"], validate: network.endpoints },
  "discovery.k8s.io/endpointslices": {
    own: ["addressType", "endpoints[].addresses"],
    validateCreate: network.endpointSlice,
    validateUpdate: network.endpointSliceUpdate,
  },
  "networking.k8s.io/ingresses": {
    own: ["spec.rules[].http.paths[].pathType"],
    validate: network.ingress,
  },
  "networking.k8s.io/ingressclasses": { validate: network.ingressClass, validateUpdate: network.ingressClassUpdate },
  "networking.k8s.io/networkpolicies": { own: ["spec.policyTypes[]"], validate: network.networkPolicy },
  "policy/poddisruptionbudgets": { validate: network.budget },
  "autoscaling/horizontalpodautoscalers": {
    own: ["spec.scaleTargetRef.kind", "spec.scaleTargetRef.name", "spec.maxReplicas"],
    validate: network.autoscaler,
  },
  "rbac.authorization.k8s.io/roles": { own: ["rules[].verbs"], validate: policy.role(true) },
  "rbac.authorization.k8s.io/clusterroles": { own: ["rules[].verbs"], validate: policy.role(false) },
  "rbac.authorization.k8s.io/rolebindings": {
    own: BINDING,
    validate: policy.binding(true),
    validateUpdate: policy.roleRefUpdate,
  },
  "rbac.authorization.k8s.io/clusterrolebindings": {
    own: BINDING,
    validate: policy.binding(false),
    validateUpdate: policy.roleRefUpdate,
  },
  "certificates.k8s.io/certificatesigningrequests": {
    own: ["spec.request", "spec.usages", "spec.signerName"],
    validate: certificates.signingRequest,
  },
  "flowcontrol.apiserver.k8s.io/flowschemas": {
    own: ["spec.priorityLevelConfiguration.name", "spec.rules[].subjects[].kind"],
    validate: flow.flowSchema,
  },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": { own: ["spec.type"], validate: flow.priorityLevel },
};

const NONE: KindRules = {};

export function rulesOf(group: string, plural: string): KindRules {
  return lookup(RULES, `${group}/${plural}`) ?? NONE;
}
