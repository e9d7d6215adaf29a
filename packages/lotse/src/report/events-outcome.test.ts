import { describe, expect, it } from "vitest";
import { stepAfter } from "./events-outcome.ts";
import { lostConnection, refusal } from "./test-events-client.ts";

const create = { verb: "create", uncertain: false, last: false } as const;
const patch = { ...create, verb: "patch" } as const;

describe("after a failed write of an Event", () => {
  it.each([
    ["a lost connection is tried again, and may have landed", lostConnection(), 0, true],
    ["a broken server is tried again, and may have acted", refusal(503), 0, true],
    ["a busy server is obeyed, and has not acted", refusal(429, undefined, { retryAfterMs: 7_000 }), 7_000, false],
  ])("%s", (_, error, atLeastMs, uncertain) => {
    expect(stepAfter(error, create)).toEqual({ type: "retry", atLeastMs, uncertain });
    expect(stepAfter(error, patch)).toEqual({ type: "retry", atLeastMs, uncertain });
    expect(stepAfter(error, { ...create, last: true })).toMatchObject({ type: "give-up", problem: expect.any(String) });
  });

  it("an Event that exists already is our own when an answer was lost, and a stranger's otherwise", () => {
    const exists = refusal(409, "AlreadyExists");
    expect(stepAfter(exists, { ...create, uncertain: true })).toEqual({ type: "patch" });
    expect(stepAfter(exists, create)).toEqual({ type: "recreate" });
    expect(stepAfter(exists, { ...create, last: true }).type).toBe("give-up");
  });

  it("an Event that is gone is made anew", () => {
    expect(stepAfter(refusal(404), patch)).toEqual({ type: "recreate" });
  });

  it.each([
    ["a missing permission", refusal(403), "Events cannot be posted: the operator is not allowed to create events"],
    ["a missing namespace", refusal(404), "Events cannot be posted: their namespace does not exist"],
    ["an invalid Event", refusal(422), "Events cannot be posted: the API server refuses them"],
  ])("%s is said and not tried again", (_, error, problem) => {
    expect(stepAfter(error, create)).toEqual({ type: "give-up", problem });
  });

  it("a namespace that is being deleted is no problem of anybody", () => {
    const error = refusal(403, "Forbidden", { cause: "NamespaceTerminating" });
    expect(stepAfter(error, create)).toEqual({ type: "give-up", problem: undefined });
  });
});
