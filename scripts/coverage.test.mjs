import path from "node:path";
import { expect, it } from "vitest";
import { sumUp, totalOf } from "./coverage.mjs";

const at = (line) => ({ start: { line } });
const file = (...statements) => ({
  statementMap: Object.fromEntries(statements.map(([line], i) => [i, at(line)])),
  s: Object.fromEntries(statements.map(([, count], i) => [i, count])),
});

it("counts lines by room, each once", () => {
  const rooms = sumUp(
    {
      [path.join("/r", "packages", "cluster", "src", "store", "log.ts")]: file([1, 1], [1, 0], [2, 0]),
      [path.join("/r", "packages", "cluster", "src", "store", "disk", "lock.ts")]: file([1, 3]),
      [path.join("/r", "packages", "cluster", "src", "cluster.ts")]: file([7, 0]),
    },
    "/r",
  );
  expect(rooms).toEqual([
    { room: "cluster", lines: 1, run: 0 },
    { room: "cluster/store", lines: 3, run: 2 },
  ]);
  expect(totalOf("cluster", rooms)).toEqual({ lines: 4, run: 2, part: 0.5 });
  expect(totalOf("client", rooms)).toEqual({ lines: 0, run: 0, part: 0 });
});
