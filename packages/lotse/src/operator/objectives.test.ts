import { describeKind, type KubeBody } from "@lotse/client";
import { identityKey, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger, type LogRecord, Metrics } from "../report/index.ts";
import { KindObjective } from "./objectives.ts";

const SHOP = describeKind({ group: "shops.example.com", version: "v1", kind: "Shop" });

interface Said {
  readonly generation?: number;
  readonly ready?: "True" | "False";
  /** Of which generation. */
  readonly of?: number;
  readonly created?: number;
  readonly deleting?: boolean;
  readonly uid?: string;
}

function shop(
  name: string,
  { generation = 1, ready, of = generation, created, deleting, uid = name }: Said = {},
): KubeBody {
  return {
    metadata: {
      name,
      namespace: "default",
      uid,
      generation,
      ...(created !== undefined && { creationTimestamp: new Date(created).toISOString() }),
      ...(deleting && { deletionTimestamp: new Date(0).toISOString() }),
    },
    ...(ready && { status: { conditions: [{ type: "Ready", status: ready, observedGeneration: of }] } }),
  };
}

function promising(owns: () => boolean = () => true) {
  const clock = new VirtualClock();
  const metrics = new Metrics();
  const lines: LogRecord[] = [];
  const objective = new KindObjective({
    kind: SHOP,
    objective: { readyMs: 30_000, of: 0.99 },
    clock,
    metrics,
    logger: new Logger(
      (line) => lines.push(line),
      () => clock.now(),
    ),
    owns,
  });
  const value = (series: string) => {
    const line = metrics
      .render()
      .split("\n")
      .find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  };
  const judged = () => ({
    good: value('lotse_objective_changes_total{kind="Shop",result="good"}'),
    late: value('lotse_objective_changes_total{kind="Shop",result="late"}'),
    lateNow: value('lotse_objective_late{kind="Shop"}'),
  });
  const explain = (body: KubeBody) => objective.explain(identityKey(body));
  return { objective, clock, metrics, lines, value, judged, explain };
}

describe("a change", () => {
  it("is good when the object is ready in time, once, however often it is seen", async () => {
    const { objective, clock, judged, explain, value } = promising();
    objective.see(shop("a"));
    expect(explain(shop("a"))).toMatchObject({ state: "pending", generation: 1, readyMs: 30_000, of: 0.99 });
    await clock.advance(4_000);
    objective.see(shop("a", { ready: "False" }));
    await clock.advance(6_000);
    for (let i = 0; i < 3; i++) objective.see(shop("a", { ready: "True" }));
    expect(judged()).toEqual({ good: 1, late: 0, lateNow: 0 });
    expect(explain(shop("a"))).toMatchObject({ state: "ready", tookMs: 10_000 });
    expect(value('lotse_objective_ready_seconds_sum{kind="Shop"}')).toBe(10);
    await clock.advance(60_000);
    expect(judged()).toEqual({ good: 1, late: 0, lateNow: 0 });
  });

  it("is late as soon as its time is over, and stays so when the object is ready at last", async () => {
    const { objective, clock, judged, explain, lines, value } = promising();
    objective.see(shop("a"));
    await clock.advance(29_999);
    expect(judged()).toEqual({ good: 0, late: 0, lateNow: 0 });
    await clock.advance(1);
    expect(judged()).toEqual({ good: 0, late: 1, lateNow: 1 });
    expect(lines).toMatchObject([
      { message: "not ready in the time that was promised", object: { name: "a" }, fields: { generation: 1 } },
    ]);
    await clock.advance(10_000);
    expect(explain(shop("a"))).toMatchObject({ state: "late", forMs: 40_000 });
    objective.see(shop("a", { ready: "True" }));
    expect(judged()).toEqual({ good: 0, late: 1, lateNow: 0 });
    expect(explain(shop("a"))).toMatchObject({ state: "ready", tookMs: 40_000 });
    expect(value('lotse_objective_ready_seconds_count{kind="Shop"}')).toBe(1);
  });

  it("is not met by what is said of an earlier one", async () => {
    const { objective, clock, judged } = promising();
    objective.see(shop("a", { ready: "True" }));
    await clock.advance(1_000);
    objective.see(shop("a", { generation: 2, ready: "True", of: 1 }));
    await clock.advance(30_000);
    expect(judged()).toMatchObject({ good: 1, late: 1 });
  });

  it("is not judged when another one takes its place in time, and the other one has its whole time", async () => {
    const { objective, clock, judged } = promising();
    objective.see(shop("a"));
    await clock.advance(20_000);
    objective.see(shop("a", { generation: 2 }));
    await clock.advance(20_000);
    objective.see(shop("a", { generation: 2, ready: "True" }));
    expect(judged()).toEqual({ good: 1, late: 0, lateNow: 0 });
  });

  it("is judged once although the object is not ready later on: nobody has changed it", async () => {
    const { objective, clock, judged } = promising();
    objective.see(shop("a"));
    objective.see(shop("a", { ready: "True" }));
    objective.see(shop("a", { ready: "False" }));
    await clock.advance(60_000);
    expect(judged()).toEqual({ good: 1, late: 0, lateNow: 0 });
  });

  it("of an object that goes is not judged, and one that was late is not late any more", async () => {
    const { objective, clock, judged, explain } = promising();
    for (const name of ["a", "b", "c"]) objective.see(shop(name));
    objective.see(shop("a", { deleting: true }));
    objective.forget(identityKey(shop("b")));
    await clock.advance(30_000);
    expect(judged()).toEqual({ good: 0, late: 1, lateNow: 1 });
    objective.forget(identityKey(shop("c")));
    expect(judged()).toEqual({ good: 0, late: 1, lateNow: 0 });
    expect(explain(shop("c"))).toBeUndefined();
  });

  it("that an old state speaks of is not mixed up with the new one", () => {
    const { objective, explain } = promising();
    objective.see(shop("a", { generation: 3 }));
    objective.see(shop("a", { generation: 2, ready: "True" }));
    expect(explain(shop("a"))).toMatchObject({ state: "pending", generation: 3 });
  });

  it("of another object of the same name is another one", () => {
    const { objective, explain } = promising();
    objective.see(shop("a", { ready: "True" }));
    expect(explain(shop("a", { uid: "other" }))).toBeUndefined();
  });

  it("takes the generation of the whole status where the condition has none", () => {
    const { objective, judged } = promising();
    objective.see(shop("a"));
    const status = { observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }] };
    objective.see({ ...shop("a"), status });
    expect(judged()).toMatchObject({ good: 1 });
  });
});

