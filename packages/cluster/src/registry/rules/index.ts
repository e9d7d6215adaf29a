import { lookup } from "@lotse/client/meta";
import type { Strategy } from "../strategy.ts";
import { apiService } from "./api-services.ts";
import * as attachments from "./attachments.ts";
import * as autoscaler from "./autoscaler.ts";
import * as budget from "./budget.ts";
import * as certificates from "./certificates.ts";
import * as classes from "./classes.ts";
import * as endpoints from "./endpoints.ts";
import { flowSchema } from "./flow-schemas.ts";
import * as ingress from "./ingress.ts";
import * as leases from "./leases.ts";
import * as networkPolicy from "./network-policy.ts";
import * as nodes from "./nodes.ts";
import * as pods from "./pod/index.ts";
import * as policy from "./policy.ts";
import { priorityLevel } from "./priority-levels.ts";
import * as quota from "./quota.ts";
import * as service from "./service.ts";
import * as serviceRanges from "./service-ranges.ts";
import * as storageClasses from "./storage-classes.ts";
import * as volumes from "./volumes.ts";
import * as apps from "./workload/apps.ts";
import * as jobs from "./workload/jobs.ts";

export { containsAddress, parseRange } from "./addresses.ts";
export { textOf, textsOf } from "./common.ts";
export { conditionsErrors } from "./conditions.ts";
export { roundResources, totals } from "./pod/index.ts";
export { isExternal, needsHealthCheck } from "./service.ts";
export { clusterAddressErrors, familyOf } from "./service-addresses.ts";
export { configKeyComplaints, given, selectorErrors } from "./values.ts";
export { adoptAppArmor } from "./warnings/app-armor.ts";
export { finalizerWarnings } from "./warnings/finalizers.ts";
export { warningsOf } from "./warnings/table.ts";

/** What a kind checks beyond the types of its fields. */
export interface KindRules extends Pick<Strategy, "validate" | "validateCreate" | "validateUpdate"> {
  /** No other rule complains about its fields: those here are all that there are. */
  readonly whole?: boolean;
  /** Paths, without indexes, that the kind words itself, so that no other rule may complain about them. */
  readonly own?: readonly string[];
}

