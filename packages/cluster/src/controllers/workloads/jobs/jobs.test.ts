import { describe, expect, it } from "vitest";
import { formatIndexes, parseIndexes } from "../indexes.ts";
import type { Job, Pod } from "../tables.ts";
import { Stage } from "../test-stage.ts";
import { type Backoff, planJob } from "./job-plan.ts";
import { judgeFailure } from "./job-pods.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const NO_FAILURES: Backoff = { failures: 0, last: 0 };

const job = (spec: object = {}, status: object = { startTime: "2026-01-01T00:59:00Z" }): Job =>
  ({
    metadata: { name: "work", namespace: "default", uid: "job" },
    spec: { parallelism: 1, completions: 1, backoffLimit: 6, template: { spec: { restartPolicy: "Never" } }, ...spec },
    status,
  }) as unknown as Job;

interface PodSketch {
  readonly phase?: string;
  readonly index?: number;
  readonly code?: number;
  readonly deleted?: boolean;
  readonly failures?: number;
  readonly restarts?: number;
  readonly condition?: string;
}

const pod = (name: string, observed: PodSketch = {}): Pod => {
  const { phase = "Running", index, code, deleted, failures, restarts = 0, condition } = observed;
  const finishedAt = "2026-01-01T00:59:55Z";
  return {
    metadata: {
      name,
      namespace: "default",
      uid: name,
      creationTimestamp: "2026-01-01T00:59:00Z",
      finalizers: ["batch.kubernetes.io/job-tracking"],
      annotations: {
        ...(index === undefined ? {} : { "batch.kubernetes.io/job-completion-index": String(index) }),
        ...(failures === undefined ? {} : { "batch.kubernetes.io/job-index-failure-count": String(failures) }),
      },
      ...(deleted ? { deletionTimestamp: "2026-01-01T00:59:50Z" } : {}),
    },
    spec: { containers: [], nodeName: "n" },
    status: {
      phase,
      conditions: condition ? [{ type: condition, status: "True" }] : [],
      containerStatuses: [
        {
          name: "c",
          restartCount: restarts,
          ...(code === undefined ? {} : { state: { terminated: { exitCode: code, finishedAt } } }),
        },
      ],
    },
  } as unknown as Pod;
};

const failed = (name: string, observed: PodSketch = {}) => pod(name, { phase: "Failed", code: 1, ...observed });
const succeeded = (name: string, observed: PodSketch = {}) => pod(name, { phase: "Succeeded", code: 0, ...observed });

function moves(owner: Job, pods: readonly Pod[], backoff = NO_FAILURES) {
  const plan = planJob({ job: owner, pods, backoff, now: NOW });
  return {
    create: plan.create.map(({ index }) => index ?? "any"),
    remove: plan.remove.map(({ metadata }) => metadata.name),
    finish: plan.finish?.reason,
  };
}

