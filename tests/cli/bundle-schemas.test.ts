/** What schemas add to the file that `lotse generate dockerfile` makes of an operator. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The files of a bundle, and how many bytes each of them adds. */
async function bundle(program: string): Promise<Map<string, number>> {
  const { metafile } = await build({
    stdin: { contents: program, resolveDir: path.join(ROOT, "tests/cli"), loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minify: true,
    keepNames: true,
    write: false,
    metafile: true,
    conditions: ["@lotse/source"],
    logLevel: "silent",
  });
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return new Map(files.map(([file, { bytesInOutput }]) => [file, bytesInOutput]));
}

const bytesOf = (files: ReadonlyMap<string, number>, part: string) =>
  [...files].reduce((sum, [file, bytes]) => (file.includes(part) ? sum + bytes : sum), 0);

const operator = (imports: string, spec: string) => `
import { Operator, duration, immutable, quantity, resource, rule, schema } from "lotse";
${imports}
export const Rate = resource({ group: "rates.example.com", version: "v1", kind: "Rate", spec: ${spec} });
const operator = new Operator({ name: "rates" });
operator.on.create(Rate, function publish() {});
console.log(operator, rule, immutable, quantity, duration, schema);
`;

describe("the bundle of an operator", { timeout: 120_000 }, () => {
  it("carries no schema library, and nothing of the embedded cluster, when its kinds are plain JSON Schema", async () => {
    const literal = `rule(schema({ type: "object", properties: { size: { type: "integer" }, memory: quantity() } }), "self.size > 1")`;
    const files = await bundle(operator("", literal));
    expect(files.size).toBeGreaterThan(50);
    expect(bytesOf(files, "node_modules/zod")).toBe(0);
    expect(bytesOf(files, "packages/cluster")).toBe(0);
    expect(bytesOf(files, "cel-js")).toBe(0);
  });

  it("carries of zod what is used, when it is imported as a namespace", async () => {
    const files = await bundle(
      operator('import * as z from "zod";', "z.object({ size: z.int(), memory: quantity() })"),
    );
    expect(bytesOf(files, "node_modules/zod")).toBeGreaterThan(10_000);
    expect(bytesOf(files, "node_modules/zod")).toBeLessThan(150_000);
  });
});
