export { type NetworkOptions, ProcessNetwork } from "./process-network.ts";
