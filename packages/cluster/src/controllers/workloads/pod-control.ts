import type { ApiObject } from "../../registry/index.ts";
import { PODS, type Pod } from "./tables.ts";
import { isNamespaceGoing, type WorkloadApi } from "./workload-api.ts";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Creates a pod and tells so on its owner; a failure is told, too, and thrown. */
export async function createPod(api: WorkloadApi, owner: ApiObject, pod: Pod): Promise<void> {
  try {
    const made = await api.create(PODS, pod);
    await api.event(owner, "Normal", "SuccessfulCreate", `Created pod: ${made.metadata.name}`);
  } catch (error) {
    if (!isNamespaceGoing(error)) {
      await api.event(owner, "Warning", "FailedCreate", `Error creating: ${messageOf(error)}`);
    }
    throw error;
  }
}

/** Deletes a pod of a workload, with an Event about it; one that is gone already is passed over. */
export async function deletePod(api: WorkloadApi, owner: ApiObject, pod: Pod): Promise<void> {
  try {
    if (!(await api.remove(PODS, pod))) return;
    await api.event(owner, "Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
  } catch (error) {
    await api.event(owner, "Warning", "FailedDelete", `Error deleting: ${messageOf(error)}`);
    throw error;
  }
}
