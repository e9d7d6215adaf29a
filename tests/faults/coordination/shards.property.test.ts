/**
 * Whatever happens to the processes of an operator and to their way to the API server, never may two of them write about
 * one object at the same moment, and when all is calm each object has exactly one. The whole coordinator runs here, with
 * its client, on a model of time, network and server; `members.property.test.ts` tries the decisions alone, and far more.
 */
import fc from "fast-check";
import { describe, it } from "vitest";
import { play, plays } from "../../../packages/lotse/src/coordination/shards/test-stage.ts";
import { settled } from "../../../packages/lotse/src/coordination/test-world.ts";

// A few in `npm test`, many in `npm run test:full`; with LOTSE_FAULTS_RUNS as many as one likes.
const numRuns = Number(process.env.LOTSE_FAULTS_RUNS ?? (process.env.LOTSE_FULL === "1" ? 12 : 2));

describe("processes that share objects", () => {
  it("never may write two about one, and each object has one when all is calm", async () => {
    await fc.assert(
      fc.asyncProperty(plays, (one) => play(one, settled)),
      { numRuns },
    );
  });
});
