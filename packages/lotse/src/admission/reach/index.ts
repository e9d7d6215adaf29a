export { readLocalAddresses, readNodeAddresses, readServerNames } from "./ask.ts";
export { type ClientConfig, namesOfReach, planReach, type ReachFacts, type ReachOptions } from "./reach.ts";
export type { LocalAddress } from "./subnets.ts";
