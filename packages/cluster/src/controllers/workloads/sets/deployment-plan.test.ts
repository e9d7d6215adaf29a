import { describe, expect, it } from "vitest";
import type { Deployment, PodTemplate, ReplicaSet } from "../tables.ts";
import { bounds, planDeployment, sameTemplate } from "./deployment-plan.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const podTemplate = (image: string): PodTemplate => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "c", image }] },
});

const deployment = (spec: object = {}, status?: object): Deployment =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default", uid: "d", resourceVersion: "1", generation: 2 },
    spec: {
      replicas: 10,
      selector: { matchLabels: { app: "web" } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      template: podTemplate("app:2"),
      ...spec,
    },
    ...(status ? { status } : {}),
  }) as unknown as Deployment;

interface SetSketch {
  readonly name: string;
  readonly image: string;
  readonly replicas: number;
  readonly available?: number;
  readonly annotations?: Record<string, string>;
}

const set = ({ name, image, replicas, available = replicas, annotations = {} }: SetSketch): ReplicaSet =>
  ({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name,
      namespace: "default",
      uid: name,
      generation: 1,
      resourceVersion: "1",
      creationTimestamp: `2026-01-01T00:00:0${name.length % 10}Z`,
      annotations,
    },
    spec: { replicas, selector: {}, template: podTemplate(image) },
    status: { replicas, availableReplicas: available, readyReplicas: available, observedGeneration: 1 },
  }) as unknown as ReplicaSet;

/** What becomes of the numbers: the new one (or the one that is made) first. */
function numbers(owner: Deployment, sets: readonly ReplicaSet[], oldPodsRun = false) {
  const plan = planDeployment({ deployment: owner, sets, oldPodsRun, now: NOW });
  const result: Record<string, number> = {};
  if (plan.create) result.created = plan.create.spec.replicas ?? -1;
  for (const one of sets) result[one.metadata.name] = one.spec.replicas ?? -1;
  for (const change of plan.changes) result[change.name] = change.replicas;
  return result;
}

describe("the bounds of a rolling update", () => {
  it.each([
    [{}, { surge: 3, unavailable: 2 }],
    [
      { replicas: 4, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } } },
      { surge: 1, unavailable: 1 },
    ],
    [
      { replicas: 3, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } } },
      { surge: 1, unavailable: 0 },
    ],
    [
      { replicas: 3, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "10%" } } },
      { surge: 0, unavailable: 1 },
    ],
    [
      { replicas: 1, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 5 } } },
      { surge: 0, unavailable: 1 },
    ],
    [{ strategy: { type: "Recreate" } }, { surge: 0, unavailable: 0 }],
  ])("of %j are %j", (spec, expected) => {
    expect(bounds(deployment(spec))).toEqual(expected);
  });
});