const RULES: Readonly<Record<string, KindRules>> = {
  "/pods": { whole: true, validateCreate: pods.pod, validateUpdate: pods.podUpdate },
  "/podtemplates": { whole: true, validate: pods.podTemplate },
  "apps/deployments": { whole: true, validateCreate: apps.deployment, validateUpdate: apps.deploymentUpdate },
  "apps/replicasets": { whole: true, validateCreate: apps.replicaSet, validateUpdate: apps.replicaSetUpdate },
  "apps/statefulsets": { whole: true, validateCreate: apps.statefulSet, validateUpdate: apps.statefulSetUpdate },
  "apps/daemonsets": { whole: true, validateCreate: apps.daemonSet, validateUpdate: apps.daemonSetUpdate },
  "apps/controllerrevisions": {
    whole: true,
    validateCreate: apps.controllerRevision,
    validateUpdate: apps.controllerRevisionUpdate,
  },
  "batch/jobs": { whole: true, validateCreate: jobs.job, validateUpdate: jobs.jobUpdate },
  "batch/cronjobs": { whole: true, validateCreate: jobs.cronJob, validateUpdate: jobs.cronJobUpdate },
  "/replicationcontrollers": {
    whole: true,
    validateCreate: apps.replicationController,
    validateUpdate: apps.replicationControllerUpdate,
  },
  "/services": { whole: true, validateCreate: service.serviceCreate, validateUpdate: service.serviceUpdate },
  "/persistentvolumeclaims": { whole: true, validateCreate: volumes.claimCreate, validateUpdate: volumes.claimUpdate },
  "/persistentvolumes": { whole: true, validateCreate: volumes.volumeCreate, validateUpdate: volumes.volumeUpdate },
  "/limitranges": { whole: true, validate: quota.limitsErrors },
  "/resourcequotas": { whole: true, validateCreate: quota.quotaCreate, validateUpdate: quota.quotaUpdate },
  "/nodes": { whole: true, validateCreate: nodes.nodeCreate, validateUpdate: nodes.nodeUpdate },
  "/namespaces": { whole: true, validateCreate: nodes.namespaceCreate, validateUpdate: nodes.namespaceUpdate },
  "/serviceaccounts": { whole: true },
  "storage.k8s.io/storageclasses": {
    whole: true,
    validateCreate: storageClasses.classCreate,
    validateUpdate: storageClasses.classUpdate,
  },
  "storage.k8s.io/volumeattributesclasses": {
    whole: true,
    validateCreate: storageClasses.attributesClassCreate,
    validateUpdate: storageClasses.attributesClassUpdate,
  },
  "storage.k8s.io/csidrivers": {
    whole: true,
    validateCreate: storageClasses.driverCreate,
    validateUpdate: storageClasses.driverUpdate,
  },
  "storage.k8s.io/csinodes": {
    whole: true,
    validateCreate: storageClasses.csiNodeCreate,
    validateUpdate: storageClasses.csiNodeUpdate,
  },
  "storage.k8s.io/csistoragecapacities": {
    whole: true,
    validateCreate: storageClasses.capacityCreate,
    validateUpdate: storageClasses.capacityUpdate,
  },
  "storage.k8s.io/volumeattachments": {
    whole: true,
    validateCreate: attachments.attachmentCreate,
    validateUpdate: attachments.attachmentUpdate,
  },
  "scheduling.k8s.io/priorityclasses": {
    whole: true,
    validateCreate: classes.priorityCreate,
    validateUpdate: classes.priorityUpdate,
  },
  "node.k8s.io/runtimeclasses": {
    whole: true,
    validateCreate: classes.runtimeCreate,
    validateUpdate: classes.runtimeUpdate,
  },
  "coordination.k8s.io/leases": { whole: true, validate: leases.leaseErrors },
  "events.k8s.io/events": { own: ["series.count", "series.lastObservedTime"] },
  "/endpoints": {
    whole: true,
    validateCreate: endpoints.endpointsCreate,
    validateUpdate: endpoints.endpointsUpdate,
  },
  "discovery.k8s.io/endpointslices": {
    whole: true,
    validateCreate: endpoints.sliceCreate,
    validateUpdate: endpoints.sliceUpdate,
  },
  "networking.k8s.io/ingresses": {
    whole: true,
    validateCreate: ingress.ingressCreate,
    validateUpdate: ingress.ingressUpdate,
  },
  "networking.k8s.io/ingressclasses": {
    whole: true,
    validateCreate: ingress.classCreate,
    validateUpdate: ingress.classUpdate,
  },
  "networking.k8s.io/networkpolicies": {
    whole: true,
    validateCreate: networkPolicy.policyCreate,
    validateUpdate: networkPolicy.policyUpdate,
  },
  "networking.k8s.io/ipaddresses": {
    whole: true,
    validateCreate: serviceRanges.addressCreate,
    validateUpdate: serviceRanges.addressUpdate,
  },
  "networking.k8s.io/servicecidrs": {
    whole: true,
    validateCreate: serviceRanges.rangeCreate,
    validateUpdate: serviceRanges.rangeUpdate,
  },
  "policy/poddisruptionbudgets": {
    whole: true,
    validateCreate: budget.budgetCreate,
    validateUpdate: budget.budgetUpdate,
  },
  "autoscaling/horizontalpodautoscalers": {
    whole: true,
    validateCreate: autoscaler.autoscalerCreate,
    validateUpdate: autoscaler.autoscalerUpdate,
  },
  "rbac.authorization.k8s.io/roles": { whole: true, validate: policy.role(true) },
  "rbac.authorization.k8s.io/clusterroles": { whole: true, validate: policy.role(false) },
  "rbac.authorization.k8s.io/rolebindings": {
    whole: true,
    validate: policy.binding(true),
    validateUpdate: policy.roleRefUpdate,
  },
  "rbac.authorization.k8s.io/clusterrolebindings": {
    whole: true,
    validate: policy.binding(false),
    validateUpdate: policy.roleRefUpdate,
  },
  "certificates.k8s.io/certificatesigningrequests": {
    own: ["spec.request", "spec.usages", "spec.signerName"],
    validateCreate: certificates.signingRequestCreate,
    validateUpdate: certificates.signingRequestUpdate,
  },
  "apiregistration.k8s.io/apiservices": { whole: true, validate: apiService },
  "flowcontrol.apiserver.k8s.io/flowschemas": { whole: true, validate: flowSchema },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": { whole: true, validate: priorityLevel },
};

const NONE: KindRules = {};

/** The rules of a built-in kind; none for a kind that only its schema checks. */
export function rulesOf(group: string, plural: string): KindRules {
  return lookup(RULES, `${group}/${plural}`) ?? NONE;
}
