/** What `lotse generate` and `lotse check` say of handlers that were never recorded at work. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { loadAll } from "js-yaml";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RecordedRequest } from "../../report/index.ts";
import { main } from "../main.ts";
import { judgeHandlers } from "../permissions/index.ts";
import { rememberedCode, testIo } from "../terminal/test-io.ts";
import { TestProject } from "../terminal/test-project.ts";

/** One handler says in its code what it asks for, the other one only when it runs. */
const OPERATOR = `
import { Operator } from "lotse";
import { ConfigMap, type KindClass, Pod, Secret } from "lotse/client";

const operator = new Operator({ name: "parcels" });
const kinds = new Map<string, KindClass>([["secret", Secret]]);

operator.on.create(ConfigMap, async function sendParcel({ client, name }) {
  await client.create(Pod.gen({ name, image: "courier" }));
});
operator.on.create(ConfigMap, async function openParcel({ client, labels }) {
  const kind = kinds.get(labels.kind ?? "");
  if (kind) await client.get(kind, "a");
});
export default operator;
`;

let project: TestProject;
let cwd: string;
const code = rememberedCode();

beforeAll(() => {
  project = new TestProject();
  cwd = project.folder;
}, 300_000);

beforeEach(() => project.write("operator.ts", OPERATOR));

afterEach(() => rmSync(path.join(cwd, "operator.requests.jsonl"), { force: true }));

afterAll(() => project.remove());

async function call(folder: string, ...argv: string[]) {
  const io = testIo({ cwd: folder, env: { HOME: folder }, code });
  const exitCode = await main(argv, io);
  return { code: exitCode, out: io.out(), err: io.err().replaceAll(path.basename(folder), "FOLDER") };
}

const rightsIn = (out: string) =>
  (loadAll(out) as { rules?: { resources: string[]; verbs: string[] }[] }[]).flatMap(({ rules = [] }) =>
    rules.flatMap(({ resources, verbs }) => resources.map((one) => `${one}: ${verbs.join(" ")}`)),
  );

const record = (...requests: Partial<RecordedRequest>[]) =>
  writeFileSync(
    path.join(cwd, "operator.requests.jsonl"),
    requests.map((one) => `${JSON.stringify({ method: "GET", watch: false, websocket: false, ...one })}\n`).join(""),
  );

const TOLD = `Warning: nobody knows what handler openParcel (FOLDER/operator.ts:11) asks the cluster for: operator.ts:13: the kind in client.get(…) is only known when it runs
Do:      let it run in \`lotse dev operator.ts\`, or in tests with LOTSE_RECORD=operator.requests.jsonl; then generate again
`;

