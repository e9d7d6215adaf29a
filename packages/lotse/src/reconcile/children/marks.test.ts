import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import {
  type ChildMark,
  isAppliedBy,
  isOurs,
  markAnnotation,
  readMark,
  readNote,
  withNote,
  withoutNote,
  writeMark,
} from "./marks.ts";

const MARK: ChildMark = { by: "pages", of: "parent-uid", key: "x", after: ["w"], digest: "d" };

function child(mark: string | undefined, owners: readonly string[] = ["parent-uid"]): KubeBody {
  const ownerReferences = owners.map((uid) => ({ apiVersion: "v1", kind: "Site", name: "s", uid }));
  const annotations = mark === undefined ? {} : { [markAnnotation("op")]: mark };
  return { metadata: { name: "c", annotations, ownerReferences } } as unknown as KubeBody;
}

describe("the mark on a child", () => {
  it("is read as it was written, and short where there is no order", () => {
    expect(readMark(["op"], child(writeMark(MARK)))).toEqual(MARK);
    expect(readMark(["op"], child(writeMark({ ...MARK, after: [] })))).toEqual({ ...MARK, after: [] });
    expect(writeMark({ ...MARK, after: [] })).not.toContain("after");
  });

  it.each([undefined, "", "{", "7", "null", "[]", '"text"', '{"by":1,"of":"u","key":"x"}', '{"by":"b","of":"u"}'])(
    "that somebody edited to %j proves nothing",
    (text) => {
      expect(readMark(["op"], child(text))).toBeUndefined();
      expect(isOurs(["op"], "pages", "parent-uid", child(text))).toBe(false);
    },
  );

  it("survives a digest and an order that somebody edited", () => {
    const text = '{"by":"b","of":"u","key":"x","digest":7,"after":["y",1]}';
    expect(readMark(["op"], child(text))).toEqual({ by: "b", of: "u", key: "x", digest: "", after: ["y"] });
  });

  it("proves that a child is ours only with its owner, for this parent, declaration and operator", () => {
    const ours = child(writeMark(MARK));
    expect(isOurs(["op"], "pages", "parent-uid", ours)).toBe(true);
    expect(isOurs(["op"], "pages", "parent-uid", undefined)).toBe(false);
    expect(isOurs(["other"], "pages", "parent-uid", ours)).toBe(false);
    expect(isOurs(["op"], "other", "parent-uid", ours)).toBe(false);
    expect(isOurs(["op"], "pages", "other-uid", ours)).toBe(false);
    expect(isOurs(["op"], "pages", "parent-uid", child(writeMark(MARK), []))).toBe(false);
    expect(isOurs(["op"], "pages", "parent-uid", child(writeMark(MARK), ["other-uid"]))).toBe(false);
    expect(isOurs(["op"], "pages", "parent-uid", child(writeMark(MARK), ["other-uid", "parent-uid"]))).toBe(true);
  });
});

describe("the note on a parent", () => {
  const parent = (text: string | undefined) =>
    ({ metadata: { annotations: text === undefined ? {} : { "op.lotse.dev/children": text } } }) as unknown as KubeBody;

  it("is kept for each declaration by itself", () => {
    const first = withNote(["op"], parent(undefined), "pages", { kinds: ["v1/ConfigMap"], external: [] });
    expect(first).toBe('{"pages":{"kinds":["v1/ConfigMap"]}}');
    const both = withNote(["op"], parent(first), "dns", { kinds: [], external: ["zone"] });
    expect(readNote(["op"], parent(both), "pages")).toEqual({ kinds: ["v1/ConfigMap"], external: [] });
    expect(readNote(["op"], parent(both), "dns")).toEqual({ kinds: [], external: ["zone"] });
    expect(readNote(["other"], parent(both), "dns")).toEqual({ kinds: [], external: [] });
    expect(withoutNote("op", parent(both), "dns")).toBe(first);
    expect(withoutNote("op", parent(first), "pages")).toBeNull();
    expect(withoutNote("op", parent("{"), "pages")).toBeNull();
  });

  it.each([undefined, "{", "[]", '{"pages":7}', '{"pages":{"kinds":"v1/Pod","external":[1]}}'])(
    "that somebody edited to %j says nothing",
    (text) => {
      expect(readNote(["op"], parent(text), "pages")).toEqual({ kinds: [], external: [] });
    },
  );
});

describe("the field manager", () => {
  it("has applied an object only if the server says so", () => {
    const managed = (manager: string, operation: string) =>
      ({
        metadata: {
          managedFields: [
            { manager: "kubectl", operation: "Apply" },
            { manager, operation },
          ],
        },
      }) as KubeBody;
    expect(isAppliedBy(["op"], managed("op", "Apply"))).toBe(true);
    expect(isAppliedBy(["op"], managed("op", "Update"))).toBe(false);
    expect(isAppliedBy(["op"], managed("other", "Apply"))).toBe(false);
    expect(isAppliedBy(["op"], { metadata: {} } as KubeBody)).toBe(false);
  });
});

describe("an operator that was renamed", () => {
  const old = { metadata: { annotations: { [markAnnotation("was")]: writeMark(MARK) } } } as unknown as KubeBody;

  it("knows the marks and the notes that it made under its former names", () => {
    expect(readMark(["op"], old)).toBeUndefined();
    expect(readMark(["op", "was"], old)).toEqual(MARK);
    const parent = { metadata: { annotations: { "was.lotse.dev/children": '{"pages":{"kinds":["v1/Secret"]}}' } } };
    expect(readNote(["op", "was"], parent as KubeBody, "pages").kinds).toEqual(["v1/Secret"]);
    // The notes of other declarations move with the first one that is written.
    const moved = withNote(["op", "was"], parent as KubeBody, "dns", { kinds: [], external: ["zone"] });
    expect(JSON.parse(moved)).toEqual({ pages: { kinds: ["v1/Secret"] }, dns: { kinds: [], external: ["zone"] } });
  });
});
