import { expect, test } from "vitest";
import { ConfigError, KubeError } from "./errors.ts";

test("an error is an instance of its own class and of its parents, and of no sibling", () => {
  class OtherError extends KubeError {}
  const error = new ConfigError("wrong", { hint: "fix it", cause: 1 });
  expect(error instanceof ConfigError).toBe(true);
  expect(error instanceof KubeError).toBe(true);
  expect(error instanceof Error).toBe(true);
  expect(error instanceof OtherError).toBe(false);
  expect(new KubeError("x") instanceof ConfigError).toBe(false);
  expect([error.name, error.code, error.hint, error.cause]).toEqual(["ConfigError", "LOTSE_CONFIG", "fix it", 1]);
});

test("instanceof holds across two copies of the module", async () => {
  const copy = (await import(`${new URL("./errors.ts", import.meta.url).href}?copy`)) as typeof import("./errors.ts");
  expect(copy.KubeError).not.toBe(KubeError);
  const foreign = new copy.ConfigError("x");
  expect(foreign instanceof ConfigError).toBe(true);
  expect(foreign instanceof KubeError).toBe(true);
  expect(new copy.KubeError("x") instanceof ConfigError).toBe(false);
});

test("an unrelated error of the same name is not ours", () => {
  const Foreign = { ConfigError: class ConfigError extends Error {} };
  expect(new Foreign.ConfigError("x") instanceof ConfigError).toBe(false);
  expect((undefined as unknown) instanceof KubeError).toBe(false);
});
