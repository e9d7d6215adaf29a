import { describe, expect, it, vi } from "vitest";
import { VirtualClock } from "../meta/index.ts";
import { apiErrorFrom, ConnectionError, TimeoutError } from "./errors.ts";
import { isOutOfReach, ServerReachability, tellingReachability } from "./reachability.ts";

const request = { method: "GET", path: "/" };
const refused = new ConnectionError("refused", { request, sent: false });
const untrusted = new ConnectionError("untrusted", { request, sent: false, lasting: true });
const late = new TimeoutError("late", { request, phase: "headers" });
const status = (code: number) => apiErrorFrom(code, {}, request);

describe("a server", () => {
  it.each([
    ["that refuses the connection", refused, true],
    ["that does not answer in time", late, true],
    ["that answers 503", status(503), true],
    ["that is not trusted, which will not change by itself", untrusted, false],
    ["that is busy", status(429), false],
    ["that forbids it", status(403), false],
    ["of which something else is wrong", new Error("what?"), false],
  ])("%s may be away or not", (_, error, away) => {
    expect(isOutOfReach(error)).toBe(away);
  });

  it.each([
    ["an answer", undefined, true],
    ["that there is no such thing", status(404), true],
    ["that somebody was faster", status(409), true],
    ["that it is forbidden, which a proxy says too", status(403), false],
    ["that it is busy", status(429), false],
    ["no answer", refused, false],
    ["an error of its own", status(500), false],
  ])("wakes those who wait for it with %s or does not", (_, failure, wakes) => {
    const reachability = new ServerReachability(new VirtualClock());
    const wake = vi.fn();
    const wait = reachability.wait(wake);
    reachability.heard(failure);
    expect(wake).toHaveBeenCalledTimes(wakes ? 1 : 0);
    wait.leave("tries");
    reachability.heard();
    expect(wake).toHaveBeenCalledTimes(wakes ? 1 : 0);
  });

  it("is said to be back, and for how long it was away, once", async () => {
    const clock = new VirtualClock();
    const reachability = new ServerReachability(clock);
    const backs: number[] = [];
    const forget = reachability.onBack((downMs) => backs.push(downMs));
    reachability.heard();
    reachability.heard(refused);
    await clock.advance(4_000);
    reachability.heard(status(503));
    await clock.advance(1_000);
    reachability.heard();
    reachability.heard();
    expect(backs).toEqual([5_000]);
    forget();
    reachability.heard(refused);
    reachability.heard();
    expect(backs).toEqual([5_000]);
  });

  it("has one scout among those who wait, and another when that one is gone", () => {
    const reachability = new ServerReachability(new VirtualClock());
    const woken: string[] = [];
    const join = (name: string) => reachability.wait(() => void woken.push(name));
    const [first, second] = [join("first"), join("second")];
    expect([first.scout, second.scout]).toEqual([true, false]);
    first.leave("tries");
    expect(woken).toEqual([]);
    const again = join("first again");
    expect(again.scout).toBe(true);
    again.leave("gone");
    expect(woken).toEqual(["second"]);
  });

  it("has no scout among those who do not want to be", () => {
    const reachability = new ServerReachability(new VirtualClock());
    expect(reachability.wait(() => {}, { scouts: false }).scout).toBe(false);
    expect(reachability.wait(() => {}).scout).toBe(true);
  });
});

describe("a transport that tells", () => {
  it("passes everything on, and has only what it had", async () => {
    const reachability = new ServerReachability(new VirtualClock());
    const heard = vi.spyOn(reachability, "heard");
    const answers: (() => Promise<never>)[] = [() => Promise.resolve("answer" as never), () => Promise.reject(refused)];
    const close = vi.fn(async () => {});
    const transport = tellingReachability(
      { request: () => (answers.shift() ?? close)() as never, close },
      reachability,
    );
    expect(await transport.request(request)).toBe("answer");
    await expect(transport.request(request)).rejects.toBe(refused);
    expect(heard.mock.calls).toEqual([[], [refused]]);
    expect("webSocket" in transport).toBe(false);
    await transport.close();
    expect(close).toHaveBeenCalledOnce();
  });
});
