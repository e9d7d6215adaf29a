import { expect, it } from "vitest";
import { DevWebhooks } from "./webhooks.ts";

it("gives each operator of a file a port of its own, and keeps it", async () => {
  const webhooks = new DevWebhooks({}, false);
  const first = await webhooks.prepare(["a", "b"]);
  const ports = ["a", "b"].map((name) => first(name).port);
  expect(new Set(ports).size).toBe(2);
  const second = await webhooks.prepare(["b", "a", "c"]);
  expect(["a", "b"].map((name) => second(name).port)).toEqual(ports);
  expect(second("a").host).toBe("127.0.0.1");
});

it("leaves it to the flags and to the operator how a real cluster gets here", async () => {
  const webhooks = new DevWebhooks({ url: "https://me:9443" }, true);
  expect((await webhooks.prepare(["a"]))("a")).toEqual({ url: "https://me:9443" });
});
