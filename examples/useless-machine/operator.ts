/**
 * The useless machine: somebody flips its switch, and five seconds after it has noticed, the machine flips it back. No
 * machine ever waits for another.
 */
import { Operator, resource, TemporaryError } from "lotse";
import { z } from "zod";

export const Machine = resource({
  group: "useless.container.training",
  version: "v1alpha1",
  kind: "Machine",
  spec: z.object({ switchPosition: z.string().default("down") }),
  status: z.object({
    /** When the operator noticed that the switch was flipped. */
    seenAt: z.iso.datetime().optional(),
  }),
  shortNames: ["um"],
  columns: [
    { name: "Switch", type: "string", path: ".spec.switchPosition" },
    { name: "Seen", type: "date", path: ".status.seenAt" },
  ],
});

const PAUSE_MS = 5_000;

const operator = new Operator({ name: "useless-machine", crds: "install" });

operator.on(
  ["create", "update", "resume"],
  Machine,
  { when: ({ spec }) => spec.switchPosition !== "down" },
  function flipBack({ spec, patch, started, runtime, logger }) {
    // The first attempt is the moment of noticing, and is remembered over all that follow, a restart included.
    patch.status.seenAt = started.toISOString();
    // Nobody sleeps here: the machine comes back when it is time, and meanwhile others have their turn.
    if (runtime < PAUSE_MS) throw new TemporaryError("the switch was flipped just now", { delay: PAUSE_MS - runtime });
    patch.spec.switchPosition = "down";
    logger.info("flipped back", { from: spec.switchPosition });
  },
);

export default operator;
