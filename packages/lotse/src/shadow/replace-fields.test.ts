import { describe, expect, it } from "vitest";
import { WHOLE } from "./fields.ts";
import { pickFields, replaceFields } from "./replace-fields.ts";

const WEB = 'k:{"name":"web"}';
const spec = (fields: Record<string, unknown>) => ({ spec: fields });

describe("replaced fields", () => {
  it("go where nobody sets them any more, and come as they are in the other object", () => {
    const base = spec({ theirs: 1, mine: 1, other: 1 });
    const replaced = replaceFields<unknown>(base, {
      off: { "f:spec": { "f:theirs": WHOLE, "f:mine": WHOLE } },
      on: { "f:spec": { "f:mine": WHOLE, "f:new": WHOLE } },
      from: spec({ mine: 2, new: 3, unsaid: 4 }),
    });
    expect(replaced).toEqual(spec({ other: 1, mine: 2, new: 3 }));
  });

  it("keep the defaults of an item that both have, and take along an item that nobody wants", () => {
    const base = spec({ containers: [{ name: "web", image: "a", pull: "Always" }, { name: "old" }] });
    const replaced = replaceFields<unknown>(base, {
      off: { "f:spec": { "f:containers": { [WEB]: { "f:image": WHOLE }, 'k:{"name":"old"}': { ".": WHOLE } } } },
      on: { "f:spec": { "f:containers": { [WEB]: { "f:image": WHOLE } } } },
      from: spec({ containers: [{ name: "web", image: "b" }] }),
    });
    expect(replaced).toEqual(spec({ containers: [{ name: "web", image: "b", pull: "Always" }] }));
  });

  it("leave a map that others have something in", () => {
    const labels = { "f:labels": { ".": WHOLE, "f:a": WHOLE } };
    const off = (base: unknown) => replaceFields(base, { off: labels, on: undefined, from: undefined });
    expect(off({ labels: { a: "1" }, x: 1 })).toEqual({ x: 1 });
    expect(off({ labels: { a: "1", b: "2" }, x: 1 })).toEqual({ labels: { b: "2" }, x: 1 });
  });
});

it("nobody's fields are none, and not the whole object", () => {
  const value = spec({ size: 1 });
  expect(replaceFields(value, { off: {}, on: undefined, from: undefined })).toEqual(value);
  expect(replaceFields(value, { off: undefined, on: {}, from: spec({ size: 2 }) })).toEqual(value);
  expect(pickFields(value, {})).toEqual({});
});

it("picked fields are those, and nothing else", () => {
  const value = spec({ containers: [{ name: "web", image: "a", pull: "Always" }, { name: "db" }], size: 1 });
  const fields = { "f:spec": { "f:containers": { [WEB]: { ".": WHOLE, "f:image": WHOLE } } } };
  expect(pickFields(value, fields)).toEqual(spec({ containers: [{ image: "a" }] }));
  expect(pickFields(value, undefined)).toEqual({});
});
