export { elapsedMs, isFenceOpen, type Moment } from "./fence.ts";
export { LeaseKeeper, type LeaseParts } from "./keeper.ts";
export { lossText } from "./log.ts";
export { isOwner, type LeaseState, type LossReason, requestMs } from "./machine.ts";
export { type LeaseMeasures, measureLease } from "./measures.ts";
export {
  isOwn,
  type LeaseBody,
  type LeaseClaim,
  type LeaseRecord,
  newLease,
  readLease,
  releasedLease,
  renewedLease,
  takenLease,
  WRITER_ANNOTATION,
} from "./record.ts";
export { LeaseRequests, type Written } from "./requests.ts";
export { type Keeper, Tenure } from "./tenure.ts";
