import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ObjectiveInput } from "./objective.ts";
import { resource } from "./resource.ts";

const kind = (objective: { ready: string; of: number }) =>
  resource({
    group: "shops.example.com",
    version: "v1",
    kind: "Shop",
    spec: z.object({}),
    objective: objective as ObjectiveInput,
  });

describe("the objective of a kind", () => {
  it("is kept on its class, in milliseconds, for all versions of it", () => {
    expect(kind({ ready: "30s", of: 0.99 }).objective).toEqual({ readyMs: 30_000, of: 0.99 });
    expect(
      resource({ group: "a.example.com", version: "v1", kind: "A", spec: z.object({}) }).objective,
    ).toBeUndefined();
    const Versioned = resource({
      group: "b.example.com",
      kind: "B",
      versions: { v1beta1: { spec: z.object({}) }, v1: { spec: z.object({}), storage: true } },
      objective: { ready: "1m", of: 0.9 },
    });
    expect(Versioned.version("v1beta1").objective).toEqual({ readyMs: 60_000, of: 0.9 });
  });

  it("is no part of the definition", () => {
    expect(JSON.stringify(kind({ ready: "30s", of: 0.99 }).crd())).not.toContain("objective");
  });

  it.each([
    [{ ready: "0s", of: 0.99 }, "Shop cannot be ready within 0ms"],
    [{ ready: "30s", of: 1 }, "an objective of 1 for Shop cannot be measured"],
    [{ ready: "30s", of: 0 }, "an objective of 0 for Shop cannot be measured"],
    [{ ready: "30s", of: 99 }, "an objective of 99 for Shop cannot be measured"],
    [{ ready: "soon", of: 0.9 }, "soon"],
  ])("%j is refused where it is declared", (objective, message) => {
    expect(() => kind(objective)).toThrow(message);
  });
});
