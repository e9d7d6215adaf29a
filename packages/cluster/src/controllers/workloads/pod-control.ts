import type { ApiObject } from "../../registry/index.ts";
import { type Desk, isNamespaceGoing } from "./desk.ts";
import { PODS, type Pod } from "./tables.ts";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Creates a pod and tells so on its owner; a failure is told, too, and thrown. */
export async function createPod(desk: Desk, owner: ApiObject, pod: Pod): Promise<void> {
  try {
    const made = await desk.create(PODS, pod);
    await desk.event(owner, "Normal", "SuccessfulCreate", `Created pod: ${made.metadata.name}`);
  } catch (error) {
    if (!isNamespaceGoing(error)) {
      await desk.event(owner, "Warning", "FailedCreate", `Error creating: ${messageOf(error)}`);
    }
    throw error;
  }
}

export async function deletePod(desk: Desk, owner: ApiObject, pod: Pod): Promise<void> {
  try {
    if (!(await desk.remove(PODS, pod))) return;
    await desk.event(owner, "Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
  } catch (error) {
    await desk.event(owner, "Warning", "FailedDelete", `Error deleting: ${messageOf(error)}`);
    throw error;
  }
}
