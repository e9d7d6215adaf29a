import { describe, expect, it } from "vitest";
import { fromCel, misplacedType, ObjectValue, rewriteLiterals } from "./patch-types.ts";

describe("literals of object types", () => {
  it.each([
    ["Object{}", "rootObject({})"],
    ["Object{spec: Object.spec{replicas: 3}}", 'rootObject({"spec": partObject("Object.spec", {"replicas": 3})})'],
    ["Object { a : 1 , b: {c: 2} }", 'rootObject({ "a" : 1 , "b": {c: 2} })'],
    ["Object{?a: optional.none()}", 'rootObject({?"a": optional.none()})'],
    ["Object{a: x ? y : z, b: 1}", 'rootObject({"a": x ? y : z, "b": 1})'],
    ["Object{a: [b, c], d: f(e, g)}", 'rootObject({"a": [b, c], "d": f(e, g)})'],
    ['[JSONPatch{op: "add", path: "/x"}]', '[patchOperation({"op": "add", "path": "/x"})]'],
    ["'Object{a: 1}' + \"JSONPatch{\"", "'Object{a: 1}' + \"JSONPatch{\""],
    ["Object{ // a: 1\n b: 2}", 'rootObject({ // a: 1\n "b": 2})'],
    ["Object{`a-b`: 1}", 'rootObject({"a-b": 1})'],
    ["object.spec == {'a': 1}", "object.spec == {'a': 1}"],
  ])("%s becomes %s", (expression, expected) => {
    expect(rewriteLiterals(expression).expression).toBe(expected);
  });

  it.each(["Object{a: x, b: Object.b{c: y}}", "[JSONPatch{op: x, path: 'p'}, JSONPatch{op: y}]"])(
    "in %s leave every name where it was, for who looks for a mistake",
    (expression) => {
      const rewritten = rewriteLiterals(expression);
      for (const name of ["x", "y"]) {
        const found = rewritten.at(rewritten.expression.search(new RegExp(`\\b${name}\\b`)));
        expect(found).toBe(expression.search(new RegExp(`\\b${name}\\b`)));
      }
    },
  );

  it("belong where their name says", () => {
    const part = (type: string) => new ObjectValue("Object", new Map([["spec", [new ObjectValue(type, new Map())]]]));
    expect(misplacedType(part("Object.spec"), "Object")).toBeUndefined();
    expect(misplacedType(part("Object.other"), "Object")).toBe(
      'unexpected type name "Object.other", expected "Object.spec", which matches field name path from root Object type',
    );
  });

  it("become JSON", () => {
    const value = new ObjectValue(
      "Object",
      new Map<string, unknown>([
        ["number", 3n],
        ["map", new Map([["a", [1.5, null]]])],
        ["time", new Date(0)],
        ["bytes", new Uint8Array([104, 105])],
      ]),
    );
    expect(fromCel(value)).toEqual({
      number: 3,
      map: { a: [1.5, null] },
      time: "1970-01-01T00:00:00Z",
      bytes: "aGk=",
    });
  });
});
