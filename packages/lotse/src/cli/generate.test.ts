import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { loadAll } from "js-yaml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "./main.ts";
import { testIo } from "./test-io.ts";

const EXAMPLE = path.resolve(import.meta.dirname, "../../../../examples/exchange-rates/operator.ts");

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-generate-"));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function call(...argv: string[]) {
  const io = testIo({ cwd });
  const code = await main(["generate", ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly spec?: Record<string, unknown>;
}

const manifests = (text: string) => loadAll(text) as Manifest[];

describe("lotse generate", () => {
  it("makes the definitions of an operator's kinds", async () => {
    const { code, out, err } = await call("crd", EXAMPLE);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(manifests(out)).toMatchObject([
      { kind: "CustomResourceDefinition", metadata: { name: "exchangerates.rates.example.com" } },
    ]);
  });

  it("gives the framework what it needs, each rule with who needs it, and handlers what they were seen to do", async () => {
    const recording = [
      {
        handler: "publishRate",
        method: "POST",
        path: "/api/v1/namespaces/a/configmaps",
        watch: false,
        websocket: false,
      },
      {
        handler: "publishRate",
        method: "GET",
        path: "/api/v1/namespaces/a/configmaps",
        watch: false,
        websocket: false,
      },
    ];
    writeFileSync(path.join(cwd, "seen.jsonl"), recording.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const { out } = await call("rbac", EXAMPLE, "--from", "seen.jsonl", "-n", "rates");
    expect(out).toContain("  # the framework: follows ExchangeRate\n");
    expect(out).toContain("  # handler publishRate\n");
    const [account, role, binding] = manifests(out);
    expect(account).toMatchObject({ kind: "ServiceAccount", metadata: { name: "exchange-rates", namespace: "rates" } });
    expect(binding).toMatchObject({ kind: "ClusterRoleBinding" });
    const rights = role?.rules?.flatMap(({ resources, verbs }) => resources.map((one) => `${one}: ${verbs.join(" ")}`));
    expect(rights).toEqual([
      "configmaps: create list",
      "events: create patch",
      "customresourcedefinitions: get list patch watch",
      "customresourcedefinitions: create",
      "exchangerates: get list patch watch",
      "exchangerates/status: patch",
    ]);
  });

  it("keeps rights to the namespaces that are served", async () => {
    const { out } = await call("rbac", EXAMPLE, "--serve", "a", "--serve", "b");
    const roles = manifests(out).filter(({ kind }) => kind === "Role");
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(["a", "b"]);
    const cluster = manifests(out).find(({ kind }) => kind === "ClusterRole");
    expect(cluster?.rules?.flatMap(({ resources }) => resources)).toEqual([
      "customresourcedefinitions",
      "customresourcedefinitions",
    ]);
  });

  it("makes everything for a cluster in one file, the same each time", async () => {
    const argv = ["deploy", EXAMPLE, "--image", "example.com/rates:1", "-o", "out"];
    const { code, out } = await call(...argv);
    expect({ code, out }).toEqual({ code: 0, out: `${path.join("out", "deploy.yaml")}\n` });
    const file = path.join(cwd, "out", "deploy.yaml");
    const first = readFileSync(file, "utf8");
    await call(...argv);
    expect(readFileSync(file, "utf8")).toBe(first);
    expect(readdirSync(path.join(cwd, "out"))).toEqual(["deploy.yaml"]);
    expect(manifests(first).map(({ kind }) => kind)).toEqual([
      "CustomResourceDefinition",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Deployment",
    ]);
  });

  it("makes a Dockerfile", async () => {
    const { out } = await call("dockerfile", EXAMPLE);
    expect(out).toMatch(/^FROM node:22-alpine AS build$/m);
    expect(out).toContain("distroless");
    expect(out).toContain("operator.ts");
  });

  it.each([
    ["nothing", [], "missing required argument 'product'", 2],
    ["no file", ["crd"], "no file given", 2],
    ["another product", ["cake", EXAMPLE], 'nobody can generate "cake"', 2],
    ["a recording that is not there", ["rbac", EXAMPLE, "--from", "nobody"], "the recording nobody cannot be read", 1],
  ])("says what is wrong with %s", async (_what, argv, message, exitCode) => {
    const { code, out, err } = await call(...argv);
    expect({ code, out }).toEqual({ code: exitCode, out: "" });
    expect(err).toContain(message);
  });

  it("says that an operator of built-in kinds has no definitions", async () => {
    const file = path.resolve(import.meta.dirname, "../../../../examples/os-labels/operator.ts");
    expect(await call("crd", file)).toMatchObject({ code: 1, err: expect.stringContaining("there is no crd to make") });
  });
});
