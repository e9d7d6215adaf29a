import { describe, expect, it } from "vitest";
import { Stage } from "../controllers/workloads/test-stage.ts";
import { call } from "../test-requests.ts";
import { mergeTolerations } from "./runtime-class.ts";

const CLASSES = "/apis/node.k8s.io/v1/runtimeclasses";
const PODS = "/api/v1/namespaces/default/pods";

describe("the RuntimeClass of a pod", () => {
  const pod = (name: string, spec: object) => ({
    metadata: { name },
    spec: { containers: [{ name: "c", image: "app:1" }], ...spec },
  });

  const begin = async (fields: object = {}) => {
    const stage = await Stage.start({ kubelet: { mode: "simulate", capacity: { cpu: 1 } } });
    const made = await call(stage.cluster, "POST", CLASSES, {
      body: { metadata: { name: "vm" }, handler: "vm", ...fields },
    });
    expect(made.status, made.text).toBe(201);
    return stage;
  };
  const create = (stage: Stage, body: object) => call(stage.cluster, "POST", PODS, { body });

  it("has to be there", async () => {
    await using stage = await begin();
    const { status, body } = await create(stage, pod("p", { runtimeClassName: "none" }));
    expect([status, body.message]).toEqual([403, `pods "p" is forbidden: pod rejected: RuntimeClass "none" not found`]);
    expect((await create(stage, pod("p", { runtimeClassName: "vm" }))).status).toBe(201);
  });

  it("tells what the pod costs beyond its containers, which nobody else may", async () => {
    await using stage = await begin({ overhead: { podFixed: { cpu: "250m", memory: "120Mi" } } });
    const { body } = await create(stage, pod("p", { runtimeClassName: "vm" }));
    expect(body.spec.overhead).toEqual({ cpu: "250m", memory: "120Mi" });
    const equal = { runtimeClassName: "vm", overhead: { cpu: "0.25", memory: "120Mi" } };
    expect((await create(stage, pod("equal", equal))).status).toBe(201);
    const other = await create(stage, pod("other", { runtimeClassName: "vm", overhead: { cpu: "1" } }));
    expect(other.body.message).toBe(
      `pods "other" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
    );
    const none = await create(stage, pod("none", { overhead: { cpu: "1" } }));
    expect(none.body.message).toBe(
      `pods "none" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
    );
  });

  it("counts when the pod looks for room", async () => {
    await using stage = await begin({ overhead: { podFixed: { cpu: "250m" } } });
    const resources = { requests: { cpu: "800m" } };
    const containers = [{ name: "c", image: "app:1", resources }];
    await stage.create("pods", pod("p", { runtimeClassName: "vm", containers }));
    expect((await stage.get("pods", "p")).status.conditions[0].message).toContain("1 Insufficient cpu.");
  });

  it("tells where the pod can run", async () => {
    const tolerations = [{ key: "vm", operator: "Exists", effect: "NoSchedule" }];
    await using stage = await begin({ scheduling: { nodeSelector: { vm: "yes" }, tolerations } });
    const { body } = await create(stage, pod("p", { runtimeClassName: "vm", nodeSelector: { zone: "a" } }));
    expect(body.spec.nodeSelector).toEqual({ zone: "a", vm: "yes" });
    expect(body.spec.tolerations).toContainEqual(tolerations[0]);
    const conflict = await create(stage, pod("q", { runtimeClassName: "vm", nodeSelector: { vm: "no" } }));
    expect(conflict.body.message).toBe(
      `pods "q" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no`,
    );
  });
});

it("of tolerations, those are left that no other one covers", () => {
  const key = "a";
  const narrow = { key, operator: "Equal", value: "1", effect: "NoSchedule" };
  const wide = { key, operator: "Exists" };
  expect(mergeTolerations([narrow], [wide])).toEqual([wide]);
  expect(mergeTolerations([wide], [narrow])).toEqual([wide]);
  expect(mergeTolerations([narrow], [{ ...narrow }])).toEqual([narrow]);
  const short = { key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
  const long = { ...short, tolerationSeconds: 10 };
  expect(mergeTolerations([long], [short])).toEqual([long]);
});
