import type { Controller, ControllerContext } from "../controller.ts";
import { ChildIndexes } from "./children.ts";
import { type Workload, WorkloadController } from "./engine.ts";
import { EventRecorder } from "./events.ts";
import { cronJobs } from "./jobs/cron-jobs.ts";
import { finishedJobs } from "./jobs/finished-jobs.ts";
import { jobs } from "./jobs/jobs.ts";
import type { WorkloadName } from "./names.ts";
import { endpointMirror } from "./network/endpoint-mirror.ts";
import { endpoints } from "./network/endpoints.ts";
import { daemonSets } from "./sets/daemon-sets.ts";
import { deployments } from "./sets/deployments.ts";
import { replicaSets } from "./sets/replica-sets.ts";
import { statefulSets } from "./sets/stateful-sets.ts";
import { claims, volumes } from "./storage/volumes.ts";
import { REPLICA_SETS, REPLICATION_CONTROLLERS } from "./tables.ts";
import { WorkloadApi } from "./workload-api.ts";

interface Row {
  readonly name: WorkloadName;
  /** Who the events are from. */
  readonly component: string;
  readonly make: (api: WorkloadApi) => Workload;
}

/** Every workload controller. A new one is a row. */
const ROWS: readonly Row[] = [
  { name: "deployments", component: "deployment-controller", make: deployments },
  { name: "replicaSets", component: "replicaset-controller", make: (api) => replicaSets(api, REPLICA_SETS) },
  {
    name: "replicaSets",
    component: "replication-controller",
    make: (api) => replicaSets(api, REPLICATION_CONTROLLERS),
  },
  { name: "statefulSets", component: "statefulset-controller", make: statefulSets },
  { name: "daemonSets", component: "daemonset-controller", make: daemonSets },
  { name: "jobs", component: "job-controller", make: jobs },
  { name: "jobs", component: "ttl-after-finished-controller", make: finishedJobs },
  { name: "cronJobs", component: "cronjob-controller", make: cronJobs },
  { name: "endpoints", component: "endpoint-controller", make: endpoints },
  { name: "endpoints", component: "endpoint-slice-mirroring-controller", make: endpointMirror },
  { name: "volumes", component: "persistentvolume-controller", make: claims },
  { name: "volumes", component: "persistentvolume-controller", make: volumes },
];

/** Makes the controllers that are wanted; they share what they know about children. */
export function createControllers(context: ControllerContext, isOn: (name: WorkloadName) => boolean): Controller {
  const children = new ChildIndexes(context.backend.store);
  const events = new EventRecorder(context);
  const controllers = ROWS.filter(({ name }) => isOn(name)).map(({ component, make }) => {
    const api = new WorkloadApi(context, children, events, component);
    return new WorkloadController(context, api, make(api));
  });
  return {
    get idle() {
      return controllers.every((controller) => controller.idle);
    },
    start: () => {
      for (const controller of controllers) controller.start();
    },
    stop: () => {
      for (const controller of controllers) controller.stop();
      children.stop();
    },
  };
}
