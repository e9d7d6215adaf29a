import { Client } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { DeclarationError, leader, peering, planCoordination, shards } from "../declare/index.ts";
import { Logger, Metrics } from "../report/index.ts";
import type { CoordinatorParts } from "./coordinator.ts";
import { createCoordinator } from "./create.ts";

async function parts(): Promise<CoordinatorParts> {
  const clock = new VirtualClock();
  return {
    operator: "rates",
    client: await Client.connect({ url: "https://test", namespace: "team-a" }),
    clock,
    random: () => 0,
    logger: new Logger(
      () => undefined,
      () => clock.now(),
    ),
    metrics: new Metrics(),
    environment: { POD_NAME: "rates-1" },
    namespaces: undefined,
  };
}

describe("the coordinator of an operator", () => {
  it("is none where the process is alone", async () => {
    expect(await createCoordinator(planCoordination("alone"), await parts())).toBeUndefined();
  });

  it("stands by until it has taken the Lease: nothing passes, nothing is owned", async () => {
    const coordinator = await createCoordinator(planCoordination("leader"), await parts());
    expect(coordinator?.alone).toBe(false);
    expect(coordinator?.health()).toEqual({
      type: "leader",
      identity: expect.stringMatching(/^rates-1_[0-9a-f]{8}$/),
      state: "waiting",
    });
    expect(coordinator?.owns({}, {} as never)).toBe(false);
    expect(() => coordinator?.pass()).toThrow("nothing was sent: this process has not taken its Lease yet");
    // What never ran has nothing to give back.
    await coordinator?.release();
  });

  it("is refused where there can be no such Lease", async () => {
    const made = createCoordinator(planCoordination(leader({ name: "No Name" })), await parts());
    await expect(made).rejects.toThrow(DeclarationError);
  });

  it("gives way to peers where it is told to", async () => {
    const coordinator = await createCoordinator(planCoordination(peering({ name: "rates" })), await parts());
    expect(coordinator?.health()).toMatchObject({ type: "peering" });
    await coordinator?.release();
  });

  it("shares the objects where it is told to, and has none of them before it has a Lease", async () => {
    const coordinator = await createCoordinator(planCoordination(shards()), await parts());
    expect(coordinator?.health()).toMatchObject({ type: "shards", state: "waiting", members: [], epoch: 0, share: 0 });
    expect(coordinator?.owns({ metadata: { uid: "u" } } as never, { group: "", kind: "Pod" } as never)).toBe(false);
    expect(() => coordinator?.pass()).toThrow("nothing was sent: this process has no Lease yet");
    await coordinator?.release();
  });
});
