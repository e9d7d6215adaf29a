export { ShardsCoordinator, type ShardsPlan } from "./coordinator.ts";
export type { GroupKind } from "./keys.ts";
export { lastOf, type Member, type MemberInput, type MemberState, type MemberStep, type MemberTask } from "./member.ts";
export { BEGINNING, heldOf, next, ownedOf } from "./membership.ts";
export { SLICES, type Slices, sliceOfText, sliceOfUid } from "./rendezvous.ts";
export type { Claim, Seat } from "./seat.ts";
