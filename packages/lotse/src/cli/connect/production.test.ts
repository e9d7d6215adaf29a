import { describe, expect, it } from "vitest";
import { testIo } from "../terminal/test-io.ts";
import { confirmContext, looksLikeProduction } from "./production.ts";

describe("a context's name", () => {
  it.each(["prod", "prod-eu", "eu_production", "gke_shop_production", "live", "shop.prd.internal"])(
    "sounds like production: %s",
    (context) => expect(looksLikeProduction(context)).toBe(true),
  );

  it.each([undefined, "lotse", "staging", "product-tests", "delivery", "reproduce", "olive"])(
    "does not: %s",
    (context) => expect(looksLikeProduction(context)).toBe(false),
  );
});

describe("before work on production", () => {
  const never = new AbortController().signal;

  it("somebody at a keyboard is asked, and y goes on", async () => {
    const io = testIo({ tty: true });
    const confirmed = confirmContext("prod-eu", undefined, io, never);
    expect(io.err()).toBe("The context prod-eu looks like production. Press y to go on, any other key to stop.\n");
    io.press("y");
    await expect(confirmed).resolves.toBeUndefined();
  });

  it.each(["n", "\r", "\x03"])("any other key stops: %j", async (key) => {
    const io = testIo({ tty: true });
    const confirmed = confirmContext("prod-eu", undefined, io, never);
    io.press(key);
    await expect(confirmed).rejects.toMatchObject({ message: "stopped before anything was done" });
  });

  it("a signal stops too", async () => {
    const stop = new AbortController();
    const confirmed = confirmContext("prod-eu", undefined, testIo({ tty: true }), stop.signal);
    stop.abort();
    await expect(confirmed).rejects.toMatchObject({ message: "stopped before anything was done" });
  });

  it.each([
    ["with --yes", "prod-eu", true, true],
    ["without a terminal", "prod-eu", undefined, false],
    ["elsewhere", "staging", undefined, true],
  ])("nobody is asked %s", async (_when, context, yes, tty) => {
    const io = testIo({ tty });
    await confirmContext(context, yes, io, never);
    expect(io.err()).toBe("");
  });
});
