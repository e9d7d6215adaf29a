/** The same operator as in peer.py, in Lotse: tells what it handles, and gives way by the peering object. */
import { type Duration, kopf, Operator, peering } from "lotse";
import { ConfigMap } from "lotse/client";

const lifetime = `${Number(process.env.PEER_LIFETIME)}s` as Duration;
const operator = new Operator({
  name: "peer",
  // So that what the one has handled is handled for the other.
  persistence: kopf(),
  coordination: peering({ lifetime }),
  events: "none",
});

operator.on(["create", "update"], ConfigMap, { id: "handle", labels: { peers: "yes" } }, ({ name, reason }) => {
  process.stdout.write(`lotse: ${reason} ${name}\n`);
});

export default operator;
