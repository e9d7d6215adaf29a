import { parseSchedule } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import type { CronJob, Job } from "../tables.ts";
import { Stage } from "../test-stage.ts";
import { planCronJob } from "./cron-job-plan.ts";

const at = (text: string) => Date.parse(text);
const iso = (time: number | undefined) =>
  time === undefined ? undefined : new Date(time).toISOString().replace(".000Z", "Z");

describe("the plan of a CronJob", () => {
  const NOW = at("2026-01-01T12:00:00.100Z");
  const cron = (spec: object = {}, status: object = {}): CronJob =>
    ({
      metadata: { name: "tick", namespace: "default", uid: "cron", creationTimestamp: "2026-01-01T10:30:00Z" },
      spec: { schedule: "0 * * * *", concurrencyPolicy: "Allow", jobTemplate: { spec: {} }, ...spec },
      status,
    }) as unknown as CronJob;
  const job = (name: string, condition?: string): Job =>
    ({
      metadata: { name, uid: name },
      spec: {},
      status: {
        startTime: `2026-01-01T0${name.length}:00:00Z`,
        ...(condition ? { completionTime: `2026-01-01T0${name.length}:01:00Z` } : {}),
        conditions: condition ? [{ type: condition, status: "True" }] : [],
      },
    }) as unknown as Job;
  const active = (name: string) => ({ active: [{ name, uid: name }] });
  const plan = (owner: CronJob, jobs: Job[] = [], now = NOW) =>
    planCronJob({ cron: owner, jobs, schedule: parseSchedule(owner.spec.schedule), now });

  it("makes up for the last time that was missed, once", () => {
    const { create, scheduled, again } = plan(cron());
    expect(iso(scheduled)).toBe("2026-01-01T12:00:00Z");
    expect(create?.metadata).toMatchObject({
      name: `tick-${at("2026-01-01T12:00:00Z") / 60_000}`,
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T12:00:00Z" },
    });
    expect(again).toBe(3_600_000);
    const served = plan(cron({}, { lastScheduleTime: "2026-01-01T12:00:00Z" }));
    expect(served).toMatchObject({ create: undefined, again: 3_600_000 });
  });

  it("tells when it is too late", () => {
    const late = plan(cron({ startingDeadlineSeconds: 10 }), [], at("2026-01-01T12:00:30Z"));
    expect(late.create).toBeUndefined();
    expect(plan(cron({ startingDeadlineSeconds: 60 }), [], at("2026-01-01T12:00:30Z")).create).toBeDefined();
  });

  it("tells that it missed many", () => {
    const { create, notes } = plan(cron({ schedule: "* * * * *" }), [], at("2026-01-01T18:00:00Z"));
    expect(create).toBeDefined();
    expect(notes).toMatchObject([{ reason: "TooManyMissedTimes" }]);
  });

  it("waits for the one before, or replaces it, as it is told", () => {
    const forbidden = plan(cron({ concurrencyPolicy: "Forbid" }, active("old")), [job("old")]);
    expect(forbidden).toMatchObject({ create: undefined, notes: [{ reason: "JobAlreadyActive" }] });
    const replaced = plan(cron({ concurrencyPolicy: "Replace" }, active("old")), [job("old")]);
    expect(replaced.remove.map(({ metadata }) => metadata.name)).toEqual(["old"]);
    expect(replaced).toMatchObject({ active: [], create: expect.anything() });
    expect(plan(cron({}, active("old")), [job("old")])).toMatchObject({ active: [{ name: "old" }] });
  });

  it("tells what became of its jobs, and keeps the last ones", () => {
    const owner = cron(
      { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 },
      {
        active: [
          { name: "aaa", uid: "aaa" },
          { name: "gone", uid: "gone" },
        ],
      },
    );
    const result = plan(owner, [job("a", "Complete"), job("aa", "Failed"), job("aaa", "Complete"), job("stray")]);
    expect(result.remove.map(({ metadata }) => metadata.name)).toEqual(["a", "aa"]);
    expect(result.lastSuccessful).toBe("2026-01-01T03:01:00Z");
    expect(result.notes.map(({ reason }) => reason)).toEqual(["UnexpectedJob", "SawCompletedJob", "MissingJob"]);
  });
});

describe("a CronJob", () => {
  const jobTemplate = {
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "app:1" }] } } },
  };

  it("fires when it is time, and keeps its history short", async () => {
    await using stage = await Stage.start();
    await stage.create("cronjobs", { metadata: { name: "tick" }, spec: { schedule: "*/5 * * * *", jobTemplate } });
    await stage.pass(4 * 60_000);
    expect(await stage.names("jobs")).toEqual([]);
    await stage.pass(2 * 60_000);
    const [first] = await stage.list("jobs");
    expect(first.metadata).toMatchObject({
      name: `tick-${at("2026-01-01T00:05:00Z") / 60_000}`,
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:05:00Z" },
      ownerReferences: [{ kind: "CronJob", name: "tick", controller: true }],
    });
    expect(first.status).toMatchObject({ succeeded: 1 });
    expect((await stage.get("cronjobs", "tick")).status).toMatchObject({
      lastScheduleTime: "2026-01-01T00:05:00Z",
      lastSuccessfulTime: first.status.completionTime,
    });
    await stage.pass(25 * 60_000);
    expect(await stage.names("jobs")).toHaveLength(3);
    const events = await stage.events("tick");
    expect(events).toContain(`SuccessfulCreate: Created job ${first.metadata.name}`);
    expect(events).toContain(`SawCompletedJob: Saw completed job: ${first.metadata.name}, condition: Complete`);
    expect(events).toContain(`SuccessfulDelete: Deleted job ${first.metadata.name}`);
  });

  it("does not fire while it is suspended or its zone does not exist", async () => {
    await using stage = await Stage.start();
    await stage.create("cronjobs", {
      metadata: { name: "off" },
      spec: { schedule: "* * * * *", suspend: true, jobTemplate },
    });
    await stage.pass(5 * 60_000);
    expect(await stage.names("jobs")).toEqual([]);
    await stage.patch("cronjobs", "off", { spec: { suspend: false } });
    await stage.pass(1_000);
    // Of the times that it missed, the last one is made up for.
    expect(await stage.names("jobs")).toEqual([`off-${at("2026-01-01T00:05:00Z") / 60_000}`]);
  });

  it("runs one job after the other where it is told so", async () => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ image: "app:1" }, { exit: { after: "90s" } });
    const spec = { schedule: "* * * * *", concurrencyPolicy: "Forbid", jobTemplate };
    await stage.create("cronjobs", { metadata: { name: "slow" }, spec });
    await stage.pass(130_000);
    expect((await stage.get("cronjobs", "slow")).status.active).toHaveLength(1);
    expect(await stage.events("slow")).toContain(
      "JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid",
    );
    await stage.pass(60_000);
    expect(await stage.names("jobs")).toHaveLength(2);
  });
});
