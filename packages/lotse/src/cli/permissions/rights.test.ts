import path from "node:path";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { loadOperators } from "../project/index.ts";
import { rememberedCode, testIo } from "../terminal/test-io.ts";
import { TestProject } from "../terminal/test-project.ts";
import { rightsOf } from "./rights.ts";

/** The operator is made in one file, its handlers are in another one, which the first does not import. */
const FILES = {
  "operator.ts": `
import { Operator } from "lotse";
import { ConfigMap, Pod } from "lotse/client";
export const operator = new Operator({ name: "parcels" });
operator.on.create(ConfigMap, async function send({ client, name }) {
  await client.create(Pod.gen({ name, image: "courier" }));
});
`,
  "more.ts": `
import { ConfigMap, Secret } from "lotse/client";
import { operator } from "./operator.ts";
operator.reconcile(ConfigMap, async function look({ list }) {
  await list(Secret);
});
export { operator };
`,
};

let project: TestProject;
const code = rememberedCode();

beforeAll(() => {
  project = new TestProject(FILES);
}, 300_000);

afterAll(() => project.remove());

describe("the rights of an operator that is at hand", () => {
  it.each([
    ["in all namespaces", undefined, []],
    ["in one namespace", ["team-a"], ["--serve", "team-a"]],
  ])("are those that lotse generate deploy gives it, %s", { timeout: 300_000 }, async (_where, namespaces, flags) => {
    const { folder: cwd } = project;
    const io = testIo({ cwd, env: { HOME: cwd }, code });
    expect(await main(["generate", "deploy", "more.ts", "--coordination", "alone", ...flags], io)).toBe(0);
    const noRights = ["Deployment", "NetworkPolicy"];
    const generated = (loadAll(io.out()) as { kind: string }[]).filter(({ kind }) => !noRights.includes(kind));
    const [loaded] = await loadOperators([path.join(cwd, "more.ts")], cwd, code.loader);
    const rights = await rightsOf(loaded?.operator as NonNullable<typeof loaded>["operator"], {
      namespaces,
      cwd,
      env: {},
    });
    expect(rights.manifests).toEqual(generated);
    expect(rights.unseen).toEqual([]);
    expect(rights.account).toBe("default/parcels");
    expect(JSON.stringify(rights.manifests)).toMatch(/"pods".*"secrets"/);
  });
});
