import fc from "fast-check";
import { describe, it } from "vitest";
import { examples, play, plays } from "../test-stage.ts";
import { MachineMember } from "./test-machine-member.ts";

// Some in `npm test`, many in `npm run test:full`; with LOTSE_FAULTS_RUNS as many as one likes.
const numRuns = Number(process.env.LOTSE_FAULTS_RUNS ?? (process.env.LOTSE_FULL === "1" ? 1_000 : 50));

describe("machines that share a Lease", () => {
  it("never have two open fences, and one leads when all is calm, whatever happens", async () => {
    const make = (...parts: ConstructorParameters<typeof MachineMember>) => new MachineMember(...parts);
    await fc.assert(
      fc.asyncProperty(plays, (one) => play(one, make)),
      { numRuns, examples },
    );
  });
});
