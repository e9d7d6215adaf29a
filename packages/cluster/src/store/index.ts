export type { CutTail, DataFolder, DataOptions, DataReport } from "./disk/index.ts";
export { ChangeHistory, type HistoryBounds } from "./history.ts";
export type { Durability, Journal, JournalEntry, StoredRow } from "./journal.ts";
export { sizeOf } from "./size.ts";
export { restoreRows } from "./snapshot.ts";
export {
  type Change,
  type ChangeListener,
  type ChangeType,
  type Entry,
  RevisionExpired,
  Store,
  type StoredObject,
  type StoreOptions,
  type WriteResult,
} from "./store.ts";

/** The part that knows files; loaded when a cluster wants to be kept. */
export const loadDisk = () => import("./disk/index.ts");
