/** Strategic merges beside those of the code that kube-apiserver uses. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { deepEqual } from "@lotse/client/meta";
import { expect, it } from "vitest";
import { applyStrategicMergePatch, createSchemaTable } from "../../packages/cluster/src/registry/patch/test-merge.ts";
import { buildGoProgram } from "./go/build.ts";
import { type MergeCase, mergeCases } from "./merges.ts";

const COUNT = 20_000;
const SEED = 14;
/** A cold module proxy and a slow machine. */
const limitMs = 900_000;

type Outcome = { readonly value?: unknown; readonly error?: string };

it(
  `${COUNT} random strategic merges end as in Go`,
  async () => {
    const folder = fileURLToPath(new URL("go/merges", import.meta.url));
    const program = await buildGoProgram(folder, ["clients", "merges"], (line) => process.stdout.write(`${line}\n`));
    const cases = mergeCases(COUNT, chance(SEED));
    const input = cases.map((one) => JSON.stringify(one)).join("\n");
    const lines = execFileSync(program, { input, maxBuffer: 2 ** 30, encoding: "utf8" })
      .trim()
      .split("\n");
    expect(lines).toHaveLength(COUNT);
    const table = createSchemaTable();
    const pod = { $ref: table.refOfKind("", "v1", "Pod") as string };
    const merge = ({ doc, patch }: MergeCase): Outcome => {
      try {
        return { value: applyStrategicMergePatch(doc, patch, pod, (ref) => table.get(ref)) };
      } catch (error) {
        return { error: (error as Error).message };
      }
    };
    const different = cases.flatMap((one, i) => {
      const theirs = JSON.parse(lines[i] as string) as Outcome[];
      const ours = merge(one);
      return theirs.some((outcome) => deepEqual(typed(outcome), typed(ours))) ? [] : [{ ...one, theirs, ours }];
    });
    expect(different).toEqual([]);
    // The cases are worth something: many of them are refused, and many are not.
    const refused = lines.filter((line) => line.includes('"error"')).length;
    expect(refused).toBeGreaterThan(COUNT / 20);
    expect(refused).toBeLessThan(COUNT / 2);
  },
  limitMs,
);

/** What a typed object can hold: no null. */
function typed({ value = {}, error }: Outcome): unknown {
  if (error !== undefined) return { error };
  return JSON.parse(JSON.stringify(value), (_, member) => (member === null ? undefined : member));
}

/** Numbers from 0 up to 1 that are the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
