import { expect, test } from "vitest";
import { type Quietable, untilQuiet } from "./settle.ts";

/** Something that moves at the given turns and is busy at others. */
function world(moves: readonly number[], busy: readonly number[] = []) {
  let turn = 0;
  let mark = 0;
  const parts: Quietable = {
    idle: async () => {},
    busy: () => busy.includes(turn),
    mark: () => mark,
    turn: async () => {
      turn++;
      if (moves.includes(turn)) mark++;
    },
  };
  return { parts, turns: () => turn };
}

const settle = (parts: Quietable, timeoutMs = 5_000) => untilQuiet(parts, timeoutMs, () => "it hums");

test("what is quiet is watched for some turns before it is believed", async () => {
  const { parts, turns } = world([]);
  await settle(parts);
  expect(turns()).toBe(20);
});

test("each movement begins the count anew", async () => {
  const { parts, turns } = world([3, 19, 38]);
  await settle(parts);
  expect(turns()).toBe(58);
});

test("a request under way is no quiet", async () => {
  const { parts, turns } = world([], [5]);
  await settle(parts);
  expect(turns()).toBe(25);
});

test("nothing is counted before all is idle", async () => {
  const { parts, turns } = world([]);
  let finish = () => {};
  const working = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const settled = settle({ ...parts, idle: () => working });
  await Promise.resolve();
  expect(turns()).toBe(0);
  finish();
  await settled;
  expect(turns()).toBe(20);
});

test("what never becomes quiet is told with what was seen last", async () => {
  await expect(settle({ ...world([]).parts, idle: () => new Promise(() => {}) }, 10)).rejects.toMatchObject({
    message: "the operator was not quiet within 10 ms: it hums",
    hint: expect.stringContaining("a handler hangs"),
  });
});
