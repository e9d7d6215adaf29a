/** `lotse check` of kinds with several versions, in a folder of this repository, where the packages are found. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Client, CustomResourceDefinition } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type ResourceClass, resource } from "../../declare/index.ts";
import { freshLoader, runCommand } from "../terminal/test-io.ts";
import { storedFindings } from "./conversions.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");
const PATIENT = { timeout: 300_000 };
const code = { loader: freshLoader() };

let cwd: string;

beforeEach(() => {
  mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
  cwd = mkdtempSync(path.join(ROOT, ".lotse", "check-"));
  writeFileSync(path.join(cwd, "package.json"), '{"type":"module"}');
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

interface Told {
  readonly errors: number;
  readonly checked: readonly string[];
  readonly findings: readonly Record<"level" | "check" | "place" | "message" | "todo", string>[];
}

async function check(operator: string, ...more: string[]): Promise<{ code: number; told: Told }> {
  writeFileSync(path.join(cwd, "operator.js"), operator);
  const io = { cwd, env: { HOME: cwd, ...(process.env.PATH && { PATH: process.env.PATH }) }, code };
  const { code: exitCode, out } = await runCommand(["check", "operator.js", "-o", "json", ...more], io);
  return { code: exitCode, told: JSON.parse(out) as Told };
}

const operator = (to: string, { lossless = true, old = true } = {}) => `
import { Operator, resource } from "lotse";
import { z } from "zod";
const Shop = resource({
  group: "shops.example.com", kind: "Shop", lossless: ${lossless},
  versions: {
    ${old ? "v1beta1: { spec: z.object({ size: z.string().min(1).max(8), colour: z.string().optional() }) }," : ""}
    v1: { spec: z.object({ area: z.string().min(1).max(8), floors: z.int32().min(1).optional() }), storage: true },
  },
  ${old ? `convert: { v1beta1: { to: ${to}, from: ({ spec }) => ({ spec: { size: spec.area } }) } },` : ""}
});
const operator = new Operator({ name: "shops" });
operator.on.create(Shop, function open() {});
export default operator;
`;

const GOOD = "({ spec }) => ({ spec: { area: spec.size } })";

const about = ({ findings }: Told, of: string) =>
  findings
    .filter((one) => one.check === of)
    .map(({ level, place, message, todo }) =>
      [level, place?.replace(/^.*operator\.js/, "operator.js"), message, todo].filter(Boolean).join(" | "),
    );

describe("conversions", PATIENT, () => {
  it("are tried; what a version cannot hold is told", async () => {
    const { code: exitCode, told } = await check(operator(GOOD), "--no-cluster");
    expect(exitCode).toBe(0);
    expect(told.checked).toContain("conversions (Shop with 2000 objects)");
    expect(about(told, "conversions")).toEqual([
      "note | operator.js:4 Shop v1beta1 | cannot hold spec.floors of v1: kept in the annotation lotse.dev/kept",
      "note | operator.js:4 Shop v1 | cannot hold spec.colour of v1beta1: kept in the annotation lotse.dev/kept",
    ]);
  });

  it("that fail are errors, with the smallest object and the line", async () => {
    const broken = '({ spec }) => ({ spec: { area: spec.colour === "" ? spec.colour : spec.size } })';
    const { code: exitCode, told } = await check(operator(broken), "--no-cluster");
    expect(exitCode).toBe(1);
    expect(about(told, "conversions")[0]).toBe(
      'error | operator.js:4 Shop v1beta1 → v1 | makes what the other version does not take: {"spec":{"size":"0","colour":""}}: spec.area: must have at least 1 characters',
    );
  });

  it("that lose what they may lose are worth a warning", async () => {
    const { code: exitCode, told } = await check(operator(GOOD, { lossless: false }), "--no-cluster");
    expect(exitCode).toBe(0);
    expect(about(told, "conversions")).toEqual([
      'warning | operator.js:4 Shop v1 → v1beta1 → v1 | is not the same when it comes back: {"spec":{"area":"0","floors":1}}: spec.floors: 1 became nothing | leave lossless: false out to keep it',
      expect.stringMatching(/^warning \| operator\.js:4 Shop v1beta1 → v1 → v1beta1 \| .*"colour":""/),
    ]);
  });
});

describe("the versions of a cluster", PATIENT, () => {
  let cluster: Cluster;
  let client: Client;
  let kubeconfig: string;

  beforeAll(async () => {
    cluster = await Cluster.start({ kubelet: false });
    client = await cluster.connect();
  });

  beforeEach(async () => {
    kubeconfig = path.join(cwd, "kubeconfig");
    await cluster.writeKubeconfig(kubeconfig);
  });

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const shop = (...names: readonly string[]) => {
    const versions = Object.fromEntries(
      names.map((name, i) => [name, { spec: z.object({ area: z.string() }), storage: i === names.length - 1 }]),
    );
    return resource({ group: "shops.example.com", kind: "Shop", versions } as never) as Pick<
      ResourceClass<unknown, unknown>,
      "crd"
    >;
  };

  it("cannot lose one that objects are stored in, and lotse check says what to do", async () => {
    for (const names of [["v1beta1"], ["v1beta1", "v1"]]) {
      const crd = new CustomResourceDefinition(shop(...names).crd(), client);
      await (await crd.apply({ force: true })).wait("condition=Established", { timeout: "30s" });
    }
    const kept = await check(operator(GOOD), "--kubeconfig", kubeconfig);
    expect(about(kept.told, "compatibility")).toContain(
      "note | Shop v1beta1 | objects may still be stored in it (storedVersions), hence it cannot be dropped yet | lotse migrate shops.shops.example.com",
    );
    const dropped = await check(operator(GOOD, { old: false }), "--kubeconfig", kubeconfig);
    expect(dropped.code).toBe(1);
    const refusal =
      "error | Shop v1beta1 | is gone, and objects are stored in it; the server refuses that | keep it (served: false will do) until lotse migrate shops.shops.example.com has rewritten all objects";
    expect(about(dropped.told, "compatibility")).toContain(refusal);
    const against = await check(operator(GOOD, { old: false }), "--kubeconfig", kubeconfig, "--against", "operator.js");
    expect(about(against.told, "compatibility")).toEqual([refusal]);
  });

  it("says when one can go", async () => {
    expect(await runCommand(["migrate", "shops", "--kubeconfig", kubeconfig], { cwd })).toMatchObject({
      code: 0,
      err: "",
    });
    const { told } = await check(operator(GOOD), "--kubeconfig", kubeconfig);
    expect(about(told, "compatibility")).toContain(
      "note | Shop v1beta1 | no object is stored in it: it can be dropped when no client asks for it",
    );
  });
});

it("definitions that the cluster does not have are not spoken of", () => {
  const One = resource({ group: "example.com", version: "v1", kind: "One", spec: z.object({}) });
  expect(storedFindings(new Map([["ones.example.com", One.crd()]]), new Map(), true)).toEqual([]);
});
