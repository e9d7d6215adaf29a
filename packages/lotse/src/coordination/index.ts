export type { Coordinated, CoordinationHealth, Coordinator, CoordinatorParts } from "./coordinator.ts";
export { createCoordinator } from "./create.ts";
export {
  findLeases,
  operatorsWithLeases,
  PAUSE_ANNOTATION,
  PAUSE_PRIORITY,
  type Pause,
  Pauser,
  parsePauses,
  placeOf,
  putPause,
  takePause,
  untilHeard,
} from "./pause/index.ts";
export { findPeeringKind, formatPeer, parsePeers, peeringNames, personIdentity } from "./peers/index.ts";
