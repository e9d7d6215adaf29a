import { ForbiddenError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger } from "../report/index.ts";
import { Following } from "./following.ts";
import { clientOf, type Got, kindWorld, map } from "./test-builders.ts";

const LIST = { apiVersion: "v1", kind: "ConfigMapList", metadata: { resourceVersion: "5" }, items: [map({ a: "1" })] };

async function stage(answers: (got: Got) => object | undefined) {
  const { client, got } = await clientOf(answers);
  const end = new AbortController();
  const logs: string[] = [];
  const logger = new Logger(
    ({ message }) => void logs.push(message),
    () => 0,
  );
  const clock = new VirtualClock();
  const following = new Following({ client, clock, random: () => 0.5, logger, signal: end.signal });
  return { following, world: kindWorld(), end, got, logs, clock };
}

const refused = () => {
  throw new ForbiddenError("no", { status: 403, reason: "Forbidden", details: {} } as never);
};

describe("a scope that is followed", () => {
  it("is known when all its objects are, is followed once, and ends", async () => {
    const { following, world, end, got } = await stage(() => LIST);
    expect(await Promise.all([following.scope(world, undefined), following.scope(world, undefined)])).toEqual([
      true,
      true,
    ]);
    expect([...world.bodies()]).toHaveLength(1);
    expect(got.filter(({ query }) => !query.watch)).toHaveLength(1);
    await expect.poll(() => following.isCurrent(world)).toBe(true);
    expect(following.health()).toHaveLength(1);
    end.abort();
    await following.ended();
  });

  it("that may not be seen is given up, and asked for again the next time", async () => {
    let allowed = false;
    const { following, world, end } = await stage(() => (allowed ? LIST : refused()));
    expect(await following.scope(world, "default")).toBe(false);
    expect(following.health()).toEqual([]);
    allowed = true;
    expect(await following.scope(world, "default")).toBe(true);
    end.abort();
    await following.ended();
  });

  it("that a server keeps to itself for a while is waited for, and said once", async () => {
    let broken = true;
    const { following, world, end, logs, clock } = await stage(() => {
      if (broken) throw new Error("broken");
      return LIST;
    });
    const known = following.scope(world, undefined);
    await expect.poll(() => logs.length).toBe(1);
    expect(following.isCurrent(world)).toBe(false);
    broken = false;
    const isCurrent = async () => {
      await clock.advance(1_000);
      return following.isCurrent(world);
    };
    await expect.poll(isCurrent).toBe(true);
    expect(await known).toBe(true);
    expect(logs).toEqual([
      "what the cluster has is not seen, nothing is compared until then",
      "what the cluster has is seen again",
    ]);
    end.abort();
    await following.ended();
  });
});
