export { type CutTail, DataFolder, type DataOptions, type DataReport } from "./disk-data.ts";
export type { StoreState } from "./disk-journal.ts";
export { DataError } from "./errors.ts";