describe("the plan of a Deployment", () => {
  const old = (sketch: Partial<SetSketch> = {}) => set({ name: "old", image: "app:1", replicas: 10, ...sketch });
  const fresh = (sketch: Partial<SetSketch> = {}) => set({ name: "fresh", image: "app:2", replicas: 3, ...sketch });

  it.each<[string, Deployment, ReplicaSet[], Record<string, number>]>([
    ["begins with everything when there is nothing", deployment(), [], { created: 10 }],
    ["begins with the surge, and lets as many go as may be missing", deployment(), [old()], { created: 3, old: 8 }],
    ["grows before it shrinks", deployment(), [old({ replicas: 8 }), fresh()], { old: 8, fresh: 5 }],
    [
      "shrinks by what works of the new ones",
      deployment(),
      [old({ replicas: 8 }), fresh({ replicas: 5, available: 2 })],
      { old: 6, fresh: 5 },
    ],
    [
      "does not shrink while the new ones do not work",
      deployment(),
      [old({ replicas: 8, available: 7 }), fresh({ replicas: 5, available: 0 })],
      { old: 8, fresh: 5 },
    ],
    [
      "takes away first what does not work",
      deployment(),
      [old({ replicas: 8, available: 4 }), fresh({ replicas: 5, available: 5 })],
      { old: 3, fresh: 5 },
    ],
    [
      "ends with the new ones only",
      deployment(),
      [old({ replicas: 0 }), fresh({ replicas: 10 })],
      { old: 0, fresh: 10 },
    ],
    ["shrinks what is too large", deployment({ replicas: 2 }), [fresh({ replicas: 3 })], { fresh: 2 }],
  ])("%s", (_, owner, sets, expected) => {
    expect(numbers(owner, sets)).toEqual(expected);
  });

  it("shares a change of the number among all that run", () => {
    const told = { "deployment.kubernetes.io/desired-replicas": "10", "deployment.kubernetes.io/max-replicas": "13" };
    const sets = [old({ replicas: 8, annotations: told }), fresh({ replicas: 5, annotations: told })];
    expect(numbers(deployment({ replicas: 20 }), sets)).toEqual({ old: 14, fresh: 9 });
    expect(numbers(deployment({ replicas: 5 }), sets)).toEqual({ old: 5, fresh: 3 });
    expect(numbers(deployment({ replicas: 0 }), sets)).toEqual({ old: 0, fresh: 0 });
  });

  it("recreates: nothing new before the old is gone", () => {
    const owner = deployment({ strategy: { type: "Recreate" } });
    expect(numbers(owner, [old()], true)).toEqual({ old: 0 });
    expect(numbers(owner, [old({ replicas: 0 })], true)).toEqual({ old: 0 });
    expect(numbers(owner, [old({ replicas: 0 })])).toEqual({ created: 10, old: 0 });
  });

  it("does not make a ReplicaSet while it is paused, and scales the one that is there", () => {
    expect(numbers(deployment({ paused: true, replicas: 4 }), [old()])).toEqual({ old: 4 });
  });

  it("does nothing but report while it is deleted", () => {
    const owner = deployment();
    owner.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(numbers(owner, [old()])).toEqual({ old: 10 });
  });

  it("gives the next revision, and keeps the numbers of a ReplicaSet that it comes back to", () => {
    const revision = "deployment.kubernetes.io/revision";
    const sets = [
      old({ replicas: 0, annotations: { [revision]: "7" } }),
      fresh({ replicas: 10, annotations: { [revision]: "5", "deployment.kubernetes.io/revision-history": "1,3" } }),
    ];
    const plan = planDeployment({ deployment: deployment(), sets, oldPodsRun: false, now: NOW });
    expect(plan.revision).toBe("8");
    expect(plan.changes).toMatchObject([
      { name: "fresh", annotations: { [revision]: "8", "deployment.kubernetes.io/revision-history": "1,3,5" } },
    ]);
  });

  it("copies its annotations to the ReplicaSet, but not those that are its own", () => {
    const owner = deployment();
    owner.metadata.annotations = {
      "kubernetes.io/change-cause": "because",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    };
    const plan = planDeployment({ deployment: owner, sets: [], oldPodsRun: false, now: NOW });
    expect(plan.create?.metadata.annotations).toEqual({
      "kubernetes.io/change-cause": "because",
      "deployment.kubernetes.io/revision": "1",
      "deployment.kubernetes.io/desired-replicas": "10",
      "deployment.kubernetes.io/max-replicas": "13",
    });
  });

  it("keeps as much history as it is told to, once the rollout is complete", () => {
    const revision = "deployment.kubernetes.io/revision";
    const past = ["a", "bb", "ccc"].map((name, at) =>
      set({ name, image: `old:${at}`, replicas: 0, annotations: { [revision]: String(at + 1) } }),
    );
    const complete = fresh({ replicas: 10, annotations: { [revision]: "9" } });
    const owner = deployment({ revisionHistoryLimit: 1 });
    const names = (sets: ReplicaSet[]) =>
      planDeployment({ deployment: owner, sets, oldPodsRun: false, now: NOW }).remove.map(
        ({ metadata }) => metadata.name,
      );
    expect(names([...past, complete])).toEqual(["a", "bb"]);
    expect(names([...past, fresh({ replicas: 10, available: 9 })])).toEqual([]);
  });

  it("knows templates by what they say and not by their hash", () => {
    const hashed = { ...podTemplate("app:1"), metadata: { labels: { app: "web", "pod-template-hash": "x" } } };
    expect(sameTemplate(podTemplate("app:1"), hashed)).toBe(true);
    expect(sameTemplate(podTemplate("app:2"), hashed)).toBe(false);
  });

  it("is out of time when nothing has moved for as long as it may", () => {
    const conditions = (at: string) => [
      { type: "Progressing", status: "True", reason: "ReplicaSetUpdated", lastUpdateTime: at, lastTransitionTime: at },
    ];
    const sets = [old({ replicas: 8, available: 8 }), fresh({ replicas: 5, available: 0 })];
    const status = (at: string) => ({
      replicas: 13,
      updatedReplicas: 5,
      readyReplicas: 8,
      availableReplicas: 8,
      conditions: conditions(at),
    });
    const plan = (at: string) =>
      planDeployment({ deployment: deployment({}, status(at)), sets, oldPodsRun: false, now: NOW });
    const late = plan("2026-01-01T00:40:00Z");
    expect(late.status.conditions).toContainEqual(expect.objectContaining({ reason: "ProgressDeadlineExceeded" }));
    expect(late.again).toBeUndefined();
    const inTime = plan("2026-01-01T00:55:00Z");
    expect(inTime.status.conditions).toContainEqual(expect.objectContaining({ reason: "ReplicaSetUpdated" }));
    expect(inTime.again).toBe(301_000);
  });
});
