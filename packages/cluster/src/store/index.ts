export type { Change, ChangeListener, ChangeType, Entry, StoredObject } from "./change.ts";
export type { CutTail, DataFolder, DataOptions, DataReport } from "./disk/index.ts";
export { ChangeHistory, type HistoryBounds } from "./history.ts";
export type { Durability, Journal, JournalEntry, StoredRow } from "./journal.ts";
export { sizeOf } from "./size.ts";
export { restoreRows } from "./snapshot.ts";
export { RevisionExpired, Store, type StoreOptions, type WriteResult } from "./store.ts";

/** The part that knows files; loaded when a cluster wants to be kept. */
export const loadDisk = () => import("./disk/index.ts");
