import { describe, expect, it } from "vitest";
import type { AdmissionAttributes, ApiObject } from "../registry/index.ts";
import { type AdmissionPlugin, createAdmission, lazily } from "./chain.ts";

const attributes = { operation: "CREATE", object: { data: { steps: "" } } } as unknown as AdmissionAttributes;

const stepping = (step: string, again: boolean): AdmissionPlugin => ({
  mutate({ object }, round) {
    if (again) round.again();
    const { steps } = (object as ApiObject).data as { steps: string };
    return { ...object, data: { steps: `${steps}${step}${round.second ? "'" : ""}` } } as unknown as ApiObject;
  },
});

describe("the chain of admission", () => {
  it("hands the object from one to the next", async () => {
    const admitted = await createAdmission([stepping("a", false), stepping("b", false)]).mutate(attributes);
    expect(admitted?.data).toEqual({ steps: "ab" });
  });

  it("goes round once more when somebody asks for it, and never a third time", async () => {
    const admitted = await createAdmission([stepping("a", false), stepping("b", true)]).mutate(attributes);
    expect(admitted?.data).toEqual({ steps: "aba'b'" });
  });

  it("lets a plugin remember the first round in the second", async () => {
    const key = {};
    const seen: number[] = [];
    const plugin: AdmissionPlugin = {
      mutate({ object }, round) {
        const memory = round.recall(key, () => ({ count: 0 }));
        seen.push(memory.count++);
        round.again();
        return object;
      },
    };
    const admission = createAdmission([plugin]);
    await admission.mutate(attributes);
    await admission.mutate(attributes);
    expect(seen).toEqual([0, 1, 0, 1]);
  });

  it("loads a plugin when the first request concerns it, once", async () => {
    let loads = 0;
    const admission = createAdmission([
      lazily(
        ({ operation }) => operation === "DELETE",
        async () => {
          loads++;
          return {
            validate: () => {
              throw new Error("no");
            },
          };
        },
      ),
    ]);
    await admission.validate(attributes);
    expect(loads).toBe(0);
    const deletion = { ...attributes, operation: "DELETE" } as const;
    await expect(admission.validate(deletion)).rejects.toThrow("no");
    await expect(admission.validate(deletion)).rejects.toThrow("no");
    expect(await admission.mutate(deletion)).toBe(attributes.object);
    expect(loads).toBe(1);
  });
});
