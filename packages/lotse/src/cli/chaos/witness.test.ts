import { describe, expect, it } from "vitest";
import type { ChaosRequest } from "../local-cluster/index.ts";
import { reportText } from "./text.ts";
import { Witness } from "./witness.ts";

/** A witness, a clock, and requests as the proxy tells of them. */
function stage() {
  let now = 0;
  const witness = new Witness(() => now);
  const request = (label: string, o: { body?: object; namespace?: string } = {}): ChaosRequest => {
    const [verb = "", target = ""] = label.split(" ");
    const [resource = "", name = "", subresource = ""] = target.split("/");
    const write = !["get", "list", "watch"].includes(verb);
    const { namespace = "default", body } = o;
    return { verb, write, group: "", resource, namespace, name, subresource, label, path: "/x", body };
  };
  const ask = (one: ChaosRequest, fault?: string, status?: number) => {
    witness.hear({ type: "request", request: one });
    if (fault !== undefined) witness.hear({ type: "fault", request: one, fault });
    if (status !== undefined) witness.hear({ type: "answer", request: one, status });
    return one;
  };
  const findings = (isRunning = true) => witness.report({ isRunning }).findings.map(({ type }) => type);
  return { witness, request, ask, findings, wait: (ms: number) => (now += ms) };
}

describe("the witness of chaos", () => {
  it("has nothing to say of an operator that tries again", () => {
    const { witness, request, ask, findings, wait } = stage();
    ask(request("watch pods"), undefined, 200);
    ask(request("patch pods/a"), "answer");
    expect(findings()).toEqual(["never tried again"]);
    witness.harmEnds();
    wait(2_000);
    ask(request("patch pods/a"), undefined, 200);
    expect(witness.report({ isRunning: true })).toMatchObject({
      findings: [],
      recoveredMs: 2_000,
      writes: 2,
      requests: 3,
    });
  });

  it("tells of a watch that is not opened again, and not of one that is refused at first", () => {
    const { witness, request, ask, findings, wait } = stage();
    const watch = ask(request("watch pods"), undefined, 200);
    witness.hear({ type: "watch ended", request: watch });
    const refused = ask(request("watch pods"), undefined, 410);
    witness.hear({ type: "watch ended", request: refused });
    witness.harmEnds();
    expect(findings()).toEqual(["gave up watching"]);
    expect(findings(false)).toEqual([]);
    expect(witness.report({ isRunning: true }).recoveredMs).toBeUndefined();
    wait(500);
    ask(request("watch pods"), undefined, 200);
    expect(findings()).toEqual([]);
    expect(witness.report({ isRunning: true }).recoveredMs).toBe(500);
  });

  it("tells of a hot loop", () => {
    const { request, ask, findings, wait } = stage();
    for (let i = 0; i < 100; i++) {
      ask(request("get pods/a"));
      wait(30);
    }
    expect(findings()).toEqual(["hot loop"]);
  });

  it("tells of objects that were made twice because an answer was lost", () => {
    const { request, ask, findings } = stage();
    const body = { metadata: { generateName: "a-" } };
    ask(request("create pods", { body }), "lose", 201);
    expect(findings()).toEqual(["never tried again"]);
    ask(request("create pods", { body }), undefined, 201);
    expect(findings()).toEqual(["duplicates"]);
  });

  it("tells of deaths that nobody ordered, and shows it all as text", () => {
    const { witness, request, ask, findings } = stage();
    ask(request("create pods/a"), "kill", 201);
    ask(request("patch pods/a"), undefined, 200);
    const life = { startedMs: 0, endedMs: 1_500, signal: null, lastFault: witness.lastFault };
    witness.lives.push({ ...life, code: null, signal: "SIGKILL", end: "killed" }, { ...life, code: 1, end: "itself" });
    expect(findings(false)).toEqual(["died"]);
    const plan = { rules: [], seed: 3, afterMs: 0, harmMs: 1_000, calmMs: 0 };
    expect(reportText(witness.report({ isRunning: false }), plan, { server: "https://a", harmMs: 1_000 })).toBe(
      `Chaos for 1 s, seed 3, in front of https://a

Injected
  1 × killed: create pods

The operator
  2 requests, 2 writes
  life 1: killed after 1.5 s, and started again
  life 2: ended by itself with exit code 1 after 1.5 s
  recovered 0 s after the harm ended

Broken
  ✗ died: it ended by itself with exit code 1 after 1.5 s; the last harm was "killed: create pods/a"

Held
  ✓ no hot loop: at most 0.3 requests a second (create pods/a)
  ✓ everything that was watched is watched again
  ✓ every write that failed was tried again
  ✓ nothing was created twice
`,
    );
  });
});
