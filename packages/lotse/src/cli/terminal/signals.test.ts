import { describe, expect, it } from "vitest";
import { stopOnSignal } from "./signals.ts";
import { testIo } from "./test-io.ts";

describe("stopOnSignal", () => {
  it("asks for a graceful end at the first signal", async () => {
    const io = testIo();
    const stop = stopOnSignal(io);
    expect(stop.signal.aborted).toBe(false);
    io.send("SIGTERM");
    await stop.requested;
    expect(stop.signal.aborted).toBe(true);
    expect(io.exits).toEqual([]);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("exits at once at a second %s, with %i", (signal, code) => {
    let now = 0;
    const io = testIo({ now: () => now });
    stopOnSignal(io);
    io.send("SIGINT");
    now = 1_000;
    io.send(signal);
    expect(io.exits).toEqual([code]);
  });

  it("takes a signal that comes twice at the same time for one", () => {
    let now = 0;
    const io = testIo({ now: () => now });
    stopOnSignal(io);
    io.send("SIGINT");
    now = 20;
    io.send("SIGINT");
    expect(io.exits).toEqual([]);
  });

  it("listens no more when it is disposed", () => {
    const io = testIo();
    const stop = stopOnSignal(io);
    stop[Symbol.dispose]();
    io.send("SIGINT");
    expect(stop.signal.aborted).toBe(false);
  });

  it("lets as many listen as want to, without a warning of Node.js", async () => {
    const warnings: string[] = [];
    const hear = ({ name }: Error) => warnings.push(name);
    process.on("warning", hear);
    using stop = stopOnSignal(testIo());
    for (let i = 0; i < 20; i++) stop.signal.addEventListener("abort", () => i);
    // Warnings are told after the present turn.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", hear);
    expect(warnings).toEqual([]);
  });
});