describe("the plan of a Job", () => {
  it.each<[string, Job, Pod[], ReturnType<typeof moves>]>([
    [
      "begins with as many pods as may run at once",
      job({ parallelism: 2, completions: 5 }),
      [],
      { create: ["any", "any"], remove: [], finish: undefined },
    ],
    [
      "does not begin more than it needs",
      job({ parallelism: 5, completions: 2 }),
      [],
      { create: ["any", "any"], remove: [], finish: undefined },
    ],
    ["waits for what runs", job(), [pod("a")], { create: [], remove: [], finish: undefined }],
    [
      "is complete when enough have succeeded",
      job(),
      [succeeded("a")],
      { create: [], remove: [], finish: "CompletionsReached" },
    ],
    [
      "counts what its status has counted",
      job({ completions: 3 }, { succeeded: 2 }),
      [succeeded("a")],
      { create: [], remove: [], finish: "CompletionsReached" },
    ],
    [
      "without a number of completions, one success ends it when the others are done",
      job({ parallelism: 2, completions: undefined }),
      [succeeded("a"), pod("b")],
      { create: [], remove: [], finish: undefined },
    ],
    [
      "fails after too many failures",
      job({ backoffLimit: 0 }),
      [failed("a")],
      { create: [], remove: [], finish: "BackoffLimitExceeded" },
    ],
    [
      "takes along what still runs when it fails",
      job({ backoffLimit: 0, parallelism: 2, completions: 2 }),
      [failed("a"), pod("b")],
      { create: [], remove: ["b"], finish: "BackoffLimitExceeded" },
    ],
    [
      "counts restarts where containers are restarted",
      job({ backoffLimit: 2, template: { spec: { restartPolicy: "OnFailure" } } }),
      [pod("a", { restarts: 2 })],
      { create: [], remove: ["a"], finish: "BackoffLimitExceeded" },
    ],
    [
      "fails when its time is up",
      job({ activeDeadlineSeconds: 30 }),
      [pod("a")],
      { create: [], remove: ["a"], finish: "DeadlineExceeded" },
    ],
    [
      "stops while it is suspended",
      job({ suspend: true }),
      [pod("a")],
      { create: [], remove: ["a"], finish: undefined },
    ],
    [
      "gives up the youngest when fewer may run",
      job({ parallelism: 1, completions: 5 }),
      [pod("a"), pod("b", { phase: "Pending" })],
      { create: [], remove: ["b"], finish: undefined },
    ],
    [
      "replaces a pod that is deleted",
      job(),
      [pod("a", { deleted: true })],
      { create: ["any"], remove: [], finish: undefined },
    ],
    [
      "does not replace a pod before it has ended, where it is told so",
      job({ podReplacementPolicy: "Failed" }),
      [pod("a", { deleted: true })],
      { create: [], remove: [], finish: undefined },
    ],
  ])("%s", (_, owner, pods, expected) => {
    expect(moves(owner, pods)).toEqual(expected);
  });

  it("waits longer after each failure", () => {
    const wait = (failures: number) =>
      planJob({ job: job(), pods: [], backoff: { failures, last: NOW - 1_000 }, now: NOW }).again;
    expect([1, 2, 3, 9].map(wait)).toEqual([9_000, 19_000, 39_000, 599_000]);
    expect(wait(0)).toBeUndefined();
  });

  it("forgets failures when a pod succeeds", () => {
    const owner = job({ completions: 3, parallelism: 2 });
    const plan = planJob({ job: owner, pods: [succeeded("a")], backoff: { failures: 4, last: NOW }, now: NOW });
    expect(plan.backoff.failures).toBe(0);
    expect(plan.create).toHaveLength(2);
  });

  describe("with numbers", () => {
    const indexed = (spec: object = {}, status?: object) =>
      job({ completionMode: "Indexed", completions: 4, parallelism: 2, ...spec }, status);

    it.each<[string, Job, Pod[], ReturnType<typeof moves>]>([
      ["begins with the lowest", indexed(), [], { create: [0, 1], remove: [], finish: undefined }],
      [
        "goes on with the next",
        indexed({}, { completedIndexes: "0,2" }),
        [pod("b", { index: 1 })],
        { create: [3], remove: [], finish: undefined },
      ],
      [
        "is complete when all have succeeded",
        indexed({}, { completedIndexes: "0-2" }),
        [succeeded("d", { index: 3 })],
        { create: [], remove: [], finish: "CompletionsReached" },
      ],
      [
        "takes away the second pod of a number",
        indexed(),
        [pod("a", { index: 0 }), pod("b", { index: 0, phase: "Pending" })],
        { create: [], remove: ["b"], finish: undefined },
      ],
      [
        "ends early by its success policy",
        indexed({ successPolicy: { rules: [{ succeededIndexes: "0,3", succeededCount: 1 }] } }),
        [succeeded("a", { index: 0 }), pod("b", { index: 1 })],
        { create: [], remove: ["b"], finish: "SuccessPolicy" },
      ],
      [
        "gives up single numbers",
        indexed({ backoffLimitPerIndex: 1, backoffLimit: 100 }),
        [failed("a", { index: 0, failures: 1 }), pod("b", { index: 1 })],
        { create: [2], remove: [], finish: undefined },
      ],
      [
        "fails at the end when numbers have failed",
        indexed({ backoffLimitPerIndex: 0, completions: 2, backoffLimit: 100 }, { completedIndexes: "1" }),
        [failed("a", { index: 0, failures: 0 })],
        { create: [], remove: [], finish: "FailedIndexes" },
      ],
      [
        "fails when too many numbers have failed",
        indexed({ backoffLimitPerIndex: 0, maxFailedIndexes: 0, backoffLimit: 100 }),
        [failed("a", { index: 0, failures: 0 }), pod("b", { index: 1 })],
        { create: [], remove: ["b"], finish: "MaxFailedIndexesExceeded" },
      ],
    ])("%s", (_, owner, pods, expected) => {
      expect(moves(owner, pods)).toEqual(expected);
    });
  });

  it.each([
    ["", []],
    ["0", [0]],
    ["0,1", [0, 1]],
    ["0-2,5", [0, 1, 2, 5]],
  ])("writes numbers as %s", (text, numbers) => {
    expect(formatIndexes(numbers)).toBe(text);
    expect([...parseIndexes(text, 10)]).toEqual(numbers);
  });
});

