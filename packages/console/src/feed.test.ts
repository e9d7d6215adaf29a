import { expect, test } from "vitest";
import { type ConsoleRecord, Feed, type FeedMessage, toJson } from "./feed.ts";

const line = (message: string): ConsoleRecord => ({ time: 0, level: "info", message, fields: {} });
const textOf = ({ data }: FeedMessage) => JSON.parse(data).message as string;

function joined(feed: Feed, lastId?: string): FeedMessage[] {
  const got: FeedMessage[] = [];
  feed.join((message) => got.push(message), lastId);
  return got;
}

test("who joins late gets the newest 500 lines, then everything that happens", () => {
  const feed = new Feed("a");
  for (let n = 1; n <= 600; n++) feed.log(line(`line ${n}`));
  const got = joined(feed);
  expect(got.map(textOf)).toEqual(Array.from({ length: 500 }, (_, n) => `line ${n + 101}`));
  feed.log(line("and one more"));
  expect(textOf(got.at(-1) as FeedMessage)).toBe("and one more");
});

test("who comes back gets exactly the lines that it has not seen", () => {
  const feed = new Feed("a");
  const before = joined(feed);
  feed.log(line("first"));
  feed.log(line("second"));
  expect(joined(feed, before[0]?.id).map(textOf)).toEqual(["second"]);
});

test("an id of an earlier process does not hide lines of this one", () => {
  const earlier = new Feed("a");
  const before = joined(earlier);
  for (let n = 0; n < 9; n++) earlier.log(line("old"));
  const feed = new Feed("b");
  feed.log(line("new"));
  expect(joined(feed, before.at(-1)?.id).map(textOf)).toEqual(["new"]);
});

test("who has left is told nothing more", () => {
  const feed = new Feed("a");
  const got: FeedMessage[] = [];
  const leave = feed.join((message) => got.push(message));
  leave();
  feed.tell("change", { kind: "pods" });
  expect(got).toEqual([]);
});

test("a line may carry errors, cycles and what JSON does not know", () => {
  const cycle: Record<string, unknown> = { name: "cycle" };
  cycle.self = cycle;
  const shared = { value: 1 };
  const error = Object.assign(new TypeError("wrong"), { hint: "do it right" });
  expect(JSON.parse(toJson({ cycle, error, big: 10n, first: shared, list: [shared, [shared]] }))).toEqual({
    cycle: { name: "cycle", self: "[circular]" },
    error: { name: "TypeError", message: "wrong", hint: "do it right" },
    big: "10",
    first: { value: 1 },
    list: [{ value: 1 }, [{ value: 1 }]],
  });
});
