import { Namespace } from "lotse/client";
import { describe, expect, it } from "vitest";
import { changed, type Report, withReports, wrongLabels } from "./drift.ts";

const report = (n: number): Report => ({ at: `2026-01-01T00:00:${10 + n}Z`, object: "x", what: "y", by: "" });

describe("the report", () => {
  it("has each change once, however often it is told, and only the newest ten", () => {
    const list = withReports([report(1)], [report(1), report(2)]);
    expect(list).toEqual([report(1), report(2)]);
    const many = Array.from({ length: 12 }, (_, i) => report(i + 3));
    expect(withReports(list, many)).toEqual(many.slice(2));
  });

  it("says when a change was made, and of several writers the last", () => {
    const namespace = new Namespace({
      metadata: {
        name: "a",
        labels: { team: "b" },
        managedFields: [
          {
            manager: "first",
            time: "2026-01-01T00:00:00Z",
            fieldsV1: { "f:metadata": { "f:labels": { "f:team": {} } } },
          },
          {
            manager: "second",
            time: "2026-01-02T00:00:00Z",
            fieldsV1: { "f:metadata": { "f:labels": { "f:team": {} } } },
          },
          { manager: "third", time: "2026-01-03T00:00:00Z", fieldsV1: { "f:spec": {} } },
        ],
      },
    });
    const [field, ...others] = wrongLabels(namespace, { team: "a" });
    expect(others).toEqual([]);
    expect(field && changed(namespace, field, new Date(0))).toEqual({
      at: "2026-01-02T00:00:00Z",
      object: "Namespace a",
      what: "metadata.labels[team] was b, not a",
      by: "first, second",
    });
  });
});
