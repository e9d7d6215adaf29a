import { expect, test } from "vitest";
import { noReferences, type Schema } from "../schema/index.ts";
import { sequences } from "./apply.golden.ts";
import { applyConfiguration, trackUpdate } from "./apply.ts";
import { formatConflicts } from "./conflicts.ts";

const text: Schema = { type: "string" };
const texts: Schema = { type: "object", additionalProperties: text };
const set: Schema = { type: "array", "x-kubernetes-list-type": "set", items: text };
const schema: Schema = {
  type: "object",
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: "object", properties: { name: text, uid: text, labels: texts, finalizers: set } },
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        name: text,
        plain: { type: "array", items: text },
        whole: { ...texts, "x-kubernetes-map-type": "atomic" },
        any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        nested: { type: "object", properties: { a: text, b: text } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: { port: { type: "integer" }, protocol: { ...text, default: "TCP" }, name: text, tags: set },
          },
        },
      },
    },
  },
};

interface Obj {
  readonly metadata: Record<string, unknown>;
  readonly [key: string]: unknown;
}

interface Step {
  readonly kind: "apply" | "update";
  readonly object: Obj;
  readonly manager: string;
  readonly force: boolean;
  readonly live?: Obj;
  readonly error?: string;
}

const common = { apiVersion: "x/v1", schema, resolve: noReferences, now: 0 };

/** The object with its owners in a fixed order: the recording has no times to sort them by. */
function comparable(object: Obj, managedFields: unknown): unknown {
  const entries = ((managedFields ?? []) as Record<string, unknown>[]).map(({ time: _, ...entry }) => entry);
  entries.sort((a, b) => (`${a.operation}${a.manager}` < `${b.operation}${b.manager}` ? -1 : 1));
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata, entries };
}

test.each(sequences.map((sequence, i) => [i, JSON.parse(sequence) as Step[]] as const))(
  "sequence %i ends as on a real server",
  (_, steps) => {
    let live: Obj | undefined;
    for (const { kind, object, manager, force, live: expected, error } of steps) {
      let next = object;
      let managedFields: unknown;
      if (kind === "apply") {
        const result = applyConfiguration({ ...common, live, applied: object, manager, force });
        if ("conflicts" in result) {
          expect(formatConflicts(result.conflicts).message).toBe(error);
          continue;
        }
        next = result.object as unknown as Obj;
        managedFields = result.managedFields;
      } else {
        managedFields = trackUpdate({ ...common, old: live, next: object, manager });
      }
      expect(error).toBeUndefined();
      expect(comparable(next, managedFields)).toEqual(comparable(expected as Obj, expected?.metadata.managedFields));
      live = { ...next, metadata: { ...next.metadata, managedFields } };
    }
  },
);
