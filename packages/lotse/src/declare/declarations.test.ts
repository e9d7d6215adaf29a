import { ConfigMap } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Declarations } from "./declarations.ts";
import type { ChangeHandler, TimerHandler } from "./handler.ts";

describe("declaring", () => {
  it("names a handler by its id, else by its function, bound or not", () => {
    const { on, ...declarations } = collect();
    on.create(ConfigMap, { id: "explicit" }, function ignored() {});
    on.create(ConfigMap, function named() {});
    on.create(ConfigMap, function method() {}.bind({}));
    on.field(ConfigMap, { field: "data.rate" }, function changed() {});
    expect(declarations.ids()).toEqual(["explicit", "named", "method", "changed/data.rate"]);
  });

  it("refuses a handler of changes without a name, because its work is remembered on objects under it", () => {
    expect(() => collect().on.create(ConfigMap, () => {})).toThrow(
      /on\.create needs a handler with a name: its work is remembered on objects under it at declare\/declarations\.test\.ts:\d+/,
    );
    expect(() => collect().on(["create", "resume"], ConfigMap, async () => {})).toThrow(/needs a handler with a name/);
  });

  it("numbers handlers without a name of which nothing is remembered on objects", () => {
    const { on, declarations, ids } = collect();
    on.event(ConfigMap, () => {});
    on.event(ConfigMap, () => {});
    declarations.daemon(ConfigMap, async () => {});
    expect(ids()).toEqual(["event-1", "event-2", "daemon-1"]);
  });

  it("refuses an option that does not exist, which only a compiler would find otherwise", () => {
    const wrong = { lables: { app: "web" } } as object;
    expect(() => collect().on.create(ConfigMap, wrong, function publish() {})).toThrow(
      /^on\.create has no option "lables" at declare\/declarations\.test\.ts:\d+/,
    );
    expect(() => collect().declarations.timer(ConfigMap, { intervall: "1s" } as object, function tick() {})).toThrow(
      /^timer has no option "intervall"/,
    );
    expect(() => collect().declarations.reconcile(ConfigMap, { own: [] } as object, function keep() {})).toThrow(
      /^reconcile has no option "own"/,
    );
  });

  it("refuses an id that is used twice for one kind, and names both places", () => {
    const { on } = collect();
    on.create(ConfigMap, function publish() {});
    expect(() => on.update(ConfigMap, function publish() {})).toThrow(
      /handler id "publish" is used twice for configmaps\.v1 \(first at declare\/declarations\.test\.ts:\d+\) at declare\/declarations\.test\.ts:\d+/,
    );
  });

  it("allows the same id on two kinds", () => {
    const { on } = collect();
    on.create(ConfigMap, function publish() {});
    expect(() => on.create("secrets", function publish() {})).not.toThrow();
  });

  it("declares one handler for several causes", () => {
    const { on, ...declarations } = collect();
    on(["create", "resume"], ConfigMap, function both() {});
    const [handler] = declarations.handlers() as ChangeHandler[];
    expect([...(handler?.reasons ?? [])]).toEqual(["create", "resume"]);
  });

  it("reads durations when a handler is declared, not when it fails", () => {
    const { on } = collect();
    const timeout = "5 minutes" as "5m";
    expect(() => on.create(ConfigMap, { timeout }, function f() {})).toThrow(/not a duration/);
  });

  it.each([
    [
      "optional on.create",
      () => collect().on.create(ConfigMap, { optional: true }, function f() {}),
      /"optional" has no meaning for on\.create/,
    ],
    [
      "deleted on.update",
      () => collect().on.update(ConfigMap, { deleted: true }, function f() {}),
      /"deleted" has no meaning for on\.update/,
    ],
    ["no handler", () => (collect().on.create as (kind: unknown) => void)(ConfigMap), /needs a handler function/],
    ["no cause", () => collect().on([], ConfigMap, function f() {}), /without a cause/],
    [
      "a sharp timer without an interval",
      () => collect().declarations.timer(ConfigMap, { sharp: true }, function f() {}),
      /"sharp" has no meaning without an interval/,
    ],
    [
      "a deletion that is kept when nobody holds it",
      () => collect().on.delete(ConfigMap, { optional: true, onGiveUp: "keep" }, function f() {}),
      /"onGiveUp" has no meaning/,
    ],
  ])("refuses %s with the place in the source", (_name, declare, message) => {
    expect(declare).toThrow(message);
    expect(declare).toThrow(/declarations\.test\.ts:\d+/);
  });

  it("reads a timer's options", () => {
    const { declarations, handlers } = collect();
    declarations.timer(ConfigMap, { interval: "1h", initialDelay: "5s", idle: "1m", sharp: true }, function tick() {});
    expect(handlers()[0] as TimerHandler).toMatchObject({
      intervalMs: 3_600_000,
      idleMs: 60_000,
      sharp: true,
    });
  });

  it("keeps one entry for a kind however often it is named", () => {
    const { on, declarations } = collect();
    on.create(ConfigMap, function a() {});
    on.update(ConfigMap, function b() {});
    expect(declarations.resources).toHaveLength(1);
  });
});

function collect() {
  const declarations = new Declarations();
  const handlers = () => declarations.resources.flatMap((one) => one.handlers);
  return { declarations, on: declarations.on, handlers, ids: () => handlers().map(({ id }) => id) };
}
