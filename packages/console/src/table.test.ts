import { expect, test } from "vitest";
import { readTable } from "./table.ts";

const metadata = {
  name: "eur",
  namespace: "default",
  uid: "u1",
  resourceVersion: "7",
  creationTimestamp: "2026-01-01T00:00:00Z",
};

test("a Table gives the kind's own columns, without the name, the age and the wide ones", () => {
  const page = readTable({
    kind: "Table",
    metadata: { resourceVersion: "9", continue: "next-page" },
    columnDefinitions: [
      { name: "Name", type: "string", format: "name", description: "", priority: 0 },
      { name: "Rate", type: "number", description: "The rate", priority: 0 },
      { name: "Source", type: "string", description: "", priority: 1 },
      { name: "Tags", type: "string", description: "", priority: 0 },
      { name: "Age", type: "date", description: "", priority: 0 },
    ],
    rows: [{ cells: ["eur", 1.08, "bank", ["a"], "5m"], object: { metadata } }],
  });
  expect(page).toEqual({
    columns: [
      { name: "Rate", type: "number", description: "The rate" },
      { name: "Tags", type: "string", description: "" },
    ],
    rows: [
      {
        namespace: "default",
        name: "eur",
        uid: "u1",
        resourceVersion: "7",
        created: "2026-01-01T00:00:00Z",
        deleting: false,
        cells: [1.08, '["a"]'],
      },
    ],
    next: "next-page",
  });
});

test("a plain list gives rows without columns", () => {
  const deleted = { ...metadata, deletionTimestamp: "2026-01-02T00:00:00Z" };
  const page = readTable({ kind: "PodList", metadata: { continue: "" }, items: [{ metadata: deleted }] });
  expect(page.columns).toEqual([]);
  expect(page.rows).toMatchObject([{ name: "eur", deleting: true, cells: [] }]);
  expect(page.next).toBeUndefined();
});

test("an answer that is no list gives nothing", () => {
  expect(readTable("nonsense")).toEqual({ columns: [], rows: [], next: undefined });
});
