import fc from "fast-check";
import { expect, test } from "vitest";
import { FieldSet, formatPath, type Path } from "./field-set.ts";

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"', "v:1");
const path: fc.Arbitrary<Path> = fc.array(element, { minLength: 1, maxLength: 3 });
const paths = fc.array(path, { maxLength: 6 });
const texts = (set: FieldSet) =>
  set
    .paths()
    .map((one) => one.join(" "))
    .sort();
const naive = (list: readonly Path[]) => [...new Set(list.map((one) => one.join(" ")))].sort();

test("a set survives being encoded and decoded", () => {
  fc.assert(
    fc.property(paths, (list) => {
      const set = FieldSet.of(...list);
      expect(texts(FieldSet.decode(JSON.parse(JSON.stringify(set.encode()))))).toEqual(naive(list));
    }),
  );
});

test("set operations are those of sets of paths", () => {
  fc.assert(
    fc.property(paths, paths, (a, b) => {
      const left = FieldSet.of(...a);
      const right = FieldSet.of(...b);
      const known = new Set(naive(b));
      expect(texts(left.union(right))).toEqual(naive([...a, ...b]));
      expect(texts(left.intersection(right))).toEqual(naive(a).filter((text) => known.has(text)));
      expect(texts(left.difference(right))).toEqual(naive(a).filter((text) => !known.has(text)));
      const covered = (text: string) => [...known].some((one) => text === one || text.startsWith(`${one} `));
      expect(texts(left.without(right))).toEqual(naive(a).filter((text) => !covered(text)));
      expect(left.equals(right)).toBe(naive(a).join() === naive(b).join());
    }),
  );
});

test("the wire form marks containers with a dot and sorts names before keys and values", () => {
  const set = FieldSet.of(
    ["f:z"],
    ["f:l", 'v:"x"'],
    ["f:l", 'k:{"name":"a"}'],
    ["f:l", 'k:{"name":"a"}', "f:i"],
    ["f:l", "f:q"],
  );
  expect(JSON.stringify(set.encode())).toBe(
    '{"f:l":{"f:q":{},"k:{\\"name\\":\\"a\\"}":{".":{},"f:i":{}},"v:\\"x\\"":{}},"f:z":{}}',
  );
  expect(() => FieldSet.decode({ "x:y": {} })).toThrow("unknown path element");
});

test("paths are printed as people read them", () => {
  expect(formatPath(["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"])).toBe(
    '.spec.ports[port=80,protocol="TCP"].name',
  );
  expect(formatPath(["f:metadata", "f:finalizers", 'v:"a/b"'])).toBe('.metadata.finalizers[="a/b"]');
});
