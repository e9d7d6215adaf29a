/**
 * The useless machine: somebody flips its switch, and it flips it back. The first time at once; after that it rests for
 * five seconds between two flips, and no machine ever waits for another.
 */
import { Operator, resource, TemporaryError } from "lotse";
import { z } from "zod";

export const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ switchPosition: z.string().default("down") }),
  status: z.object({ seenAt: z.iso.datetime().optional() }),
  shortNames: ["um"],
  columns: [
    { name: "Switch", type: "string", path: ".spec.switchPosition" },
    { name: "Seen", type: "date", path: ".status.seenAt" },
  ],
});

const REST_MS = 5_000;

const operator = new Operator({ name: "useless-machine", crds: "install" });

operator.on(
  ["create", "update", "resume"],
  Machine,
  { when: ({ spec }) => spec.switchPosition !== "down" },
  function flipBack({ spec, status, patch, logger, started, runtime }) {
    const now = started.getTime() + runtime;
    const rested = status.seenAt === undefined ? Number.POSITIVE_INFINITY : now - Date.parse(status.seenAt);
    // Nobody waits here: the machine comes back when it has rested, and meanwhile others have their turn.
    if (rested < REST_MS) throw new TemporaryError("the machine rests", { delay: REST_MS - rested });
    logger.info("flipped back", { from: spec.switchPosition });
    patch.spec.switchPosition = "down";
    patch.status.seenAt = new Date(now).toISOString();
  },
);

export default operator;
