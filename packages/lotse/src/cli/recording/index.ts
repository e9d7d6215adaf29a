/** What handlers asked the API server for, written down and read again. */

export { recordedInContext } from "./in-context.ts";
export { type RecordRequest, recordBeside, recordingInUse, recordTo } from "./record.ts";
export { readIfThere, readRecordings, recordingOf } from "./recordings.ts";
