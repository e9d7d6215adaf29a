/** What a pod's body says about its state. */
import type { corev1 } from "../kinds/index.ts";

/** A container of a pod: what was asked for, and what became of it. */
export interface ContainerView {
  readonly name: string;
  readonly image: string | undefined;
  readonly type: "init" | "main" | "ephemeral";
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: "waiting" | "running" | "terminated" | "unknown";
  /** Why it waits or has ended: `CrashLoopBackOff`, `OOMKilled`, … */
  readonly reason: string | undefined;
  readonly exitCode: number | undefined;
}

/** Whether a pod answers: it and its containers are ready, and it is not on its way out. */
export function isPodReady({ metadata, status }: corev1.Pod): boolean {
  const has = (type: string) => status?.conditions?.find((condition) => condition.type === type)?.status;
  return metadata?.deletionTimestamp === undefined && has("Ready") === "True" && has("ContainersReady") !== "False";
}

/** Whether a pod has ended by itself. */
export function isPodFinished({ status }: corev1.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** The containers of a pod in the order in which they start. */
export function containersOf({ spec, status }: corev1.Pod): ContainerView[] {
  const view = (
    type: ContainerView["type"],
    containers: readonly { name: string; image?: string }[] | undefined,
    statuses: readonly corev1.ContainerStatus[] | undefined,
  ) =>
    (containers ?? []).map(({ name, image }) => {
      const known = statuses?.find((one) => one.name === name);
      return { name, image, type, ...stateOf(known) };
    });
  return [
    ...view("init", spec?.initContainers, status?.initContainerStatuses),
    ...view("main", spec?.containers, status?.containerStatuses),
    ...view("ephemeral", spec?.ephemeralContainers, status?.ephemeralContainerStatuses),
  ];
}

function stateOf(known: corev1.ContainerStatus | undefined): Omit<ContainerView, "name" | "image" | "type"> {
  const { waiting, running, terminated } = known?.state ?? {};
  return {
    ready: known?.ready ?? false,
    restartCount: known?.restartCount ?? 0,
    state: terminated ? "terminated" : running ? "running" : waiting ? "waiting" : "unknown",
    reason: terminated?.reason ?? waiting?.reason,
    exitCode: terminated?.exitCode,
  };
}
