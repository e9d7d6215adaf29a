/** What peers write down of themselves, in Kopf's form, and where: for those who keep a peering, and for those who only speak to one. */
export { peerIdentity, personIdentity } from "./identity.ts";
export { findPeeringKind, peeringNames } from "./kind.ts";
export { formatPeer, type PeerRecord, parsePeers, wholeSeconds } from "./records.ts";
