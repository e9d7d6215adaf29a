import { describe, expect, it } from "vitest";
import { noteOf, type Watched } from "./events.ts";

const WATCHED: Watched = { operators: ["lights"], streams: [{ kind: "Pod" }, { kind: "Lamp", namespace: "hall" }] };

const event = (rest: object = {}, object: object = {}) => ({
  apiVersion: "v1",
  kind: "Event",
  involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "default", name: "web", uid: "1", ...object },
  type: "Normal",
  reason: "Started",
  message: "Container started",
  source: { component: "kubelet" },
  ...rest,
});

describe("noteOf", () => {
  it("takes who, what and about whom out of an Event", () => {
    expect(noteOf(event({ count: 4 }), WATCHED, 7)).toEqual({
      time: 7,
      type: "Normal",
      reason: "Started",
      message: "Container started",
      from: "kubelet",
      count: 4,
      object: { apiVersion: "v1", kind: "Pod", namespace: "default", name: "web", uid: "1" },
    });
  });

  it("reads the newer form, too", () => {
    const newer = event({
      message: undefined,
      note: "moin",
      source: undefined,
      reportingComponent: "sched",
      series: { count: 3 },
    });
    expect(noteOf(newer, WATCHED, 0)).toMatchObject({ message: "moin", from: "sched", count: 3 });
  });

  it.each([
    ["a kind that nobody handles", { kind: "Node" }],
    ["a namespace that is not served", { kind: "Lamp", namespace: "attic" }],
    ["nothing", { kind: undefined }],
  ])("leaves out %s", (_, object) => {
    expect(noteOf(event({}, object), WATCHED, 0)).toBeUndefined();
  });

  it("leaves out what the operator's own log says, and keeps what its handlers post", () => {
    const own = (reason: string) => noteOf(event({ reason, reportingComponent: "lights" }), WATCHED, 0);
    expect(own("HandlerSucceeded")).toBeUndefined();
    expect(own("RatePublished")).toMatchObject({ reason: "RatePublished" });
    const other = noteOf(event({ reason: "HandlerFailed", reportingComponent: "others" }), WATCHED, 0);
    expect(other).toMatchObject({ from: "others" });
  });
});
