/**
 * Whatever happens to the processes of an operator and to their way to the API server, never may two of them write at the
 * same moment, and when all is calm exactly one does. The whole coordinator runs here, with its client, on a model of time,
 * network and server; `machine.property.test.ts` tries the decisions alone, and far more of them.
 */
import fc from "fast-check";
import { describe, it } from "vitest";
import { CoordinatorMember } from "../../../packages/lotse/src/coordination/test-member.ts";
import { examples, play, plays } from "../../../packages/lotse/src/coordination/test-stage.ts";
import { settled } from "../../../packages/lotse/src/coordination/test-world.ts";

// A few in `npm test`, many in `npm run test:full`; with LOTSE_FAULTS_RUNS as many as one likes.
const numRuns = Number(process.env.LOTSE_FAULTS_RUNS ?? (process.env.LOTSE_FULL === "1" ? 60 : 15));

describe("processes that share a Lease", () => {
  it("never may write two at a time, and one leads when all is calm", async () => {
    const make = (...parts: ConstructorParameters<typeof CoordinatorMember>) => new CoordinatorMember(...parts);
    await fc.assert(
      fc.asyncProperty(plays, (one) => play(one, make, settled)),
      { numRuns, examples },
    );
  });
});