describe("what was there at the start", () => {
  it("is judged from its creation where nobody has looked at it", async () => {
    const { objective, clock, judged } = promising();
    objective.see(shop("young", { created: clock.now() - 20_000 }), true);
    objective.see(shop("old", { created: clock.now() - 3_600_000 }), true);
    await clock.advance(0);
    expect(judged()).toEqual({ good: 0, late: 1, lateNow: 1 });
    await clock.advance(10_000);
    expect(judged()).toEqual({ good: 0, late: 2, lateNow: 2 });
  });

  it("is judged from the start where it was changed since it was looked at: nobody knows when", async () => {
    const { objective, clock, judged } = promising();
    objective.see(shop("a", { generation: 2, ready: "True", of: 1, created: 0 }), true);
    await clock.advance(29_000);
    objective.see(shop("a", { generation: 2, ready: "True" }));
    expect(judged()).toEqual({ good: 1, late: 0, lateNow: 0 });
  });

  it("is not judged where another process has looked at it", async () => {
    const { objective, clock, judged, explain } = promising();
    objective.see(shop("ready", { ready: "True", created: 0 }), true);
    objective.see(shop("failed", { ready: "False", created: 0 }), true);
    await clock.advance(60_000);
    objective.see(shop("failed", { ready: "True" }));
    expect(judged()).toEqual({ good: 0, late: 0, lateNow: 0 });
    expect(explain(shop("failed"))).toMatchObject({ state: "unknown" });
    expect(explain(shop("ready"))).toMatchObject({ state: "ready" });
  });
});

describe("beside other processes", () => {
  it("only who works on the object counts, and who takes it over knows since when it waits", async () => {
    let mine = false;
    const { objective, clock, judged, lines } = promising(() => mine);
    objective.see(shop("a"));
    objective.see(shop("b"));
    await clock.advance(20_000);
    objective.see(shop("a", { ready: "True" }));
    mine = true;
    await clock.advance(10_000);
    expect(judged()).toEqual({ good: 0, late: 1, lateNow: 1 });
    expect(lines).toHaveLength(1);
  });
});

it("when it is closed nothing rings any more", async () => {
  const { objective, clock, judged } = promising();
  objective.see(shop("a"));
  objective.close();
  await clock.advance(60_000);
  expect(judged()).toMatchObject({ late: 0 });
});