describe("the failure policy of a Job", () => {
  const policy = (...rules: object[]) => job({ podFailurePolicy: { rules } });
  const onCode = (action: string, operator: string, ...values: number[]) => ({
    action,
    onExitCodes: { operator, values },
  });

  it.each<[string, Job, Pod, ReturnType<typeof judgeFailure>]>([
    ["counts by default", policy(), failed("a"), { counts: true, action: undefined, message: undefined }],
    [
      "ignores",
      policy(onCode("Ignore", "In", 1)),
      failed("a"),
      { counts: false, action: "Ignore", message: undefined },
    ],
    [
      "fails the Job by the exit code",
      policy(onCode("Ignore", "In", 3), onCode("FailJob", "NotIn", 2)),
      failed("a"),
      {
        counts: true,
        action: "FailJob",
        message: "Container c for pod default/a failed with exit code 1 matching FailJob rule at index 1",
      },
    ],
    [
      "looks at conditions",
      policy({ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }),
      failed("a", { condition: "DisruptionTarget" }),
      { counts: false, action: "Ignore", message: undefined },
    ],
  ])("%s", (_, owner, one, expected) => {
    expect(judgeFailure(owner, one)).toEqual(expected);
  });
});

const work = (spec: object = {}, pod: object = {}): object => ({
  metadata: { name: "work" },
  spec: {
    template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "app:1" }], ...pod } },
    ...spec,
  },
});

