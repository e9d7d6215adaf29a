/** Who wants what of a turn's one write: several handlers share it, and each knows only its own part. */
import type { JsonObject } from "@lotse/client/meta";
import type { Handler } from "../declare/index.ts";
import type { ConditionChanges } from "./conditions.ts";
import type { Transform } from "./patch.ts";

/** What one attempt of one handler wants to change. What the framework itself changes has no contribution. */
export interface Contribution {
  /** The id of the handler. */
  readonly handler: string;
  readonly type: Handler["type"];
  /** As a merge patch; its result included. */
  readonly changes: JsonObject | undefined;
  readonly transforms: readonly Transform[];
  readonly conditions: ConditionChanges | undefined;
}

/** Whether anything is wanted at all. */
export function isEmptyContribution({ changes, transforms, conditions }: Contribution): boolean {
  return changes === undefined && transforms.length === 0 && conditions === undefined;
}