describe("what handlers ask for", { timeout: 300_000 }, () => {
  it.each(["rbac", "deploy", "helm", "olm"])(
    "is in what generate %s makes, and where nobody knows it standard error names handler, place and remedy",
    async (product) => {
      const { code, out, err } = await call(cwd, "generate", product, "operator.ts");
      expect({ code, err }).toEqual({ code: 0, err: TOLD });
      expect(out).not.toContain("Warning");
    },
  );

  it("is complete with a recording of the handler whose code does not say it", async () => {
    record({ handler: "openParcel", path: "/api/v1/namespaces/a/secrets/a" });
    const { err, out } = await call(cwd, "generate", "rbac", "operator.ts");
    expect(err).toBe("");
    expect(rightsIn(out)).toEqual([
      "configmaps: get list patch watch",
      "events: create patch",
      "pods: create",
      "secrets: get",
    ]);
    expect(out).toContain("  # handler sendParcel (operator.ts:9)\n");
    expect(out).toContain("  # handler openParcel\n");
  });

  it("leaves out what was recorded of handlers that are gone, and says so", async () => {
    record(
      { handler: "openParcel", path: "/api/v1/namespaces/a/secrets/a" },
      { handler: "burnParcel", method: "DELETE", path: "/api/v1/namespaces/a/secrets/a" },
    );
    const { err, out } = await call(cwd, "generate", "rbac", "operator.ts");
    expect(err).toBe(
      "Note:    operator.requests.jsonl is also about handlers that are gone, which are left out: burnParcel\n",
    );
    expect(rightsIn(out)).toContain("secrets: get");
  });

  it("is told for each of several operators in one file, of one recording", async () => {
    const other = OPERATOR.replaceAll("operator", "second")
      .replaceAll("parcels", "letters")
      .replaceAll("Parcel", "Letter");
    writeFileSync(
      path.join(cwd, "operator.ts"),
      `export { default } from "./first.ts";\nexport { default as second } from "./second.ts";`,
    );
    writeFileSync(path.join(cwd, "first.ts"), OPERATOR);
    writeFileSync(path.join(cwd, "second.ts"), other);
    record(
      { handler: "openParcel", path: "/api/v1/namespaces/a/secrets/a" },
      { handler: "openLetter", path: "/api/v1/namespaces/a/services/a" },
    );
    const { err, out } = await call(cwd, "generate", "rbac", "operator.ts");
    expect(err).toBe("");
    expect(rightsIn(out).filter((right) => /secrets|services/.test(right))).toEqual(["secrets: get", "services: get"]);
  });

  it("is asked about by check, which does not fail for it", async () => {
    const { code, out } = await call(cwd, "check", "operator.ts", "--no-cluster");
    expect(code).toBe(0);
    expect(out.replaceAll(path.basename(cwd), "FOLDER")).toContain(
      "warning  nobody knows what handler openParcel (FOLDER/operator.ts:11) asks the cluster for: operator.ts:13: the kind in client.get(…) is only known when it runs → let it run in `lotse dev operator.ts`",
    );
    expect(out).toContain("requests of handlers");
  });

  it("is not known without TypeScript: then handlers may patch their objects, and all of them are named", async () => {
    const bare = mkdtempSync(path.join(os.tmpdir(), "lotse-bare-"));
    try {
      writeFileSync(path.join(bare, "package.json"), '{"type":"module"}');
      writeFileSync(path.join(bare, "operator.js"), BARE);
      const { out, err } = await call(bare, "generate", "rbac", "operator.js");
      expect(err).toBe(
        "Warning: nobody knows what handler wrap (x/operator.js:3) asks the cluster for: TypeScript is not installed here, hence nobody can read their code\n" +
          "Do:      npm install --save-dev typescript; or let it run in `lotse dev operator.js`, or in tests with LOTSE_RECORD=operator.requests.jsonl; then generate again\n",
      );
      expect(out).toContain("# handlers of Parcel: may patch metadata and spec (nobody has seen what they do)\n");
      expect(rightsIn(out)).toContain("parcels: get list patch watch");
    } finally {
      rmSync(bare, { recursive: true, force: true });
    }
  });
});

/** By the framework's brand, because there is no package where it lies. */
const BARE = `
const kind = { group: "p.example.com", version: "v1", kind: "Parcel", plural: "parcels", singular: "parcel",
  namespaced: true, shortNames: [], categories: [], verbs: ["list", "watch", "patch"], subresources: ["status"] };
class Parcel { static description = kind; static crd() { return { metadata: { name: "parcels.p.example.com" } }; } }
const handlers = [{ type: "change", id: "wrap", sourceLocation: "x/operator.js:3", reasons: new Set(["create"]) }];
export default {
  [Symbol.for("lotse.Operator")]: true, name: "parcels", options: { name: "parcels" },
  resources: [{ resource: Parcel, handlers }], activities: [],
};
`;

describe("judging a handler", () => {
  const handler = { id: "h", sourceLocation: "operator.ts:1", asks: true, handler: {} };
  const need = { group: "", resource: "pods", verbs: ["get"], by: "handler h", clusterWide: false };
  const seen = { handler: "h", method: "GET", path: "/api/v1/namespaces/a/pods/p", watch: false, websocket: false };
  const gap = { sourceLocation: "operator.ts:2", what: "the kind is only known when it runs" };
  const judge = (found: object | undefined, requests: readonly RecordedRequest[]) => {
    const scanned = new Map([[handler.handler, { ...handler, found }]]);
    const { needs, unseen } = judgeHandlers([handler], requests, { handlers: scanned as never });
    return { needs: needs.length, unseen: unseen.map(({ why }) => why) };
  };

  it.each([
    ["its code says everything", { needs: [need], gaps: [] }, [], { needs: 1, unseen: [] }],
    ["it was recorded as its code says", { needs: [need], gaps: [] }, [seen], { needs: 1, unseen: [] }],
    ["it was recorded where its code says nothing", { needs: [], gaps: [gap] }, [seen], { needs: 1, unseen: [] }],
    ["its code was not found, and it was recorded", undefined, [seen], { needs: 1, unseen: [] }],
    [
      "its code does not say everything, and nobody recorded it",
      { needs: [need], gaps: [gap, gap] },
      [],
      { needs: 1, unseen: ["operator.ts:2: the kind is only known when it runs (and 1 more)"] },
    ],
    [
      "its code was not found",
      undefined,
      [],
      { needs: 0, unseen: ["no declaration of it is in the files of this project, as far as their types tell"] },
    ],
  ])("%s", (_what, found, requests, expected) => {
    expect(judge(found, requests)).toEqual(expected);
  });
});
