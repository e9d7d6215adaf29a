import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Stage } from "../controllers/workloads/test-stage.ts";
import { annotatedBehaviour, SIMULATE_ANNOTATION } from "./annotation.ts";

const said = (behaviour: unknown) => ({ annotations: { [SIMULATE_ANNOTATION]: JSON.stringify(behaviour) } });

describe("what a manifest says about its simulated pods", () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await Stage.start();
  });

  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
  });

  const job = (name: string, behaviour: unknown, spec: object = {}, podSpec: object = {}) => ({
    metadata: { name },
    spec: {
      template: {
        metadata: said(behaviour),
        spec: { restartPolicy: "Never", containers: [{ name: "c", image: "app:1" }], ...podSpec },
      },
      ...spec,
    },
  });

  it("decides how long the pods of a Job take", async () => {
    await stage.create("jobs", job("slow", { exit: { after: "30s" } }, { completions: 2 }));
    await stage.pass(1_000);
    expect((await stage.get("jobs", "slow")).status).toMatchObject({ active: 1, ready: 1 });
    await stage.pass(40_000);
    expect((await stage.get("jobs", "slow")).status).toMatchObject({ active: 1, succeeded: 1 });
    await stage.pass(40_000);
    expect((await stage.get("jobs", "slow")).status).toMatchObject({
      succeeded: 2,
      completionTime: expect.any(String),
    });
  });

  it("decides how they end", async () => {
    const exit = { after: "5s", code: 42, reason: "OOMKilled", message: "too much" };
    await stage.create("jobs", job("bad", { exit }, { backoffLimit: 0 }));
    await stage.pass(20_000);
    expect((await stage.get("jobs", "bad")).status.conditions).toContainEqual(
      expect.objectContaining({ type: "Failed", reason: "BackoffLimitExceeded" }),
    );
    const [pod] = await stage.list("pods");
    expect(pod.status).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { terminated: { exitCode: 42, reason: "OOMKilled", message: "too much" } } }],
    });
  });

  it("decides it for each run, and for single containers", async () => {
    const behaviour = {
      exit: [
        { code: 1, after: "1s" },
        { code: 0, after: "1s" },
      ],
      containers: { first: { exit: { after: "20s" } } },
    };
    const initContainers = [{ name: "first", image: "app:1" }];
    await stage.create("jobs", job("twice", behaviour, {}, { restartPolicy: "OnFailure", initContainers }));
    await stage.pass(10_000);
    const [waiting] = await stage.list("pods");
    expect(waiting.status).toMatchObject({ phase: "Pending", initContainerStatuses: [{ state: { running: {} } }] });
    await stage.pass(60_000);
    const [pod] = await stage.list("pods");
    expect(pod.status).toMatchObject({ phase: "Succeeded", containerStatuses: [{ restartCount: 1 }] });
    expect((await stage.get("jobs", "twice")).status).toMatchObject({ succeeded: 1 });
  });

  it("lets a pod fail as a whole", async () => {
    const behaviour = { failed: { after: "5s", reason: "NodeShutdown", message: "Pod was terminated" } };
    await stage.create("pods", {
      metadata: { name: "p", ...said(behaviour) },
      spec: { containers: [{ name: "c", image: "app:1" }] },
    });
    await stage.pass(10_000);
    const failed = { phase: "Failed", reason: "NodeShutdown", message: "Pod was terminated" };
    expect((await stage.get("pods", "p")).status).toMatchObject(failed);
  });

  it("counts less than what a test says", async () => {
    stage.cluster.pods.program("p", { exit: { code: 7 } });
    await stage.create("pods", {
      metadata: { name: "p", ...said({ exit: { code: 1 }, logs: ["hello"] }) },
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "app:1" }] },
    });
    await stage.pass(1_000);
    const { status } = await stage.get("pods", "p");
    expect(status.containerStatuses[0].state.terminated.exitCode).toBe(7);
  });

  it("is told on the pod when it makes no sense, and the pod waits", async () => {
    await stage.create("pods", {
      metadata: { name: "p", ...said({ exit: { afte: "5s" } }) },
      spec: { containers: [{ name: "c", image: "app:1" }] },
    });
    await stage.pass(3_000);
    expect((await stage.get("pods", "p")).status.phase).toBe("Pending");
    const [problem] = (await stage.events("p")).filter((event) => event.startsWith("FailedCreatePodSandBox"));
    expect(problem).toContain(
      "annotation lotse.dev/simulate: exit.afte is unknown: it may have code, after, reason, message",
    );
  });
});

describe("the annotation", () => {
  const problemOf = (behaviour: unknown) => {
    const { annotations } = said(behaviour);
    try {
      annotatedBehaviour(annotations);
    } catch (error) {
      return (error as Error).message;
    }
    return "none";
  };

  it.each([
    [{ exit: { after: "soon" } }, "exit.after must be a duration"],
    [{ exit: { code: 300 } }, "exit.code must be a number from 0 to 255"],
    [{ exit: [] }, "exit must be a list with an entry"],
    [{ exit: [{}, { code: "1" }] }, "exit[1].code"],
    [{ containers: { c: { startDelay: "1s" } } }, "containers.c.startDelay is unknown"],
    [{ ports: { 80: 80 } }, "ports is unknown"],
    [{ toString: 1 }, "toString is unknown"],
    [{ ready: "later" }, "ready must be"],
    [[], "it must be an object"],
    [null, "it must be an object"],
  ])("%j is refused: %s", (behaviour, problem) => {
    expect(problemOf(behaviour)).toContain(problem);
  });

  it("is optional, and takes what a program takes", () => {
    expect(annotatedBehaviour(undefined)).toEqual({});
    expect(annotatedBehaviour({})).toEqual({});
    const whole = { startDelay: "1s", exit: [{ code: 1 }, null], ready: false, logs: ["a"], exec: { ls: "x" } };
    expect(annotatedBehaviour(said(whole).annotations)).toEqual(whole);
    expect(() => annotatedBehaviour({ [SIMULATE_ANNOTATION]: "{" })).toThrow(/no JSON/);
  });
});
