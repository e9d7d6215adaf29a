import { describe, expect, it } from "vitest";
import { renameManagers } from "./take-over.ts";

const entry = (manager: string, operation = "Apply") => ({ manager, operation, fieldsV1: { [manager]: {} } }) as never;
const managers = (entries: ReturnType<typeof renameManagers>) =>
  entries?.map(({ manager, operation }) => `${manager} ${operation}`);

describe("the fields of a child whose operator was renamed", () => {
  it("become those of the new name, and others keep theirs", () => {
    const before = [entry("kubectl", "Update"), entry("was"), entry("was", "Update")];
    const after = renameManagers(before, "op", ["was"]);
    expect(managers(after)).toEqual(["kubectl Update", "op Apply", "was Update"]);
    expect(after?.[1]).toMatchObject({ fieldsV1: { was: {} } });
  });

  it("are let go by the old name when the new one has applied already", () => {
    expect(managers(renameManagers([entry("op"), entry("was")], "op", ["was"]))).toEqual(["op Apply"]);
  });

  it("have one owner although the operator was renamed twice", () => {
    expect(managers(renameManagers([entry("first"), entry("second")], "op", ["second", "first"]))).toEqual([
      "op Apply",
    ]);
  });

  it("are left alone when there is nothing to rename", () => {
    expect(renameManagers([entry("op"), entry("kubectl", "Update")], "op", ["was"])).toBeUndefined();
  });
});
