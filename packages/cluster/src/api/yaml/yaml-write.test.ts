import { describe, expect, it } from "vitest";
// What sigs.k8s.io/yaml 1.6.0 makes of the same values.
import golden from "./yaml-write.golden.json" with { type: "json" };
import { writeYaml } from "./yaml-write.ts";

describe("YAML", () => {
  it.each(golden.map(({ json, yaml }) => [JSON.stringify(json).slice(0, 60), json, yaml] as const))(
    "is what a real server writes for %s",
    (_, json, yaml) => {
      expect(writeYaml(json)).toBe(yaml);
    },
  );
});
