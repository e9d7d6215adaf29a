import { ConfigMap } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Declarations } from "./declarations.ts";
import { DeclarationError } from "./errors.ts";
import { absent, present } from "./filters.ts";

function collect() {
  const declarations = new Declarations();
  const handlers = () => declarations.resources.flatMap((one) => one.handlers);
  return { declarations, on: declarations.on, ids: () => handlers().map(({ id }) => id), handlers };
}

describe("the identity of a handler", () => {
  it("carries its field, also behind an id of one's own, so that one function serves several fields", () => {
    const { on, ids, declarations } = collect();
    const follow = function follow() {};
    on.field(ConfigMap, { field: "data.a" }, follow);
    on.field(ConfigMap, { field: ["data", "b.c"] }, follow);
    on.update(ConfigMap, { id: "mine", field: "data.a" }, follow);
    declarations.daemon(ConfigMap, { id: "beside", field: "data.a" }, follow);
    expect(ids()).toEqual(["follow/data.a", "follow/data.b.c", "mine/data.a", "beside/data.a"]);
  });

  it("is needed for each declaration of one function, and the order of declarations is kept", () => {
    const { on, ids, handlers } = collect();
    const serve = function serve() {};
    on.update(ConfigMap, { id: "second", param: 2 }, serve);
    on.create(ConfigMap, { id: "first", param: 1 }, serve);
    on.resume(ConfigMap, serve);
    expect(ids()).toEqual(["second", "first", "serve"]);
    expect(handlers().map((handler) => "param" in handler && handler.param)).toEqual([2, 1, undefined]);
    expect(() => on.delete(ConfigMap, serve)).toThrow(/"serve" is used twice/);
  });

  it("belongs to its operator: another one may use it for something else", () => {
    const [left, right] = [collect(), collect()];
    left.on.create(ConfigMap, function publish() {});
    right.on.delete(ConfigMap, function publish() {});
    expect([left.ids(), right.ids()]).toEqual([["publish"], ["publish"]]);
  });
});

describe("a declaration is refused, with its place, when", () => {
  it.each<[string, () => void, RegExp]>([
    [
      "a value has no field",
      () => collect().on.create(ConfigMap, { id: "f", value: 1 }, () => {}),
      /"value", "old" and "new" need a "field"/,
    ],
    [
      "an old value has no field",
      () => collect().on.update(ConfigMap, { id: "f", old: 1 }, () => {}),
      /"value", "old" and "new" need a "field"/,
    ],
    [
      "a value is combined with an old or a new one",
      () => collect().on.update(ConfigMap, { id: "f", field: "data.a", value: 1, new: 2 }, () => {}),
      /"value" cannot be combined/,
    ],
    [
      "an old value is asked for where nothing was before",
      () => collect().on.create(ConfigMap, { id: "f", field: "data.a", old: absent, new: present }, () => {}),
      /"old" and "new" have no meaning for on\.create/,
    ],
    [
      "a label is compared with nothing",
      () => collect().on.create(ConfigMap, { id: "f", labels: { a: null as never } }, () => {}),
      /the filter of "a" is null/,
    ],
    [
      "a handler of a field names none",
      () => collect().on.field(ConfigMap, { id: "f" } as never, () => {}),
      /on\.field needs a field/,
    ],
  ])("%s", (_name, declare, message) => {
    expect(declare).toThrow(DeclarationError);
    expect(declare).toThrow(message);
    expect(declare).toThrow(/identity\.test\.ts:\d+/);
  });
});
