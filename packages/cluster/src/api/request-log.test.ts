import { expect, it } from "vitest";
import { type RequestEntry, RequestLog } from "./request-log.ts";

const entry = (path: string, body?: unknown): RequestEntry => ({
  verb: "create",
  method: "POST",
  path,
  user: "",
  userAgent: "",
  resource: undefined,
  namespace: undefined,
  name: undefined,
  subresource: undefined,
  status: 201,
  body,
});

it("keeps the last requests, by number and by the bytes of their bodies", () => {
  const many = new RequestLog(10);
  for (let at = 0; at < 100; at++) many.add(entry(`/${at}`));
  expect(many.entries.length).toBeLessThanOrEqual(12);
  expect(many.entries.at(-1)?.path).toBe("/99");
  const large = new RequestLog(1_000, 10_000);
  for (let at = 0; at < 100; at++) large.add(entry(`/${at}`, { text: "x".repeat(1_000) }));
  expect(large.entries.length).toBeLessThanOrEqual(10);
  expect(large.entries.length).toBeGreaterThan(5);
  expect(large.entries.at(-1)?.path).toBe("/99");
  large.add(entry("/huge", "x".repeat(100_000)));
  expect(large.entries.map(({ path }) => path)).toEqual(["/huge"]);
});
