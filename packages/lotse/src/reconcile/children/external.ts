/** Things outside of the cluster: read, created, updated and deleted by functions of the user. */
import type { ExternalChild } from "../../declare/index.ts";
import { shows } from "./compare.ts";
import type { Desired } from "./desired.ts";
import { type ChildState, stateOf } from "./objects.ts";

/** Makes the thing what it shall be. */
export async function keepExternal(desired: Desired, external: ExternalChild): Promise<ChildState> {
  let current = await external.read();
  if (external.wanted === false) {
    if (current === undefined || current === null)
      return stateOf(desired, "Absent", { ready: true, message: "it is gone" });
    await external.delete(current);
    return stateOf(desired, "Deleted", { ready: true, message: "it was deleted" });
  }
  if (current === undefined || current === null) {
    await external.create();
    current = await external.read();
  } else if (external.update && external.desired !== undefined && !shows(current, external.desired)) {
    await external.update(current);
    current = await external.read();
  }
  if (current === undefined || current === null) {
    return stateOf(desired, "NotReady", { ready: false, message: "it was created and is not to be seen yet" });
  }
  const ready = desired.readyWhen ? desired.readyWhen(current as never) : true;
  return stateOf(desired, ready ? "Ready" : "NotReady", { ready, message: ready ? "it is there" : "it is not ready" });
}

/** Whether the thing is gone afterwards. */
export async function deleteExternal(external: ExternalChild): Promise<boolean> {
  const current = await external.read();
  if (current === undefined || current === null) return true;
  await external.delete(current);
  const left = await external.read();
  return left === undefined || left === null;
}
