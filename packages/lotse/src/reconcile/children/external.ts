/** Things outside of the cluster: read, created, updated and deleted by functions of the user. */
import type { ExternalChild } from "../../declare/index.ts";
import { shows } from "./compare.ts";
import type { Desired } from "./desired.ts";
import { type ChildState, stateOf } from "./keeping.ts";
import { type Teller, tellChild } from "./tell.ts";

/** Makes the thing what it shall be. */
export async function keepExternal(teller: Teller, desired: Desired, external: ExternalChild): Promise<ChildState> {
  const { key } = desired;
  let current = await external.read();
  if (external.wanted === false) {
    if (isNothing(current)) return stateOf(desired, "Absent", { ready: true, message: "it is gone" });
    await external.delete(current);
    tellChild(teller, "deleted", key, { why: "it is no longer wanted" });
    return stateOf(desired, "Deleted", { ready: true, message: "it was deleted" });
  }
  if (isNothing(current)) {
    await external.create();
    tellChild(teller, "created", key);
    current = await external.read();
  } else if (external.update && external.desired !== undefined && !shows(current, external.desired)) {
    await external.update(current);
    tellChild(teller, "changed", key);
    current = await external.read();
  }
  if (isNothing(current)) {
    return stateOf(desired, "NotReady", { ready: false, message: "it was created and is not to be seen yet" });
  }
  const ready = desired.readyWhen ? desired.readyWhen(current as never) : true;
  return stateOf(desired, ready ? "Ready" : "NotReady", { ready, message: ready ? "it is there" : "it is not ready" });
}

/** Whether the thing is gone afterwards. */
export async function deleteExternal(
  teller: Teller,
  key: string,
  external: ExternalChild,
  why: string,
): Promise<boolean> {
  const current = await external.read();
  if (isNothing(current)) return true;
  await external.delete(current);
  tellChild(teller, "deleted", key, { why });
  return isNothing(await external.read());
}

function isNothing(current: unknown): boolean {
  return current === undefined || current === null;
}
