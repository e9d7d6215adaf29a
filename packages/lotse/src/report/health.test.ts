import { describe, expect, it } from "vitest";
import { isAlive, isReady, type OperatorHealth } from "./health.ts";

const WELL: OperatorHealth = {
  operator: "shop",
  phase: "ready",
  streams: [{ kind: "Machine", phase: "watching", forMs: 10, quietMs: 5, objects: 3 }],
  missing: [],
};
const CUT: OperatorHealth = {
  ...WELL,
  streams: [
    {
      kind: "Machine",
      namespace: "a",
      phase: "waiting",
      forMs: 10,
      quietMs: 20,
      objects: 3,
      error: "connection refused",
    },
  ],
};

describe("an operator", () => {
  it.each([
    ["is at work", WELL, []],
    ["is starting", { ...WELL, phase: "starting" as const }, ["shop is starting"]],
    [
      "waits for a kind",
      { ...WELL, missing: ["machines.example.com"] },
      ["shop waits for the kind machines.example.com"],
    ],
    ["has lost a stream", CUT, ["the stream of Machine in a is interrupted: connection refused"]],
    [
      "cannot find out which kinds there are",
      { ...WELL, discovery: "forbidden" },
      ["the kinds of the cluster cannot be found out: forbidden"],
    ],
    [
      "lacks only what it could do without",
      {
        ...WELL,
        streams: [{ kind: "Namespace", phase: "waiting" as const, forMs: 1, quietMs: 1, objects: 0, optional: true }],
        broken: [{ apiVersion: "metrics.k8s.io/v1beta1", error: "no endpoints" }],
      },
      [],
    ],
    ["has failed", { ...WELL, phase: "failed" as const, error: "no" }, ["shop has failed: no"]],
  ])("that %s is ready only if it sees everything", (_what, health, reasons) => {
    expect(isReady(health)).toEqual({ ok: reasons.length === 0, reasons });
  });

  it.each([
    ["is at work", WELL, []],
    ["is starting", { ...WELL, phase: "starting" as const }, []],
    ["has lost a stream, which a restart would not bring back", CUT, []],
    ["has stopped", { ...WELL, phase: "stopped" as const }, ["shop has stopped"]],
    ["has failed", { ...WELL, phase: "failed" as const, error: "no" }, ["shop has failed: no"]],
  ])("that %s is alive unless only a new start can help", (_what, health, reasons) => {
    expect(isAlive(health)).toEqual({ ok: reasons.length === 0, reasons });
  });
});
