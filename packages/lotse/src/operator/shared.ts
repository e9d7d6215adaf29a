/** What the controllers of one operator have in common. */
import type { Memo } from "../declare/index.ts";
import type { World } from "../reconcile/index.ts";
import type { Reporting } from "../report/index.ts";
import type { KindStore, Runtime } from "../runtime/index.ts";
import type { OperatorIndexes } from "./indexes.ts";
import type { Scopes } from "./scopes.ts";

/** What all controllers of an operator share. */
export interface ControllerShared extends Runtime, Reporting {
  /** What each object's memo begins with. */
  readonly memo: Memo;
  readonly scopes: Scopes;
  readonly indexes: OperatorIndexes;
  readonly world: World;
  /** A handler wrote an object of this kind. */
  readonly handlerWrote: KindStore["handlerWrote"];
  /** What waits for another try is tried when its object is first seen. */
  readonly retryAtStart: boolean;
}
