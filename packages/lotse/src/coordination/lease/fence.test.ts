import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFenceOpen } from "./fence.ts";

const sent = { monotonic: 1_000, now: 1_000_000 };
const after = (monotonic: number, wall: number) => ({ monotonic: 1_000 + monotonic, now: 1_000_000 + wall });

describe("the fence", () => {
  it("is closed while the Lease is not held", () => {
    expect(isFenceOpen(undefined, sent, 10_000)).toBe(false);
  });

  it("is open from the sending of the last renewal until the time to renew is over", () => {
    expect(isFenceOpen(sent, after(9_999, 9_999), 10_000)).toBe(true);
    expect(isFenceOpen(sent, after(10_000, 10_000), 10_000)).toBe(false);
  });

  it("is closed after a sleep, in which the monotonic clock stood still", () => {
    expect(isFenceOpen(sent, after(5, 3_600_000), 10_000)).toBe(false);
  });

  it("heeds no clock that was set back", () => {
    expect(isFenceOpen(sent, after(5_000, -3_600_000), 10_000)).toBe(true);
    expect(isFenceOpen(sent, after(10_000, -3_600_000), 10_000)).toBe(false);
  });

  it("does not open again by itself as time passes", () => {
    const ms = fc.nat({ max: 100_000 });
    fc.assert(
      fc.property(ms, ms, ms, (at, later, renewMs) => {
        const open = isFenceOpen(sent, after(at, at), renewMs);
        return open || !isFenceOpen(sent, after(at + later, at + later), renewMs);
      }),
    );
  });
});
