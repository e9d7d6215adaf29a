import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { sendBody } from "./answers.ts";

/** A reader that takes what comes, as quickly or as slowly as it is told, and counts by turns of the event loop. */
function newReader(highWaterMark: number) {
  const perTurn: number[] = [0];
  let over = false;
  const output = new Writable({
    highWaterMark,
    write(chunk: Buffer, _, done) {
      perTurn[perTurn.length - 1] = (perTurn.at(-1) as number) + chunk.length;
      setImmediate(done);
    },
  });
  const turn = () => {
    perTurn.push(0);
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  const finished = new Promise<void>((resolve) => {
    output.once("close", () => {
      over = true;
      resolve();
    });
  });
  return { output, perTurn, finished };
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

describe("a large body", () => {
  it.each([
    ["at once", 64 * 1_024 * 1_024],
    ["slowly", 1_024],
  ])("leaves in pieces, one in each turn of the event loop, to a client that reads %s", async (_, highWaterMark) => {
    const { output, perTurn, finished } = newReader(highWaterMark);
    const body = "ä".repeat(1_000_000);
    sendBody(output, body);
    await finished;
    expect(sum(perTurn)).toBe(2_000_000);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2 * 128 * 1_024);
  });

  it("ends with its client", async () => {
    const { output, perTurn, finished } = newReader(64 * 1_024 * 1_024);
    sendBody(output, "x".repeat(10_000_000));
    output.destroy();
    await finished;
    expect(sum(perTurn)).toBeLessThan(1_000_000);
  });

  it("that is none leaves in one piece", async () => {
    const { output, perTurn, finished } = newReader(1_024);
    sendBody(output, "moin");
    await finished;
    expect(perTurn.filter((bytes) => bytes > 0)).toEqual([4]);
  });
});
