export { PeeringCoordinator } from "./coordinator.ts";
