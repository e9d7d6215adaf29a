import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type HarmFlags, planOf } from "./plan.ts";

const cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-plan-"));
afterAll(() => rmSync(cwd, { recursive: true }));

describe("the flags of lotse chaos", () => {
  it.each<[HarmFlags, object[]]>([
    [
      { fail: ["10%:500", "429"] },
      [
        { chance: 0.1, fault: { type: "answer", status: 500 } },
        { chance: 1, fault: { type: "answer", status: 429 } },
      ],
    ],
    [{ fail: ["5%"] }, [{ chance: 0.05, fault: { type: "answer", status: 500 } }]],
    [{ delay: ["20%:500ms"] }, [{ chance: 0.2, fault: { type: "delay", ms: 500 } }]],
    [{ loseAnswers: true }, [{ verbs: ["write"], chance: 1, fault: { type: "lose" } }]],
    [{ cutWatches: "30s" }, [{ verbs: ["watch"], fault: { type: "cut", afterMs: 30_000 } }]],
    [{ events: ["5%:cut"] }, [{ verbs: ["watch"], chance: 0.05, fault: "cut inside" }]],
    [
      { killAtWrite: ["3", "7:before"] },
      [
        { atWrite: 3, fault: { type: "kill", when: "after" } },
        { atWrite: 7, fault: { type: "kill", when: "before" } },
      ],
    ],
    [
      { reset: "1%", only: "write,configmaps" },
      [{ verbs: ["write"], kinds: ["configmaps"], chance: 0.01, fault: { type: "reset" } }],
    ],
    [
      { mute: "1%", only: "create,patch/deployments.apps" },
      [{ verbs: ["create", "patch"], kinds: ["deployments.apps"], chance: 0.01, fault: { type: "mute" } }],
    ],
  ])("%j are rules", async (flags, rules) => {
    const plan = await planOf(flags, { cwd });
    expect(plan).toEqual({ rules, seed: 1, afterMs: 0, harmMs: 60_000, calmMs: 15_000 });
  });

  it.each<[HarmFlags, string]>([
    [{}, "there is nothing to inject"],
    [{ fail: ["often"] }, "--fail often cannot be read"],
    [{ fail: ["10%:200"] }, "--fail 200 cannot be read"],
    [{ fail: ["110%:500"] }, "--fail 110% cannot be read"],
    [{ delay: ["10%"] }, "--delay 10% cannot be read"],
    [{ events: ["5%:eat"] }, "--events eat cannot be read"],
    [{ killAtWrite: ["0"] }, "--kill-at-write 0 cannot be read"],
    [{ reset: "1%", only: "destroy/pods" }, "--only destroy/pods cannot be read"],
    [{ reset: "1%", for: "soon" }, "--for soon cannot be read"],
  ])("%j are refused", async (flags, message) => {
    await expect(planOf(flags, { cwd })).rejects.toThrow(message);
  });
});

describe("a plan", () => {
  const withPlan = (text: string, flags: HarmFlags = {}) => {
    writeFileSync(path.join(cwd, "plan.yaml"), text);
    return planOf({ ...flags, plan: "plan.yaml" }, { cwd });
  };

  it("has all that flags have, and where it happens", async () => {
    const plan = await withPlan(
      `seed: 7
after: 3s
for: 5m
rules:
  - fail: 429
    retryAfter: 2
    chance: 10%
    verbs: [write]
    kinds: configmaps
    namespaces: [team-*]
  - killAtWrite: 3:before
  - cutWatches: 10s
    times: 2
  - event: expire
    at: 5
`,
      { for: "1s", calm: "2s" },
    );
    expect(plan).toEqual({
      seed: 7,
      afterMs: 3_000,
      harmMs: 1_000,
      calmMs: 2_000,
      rules: [
        {
          fault: { type: "answer", status: 429, retryAfter: 2 },
          chance: 0.1,
          verbs: ["write"],
          kinds: ["configmaps"],
          namespaces: ["team-*"],
        },
        { atWrite: 3, fault: { type: "kill", when: "before" } },
        { verbs: ["watch"], fault: { type: "cut", afterMs: 10_000 }, times: 2 },
        { verbs: ["watch"], fault: "expire", at: 5 },
      ],
    });
  });

  it.each([
    ["rules: 7", "it has no `rules`"],
    ["rules: [{ chance: 10% }]", "rule 1: it does nothing"],
    ["rules: [{ fail: 500, mute: true }]", "rule 1: it does fail and mute"],
    ["rules: [{ mute: true, verb: get }]", "rule 1: there is no field verb"],
    ["rules: [{ mute: true, verbs: eat }]", "rule 1: there is no verb eat"],
    ["rules: [{ mute: true, times: 0 }]", "rule 1: `times` is 0"],
    ["rules: []\nspeed: 7", "there is no field speed"],
    ["rules: [", "this is not YAML"],
  ])("that makes no sense is refused: %s", async (text, why) => {
    await expect(withPlan(text)).rejects.toMatchObject({ why: expect.stringContaining(why), exitCode: 2 });
  });
});