describe("a Job", () => {
  it("runs to its end, and tells so", async () => {
    await using stage = await Stage.start();
    await stage.create("jobs", work({ completions: 3, parallelism: 2 }));
    const running = await stage.list("pods");
    expect(running).toHaveLength(2);
    expect(running[0].metadata.finalizers).toEqual(["batch.kubernetes.io/job-tracking"]);
    expect((await stage.get("jobs", "work")).status).toMatchObject({ active: 2, ready: 0, terminating: 0 });
    await stage.pass(1_000);
    const done = await stage.get("jobs", "work");
    expect(done.status).toMatchObject({
      succeeded: 3,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      startTime: "2026-01-01T00:00:00Z",
      conditions: [
        { type: "SuccessCriteriaMet", status: "True", reason: "CompletionsReached" },
        {
          type: "Complete",
          status: "True",
          reason: "CompletionsReached",
          message: "Reached expected number of succeeded pods",
        },
      ],
    });
    expect(done.status.completionTime).toBeDefined();
    expect(done.status.active).toBeUndefined();
    const pods = await stage.list("pods");
    expect(pods).toHaveLength(3);
    expect(pods.every(({ metadata }) => metadata.finalizers === undefined)).toBe(true);
    expect((await stage.events("work")).at(-1)).toBe("Completed: Job completed");
  });

  it("gives up after its limit, with longer and longer pauses", async () => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ image: "app:1" }, { exit: { code: 1 } });
    await stage.create("jobs", work({ backoffLimit: 2 }));
    await stage.pass(1_000);
    expect((await stage.get("jobs", "work")).status).toMatchObject({ failed: 1 });
    await stage.pass(8_000);
    expect(await stage.names("pods")).toHaveLength(1);
    await stage.pass(2_000);
    expect(await stage.names("pods")).toHaveLength(2);
    await stage.pass(25_000);
    const over = await stage.get("jobs", "work");
    expect(over.status).toMatchObject({
      failed: 3,
      conditions: [
        { type: "FailureTarget", status: "True", reason: "BackoffLimitExceeded" },
        {
          type: "Failed",
          status: "True",
          reason: "BackoffLimitExceeded",
          message: "Job has reached the specified backoff limit",
        },
      ],
    });
    expect(over.status.completionTime).toBeUndefined();
    expect((await stage.events("work")).at(-1)).toBe(
      "BackoffLimitExceeded: Job has reached the specified backoff limit",
    );
  });

  it("is stopped at its deadline", async () => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ image: "app:1" }, { exit: null });
    await stage.create("jobs", work({ activeDeadlineSeconds: 20 }));
    await stage.pass(19_000);
    expect((await stage.get("jobs", "work")).status).toMatchObject({ active: 1, ready: 1 });
    await stage.pass(2_000);
    expect((await stage.get("jobs", "work")).status).toMatchObject({
      failed: 1,
      conditions: [{ type: "FailureTarget" }, { type: "Failed", reason: "DeadlineExceeded" }],
    });
    expect(await stage.names("pods")).toEqual([]);
  });

  it("numbers its pods", async () => {
    await using stage = await Stage.start();
    await stage.create("jobs", work({ completionMode: "Indexed", completions: 3, parallelism: 3 }));
    const pods = await stage.list("pods");
    expect(pods.map(({ metadata }) => metadata.name)).toEqual([
      expect.stringMatching(/^work-0-[a-z0-9]{5}$/),
      expect.stringMatching(/^work-1-[a-z0-9]{5}$/),
      expect.stringMatching(/^work-2-[a-z0-9]{5}$/),
    ]);
    expect(pods[1]).toMatchObject({
      metadata: {
        annotations: { "batch.kubernetes.io/job-completion-index": "1" },
        labels: { "batch.kubernetes.io/job-completion-index": "1" },
      },
      spec: { hostname: "work-1", containers: [{ env: [{ name: "JOB_COMPLETION_INDEX" }] }] },
    });
    await stage.pass(1_000);
    expect((await stage.get("jobs", "work")).status).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
  });

  it("stops while it is suspended, and goes on after", async () => {
    await using stage = await Stage.start();
    await stage.create("jobs", work({ suspend: true }));
    expect(await stage.names("pods")).toEqual([]);
    const still = await stage.get("jobs", "work");
    expect(still.status).toMatchObject({ conditions: [{ type: "Suspended", status: "True", reason: "JobSuspended" }] });
    expect(still.status.startTime).toBeUndefined();
    await stage.patch("jobs", "work", { spec: { suspend: false } });
    await stage.pass(1_000);
    expect((await stage.get("jobs", "work")).status).toMatchObject({ succeeded: 1 });
    expect(await stage.events("work")).toEqual([
      "Suspended: Job suspended",
      expect.stringMatching(/^SuccessfulCreate/),
      "Resumed: Job resumed",
      "Completed: Job completed",
    ]);
  });

  it("goes by itself after its time, and its pods with it", async () => {
    await using stage = await Stage.start();
    await stage.create("jobs", work({ ttlSecondsAfterFinished: 60 }));
    await stage.pass(59_000);
    expect(await stage.names("jobs")).toEqual(["work"]);
    await stage.pass(3_000);
    expect(await stage.names("jobs")).toEqual([]);
    expect(await stage.names("pods")).toEqual([]);
  });

  it.each(["Background", "Foreground"])("takes its pods along when it is deleted (%s)", async (policy) => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ image: "app:1" }, { exit: null });
    await stage.create("jobs", work({ parallelism: 2, completions: 2 }));
    await stage.pass(1_000);
    await stage.remove("jobs", "work", policy);
    await stage.pass(1_000);
    expect(await stage.names("pods")).toEqual([]);
    expect(await stage.names("jobs")).toEqual([]);
  });

  it("leaves its pods, and holds them no longer, when they are orphaned", async () => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ image: "app:1" }, { exit: null });
    await stage.create("jobs", work());
    await stage.pass(1_000);
    await stage.remove("jobs", "work", "Orphan");
    await stage.pass(1_000);
    const [pod] = await stage.list("pods");
    expect(pod.metadata.ownerReferences).toBeUndefined();
    expect(pod.metadata.finalizers).toBeUndefined();
  });
});
