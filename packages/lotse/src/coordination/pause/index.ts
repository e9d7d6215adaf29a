export {
  findLeases,
  type LeaseQuestion,
  operatorsWithLeases,
  placeOf,
  putPause,
  takePause,
} from "./leases.ts";
export {
  describePause,
  type Moment,
  NO_PAUSES,
  PAUSE_ANNOTATION,
  PAUSE_PRIORITY,
  type Pause,
  parsePauses,
  pauseInForce,
  readPause,
  type SeenPauses,
  seePauses,
  withoutPause,
  withPause,
} from "./pause.ts";
export { Pauser, type PauserParts, untilHeard } from "./pauser.ts";
export { PauseWatch, type PauseWatchParts } from "./watch.ts";
