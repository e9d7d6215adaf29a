/** What a kubelet tells about the containers of a pod, in its words. Pure. */
import type { EventNote } from "../controllers/index.ts";
import type { ApiObject } from "../registry/index.ts";
import type { ContainerRecord } from "./containers.ts";
import type { Hook } from "./runtime.ts";

/** The probes, as they are called in sentences. */
export type ProbeKind = "Startup" | "Liveness" | "Readiness";

const LISTS = {
  init: "initContainers",
  sidecar: "initContainers",
  main: "containers",
  ephemeral: "ephemeralContainers",
} as const;

function about({ name, role }: ContainerRecord, type: EventNote["type"], reason: string, message: string): EventNote {
  return { type, reason, message, fieldPath: `spec.${LISTS[role]}{${name}}` };
}

const imageOf = (record: ContainerRecord) => JSON.stringify(record.spec.image ?? "");

/** The image is being fetched. */
export function pullingNote(record: ContainerRecord): EventNote {
  return about(record, "Normal", "Pulling", `Pulling image ${imageOf(record)}`);
}

/** A container began to run. `pulled`: its image had to be fetched before, which takes a node like this no time. */
export function startedNotes(record: ContainerRecord, pulled: boolean): EventNote[] {
  const image = imageOf(record);
  const fetched = pulled
    ? `Successfully pulled image ${image} in 0s (0s including waiting). Image size: 0 bytes.`
    : `Container image ${image} already present on machine and can be accessed by the pod`;
  return [
    about(record, "Normal", "Pulled", fetched),
    about(record, "Normal", "Created", "Container created"),
    about(record, "Normal", "Started", "Container started"),
  ];
}

/** A container could not be started, for the `reason` that its state shows. */
export function notStartedNotes(record: ContainerRecord, reason: string, message: string): EventNote[] {
  const image = imageOf(record);
  switch (reason) {
    case "ErrImagePull":
      return [
        about(record, "Warning", "Failed", `Failed to pull image ${image}: ${message}`),
        about(record, "Warning", "Failed", `Error: ${reason}`),
      ];
    case "ImagePullBackOff":
      return [
        about(record, "Warning", "Failed", `Failed to pull image ${image}: ${message}`),
        about(record, "Normal", "BackOff", `Back-off pulling image ${image}`),
        about(record, "Warning", "Failed", `Error: ${reason}`),
      ];
    default:
      return [about(record, "Warning", "Failed", `Error: ${message}`)];
  }
}

/** The Event about a container that waits before it is started again. */
export function backOffNote(record: ContainerRecord, pod: ApiObject): EventNote {
  return about(
    record,
    "Warning",
    "BackOff",
    `Back-off restarting failed container ${record.name} in pod ${describePod(pod)}`,
  );
}

/** A pod as a kubelet's sentences name it. */
export function describePod({ metadata: { name, namespace, uid } }: ApiObject): string {
  return `${name}_${namespace}(${uid})`;
}

/** The Event about a probe that failed. */
export function probeFailedNote(record: ContainerRecord, probe: ProbeKind, output: string): EventNote {
  return about(record, "Warning", "Unhealthy", `${probe} probe failed: ${output}`);
}

/** A container is ended because a probe said so, or else because its pod ends. */
export function killingNote(record: ContainerRecord, because?: ProbeKind): EventNote {
  const message = because
    ? `Container ${record.name} failed ${because.toLowerCase()} probe, will be restarted`
    : `Stopping container ${record.name}`;
  return about(record, "Normal", "Killing", message);
}

/** A hook has failed. What it said stays on the node: it may have been a secret. */
export function hookFailedNote(record: ContainerRecord, hook: Hook): EventNote {
  return about(record, "Warning", `Failed${hook}Hook`, `${hook}Hook failed`);
}

/** A container is ended because its hook for the start has failed. */
export function killedByHookNote(record: ContainerRecord): EventNote {
  return about(record, "Normal", "Killing", "FailedPostStartHook");
}
