import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type RunOptions, run } from "../run.ts";
import { kubectlPath } from "./kubectl.ts";

const LOTSE = fileURLToPath(new URL("../../packages/lotse/bin/lotse.js", import.meta.url));

const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: exchangerates.rates.example.com }
spec:
  group: rates.example.com
  scope: Namespaced
  names: { kind: ExchangeRate, plural: exchangerates, singular: exchangerate, listKind: ExchangeRateList, shortNames: [xr] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      additionalPrinterColumns:
        - { name: Currency, type: string, jsonPath: .spec.currency }
        - { name: Rate, type: number, jsonPath: .status.rate }
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [currency]
              properties:
                currency: { type: string, pattern: "^[A-Z]{3}$", description: ISO 4217 code }
                amount: { type: integer, default: 1, minimum: 1 }
            status:
              type: object
              properties:
                rate: { type: number }
`;

const rate = (name: string, currency: string) => `
apiVersion: rates.example.com/v1
kind: ExchangeRate
metadata: { name: ${name} }
spec: { currency: ${currency} }
`;

describe("the real kubectl against lotse cluster", () => {
  let folder: string;
  let server: ChildProcess;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-kubectl-"));
    server = spawn(
      process.execPath,
      [LOTSE, "cluster", "--kubeconfig", path.join(folder, "kubeconfig"), "-o", "json"],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    await new Promise<void>((resolve, reject) => {
      server.stdout?.once("data", () => resolve());
      server.once("exit", (code) => reject(new Error(`lotse cluster ended with ${code}`)));
    });
    await ok(["apply", "-f", "-"], CRD);
    await ok(["wait", "--for=condition=Established", "crd/exchangerates.rates.example.com", "--timeout=10s"]);
  });

  afterAll(async () => {
    server?.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  });

  function kubectl(args: readonly string[], options: RunOptions = {}) {
    const env = {
      ...options.env,
      KUBECONFIG: path.join(folder, "kubeconfig"),
      KUBECACHEDIR: path.join(folder, "cache"),
    };
    return run(kubectlPath(), args, { ...options, env });
  }

  /** Runs kubectl, expects it to succeed, and gives what it printed. */
  async function ok(args: readonly string[], stdin?: string, env?: Record<string, string>): Promise<string> {
    const outcome = await kubectl(args, { ...(stdin !== undefined && { stdin }), ...(env && { env }) });
    expect(outcome, `kubectl ${args.join(" ")}`).toMatchObject({ exitCode: 0 });
    return outcome.stdout;
  }

  it("applies and gets, with the columns of the CRD", async () => {
    expect(await ok(["apply", "-f", "-"], rate("get", "EUR"))).toContain("exchangerate.rates.example.com/get created");
    expect(await ok(["apply", "-f", "-"], rate("get", "EUR"))).toContain("unchanged");
    expect(await ok(["apply", "-f", "-"], rate("get", "USD"))).toContain("configured");
    const [header, row] = (await ok(["get", "xr", "get"])).trim().split("\n");
    expect(header?.split(/\s+/)).toEqual(["NAME", "CURRENCY", "RATE"]);
    expect(row?.split(/\s+/)).toEqual(["get", "USD"]);
    expect(await ok(["get", "exchangerates", "get", "-o", "jsonpath={.spec.amount}"])).toBe("1");
  });

  it("watches", async () => {
    const stop = new AbortController();
    await ok(["apply", "-f", "-"], rate("watch", "EUR"));
    const watching = kubectl(["get", "xr", "watch", "--watch", "--output-watch-events"], { signal: stop.signal });
    // kubectl says nothing about when its watch is open, so the object is changed until the change shows.
    let currency = 0;
    const nudge = setInterval(() => {
      const code = `A${String.fromCharCode(65 + (currency % 26))}${String.fromCharCode(65 + (currency++ % 26))}`;
      void kubectl(["patch", "xr", "watch", "--type=merge", "-p", JSON.stringify({ spec: { currency: code } })]);
    }, 300);
    setTimeout(() => stop.abort(), 3_000);
    const { stdout } = await watching;
    clearInterval(nudge);
    expect(stdout).toContain("EVENT");
    expect(stdout).toMatch(/ADDED\s+watch\s+EUR/);
    expect(stdout).toMatch(/MODIFIED\s+watch\s+A[A-Z]{2}/);
  });

  it("describes", async () => {
    await ok(["apply", "-f", "-"], rate("describe", "JPY"));
    const text = await ok(["describe", "xr", "describe"]);
    expect(text).toMatch(/Name:\s+describe/);
    expect(text).toMatch(/Currency:\s+JPY/);
    expect(text).toMatch(/Events:\s+<none>/);
  });

  it("explains kinds of CRDs and of Kubernetes itself", async () => {
    const own = await ok(["explain", "exchangerate.spec.currency"]);
    expect(own).toContain("ISO 4217 code");
    expect(await ok(["explain", "pod.spec.containers"])).toMatch(/image\s+<string>/);
  });

  it("edits by a script", async () => {
    await ok(["apply", "-f", "-"], rate("edit", "EUR"));
    const editor = path.join(folder, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/currency: EUR/currency: CHF/" "$1"\n', { mode: 0o755 });
    expect(await ok(["edit", "xr", "edit"], undefined, { KUBE_EDITOR: editor })).toContain("edited");
    expect(await ok(["get", "xr", "edit", "-o", "jsonpath={.spec.currency}"])).toBe("CHF");
  });

  it.each([
    ["merge", '{"spec":{"amount":2}}', "2"],
    ["json", '[{"op":"replace","path":"/spec/amount","value":3}]', "3"],
  ])("patches by %s patch", async (type, patch, amount) => {
    await ok(["apply", "-f", "-"], rate(`patch-${type}`, "EUR"));
    await ok(["patch", "xr", `patch-${type}`, `--type=${type}`, "-p", patch]);
    expect(await ok(["get", "xr", `patch-${type}`, "-o", "jsonpath={.spec.amount}"])).toBe(amount);
  });

  it("patches the status apart, and refuses strategic merge patches of custom objects as Kubernetes does", async () => {
    await ok(["apply", "-f", "-"], rate("status", "EUR"));
    await ok(["patch", "xr", "status", "--subresource=status", "--type=merge", "-p", '{"status":{"rate":1.5}}']);
    expect(await ok(["get", "xr", "status"])).toMatch(/status\s+EUR\s+1\.5/);
    const refused = await kubectl(["patch", "xr", "status", "--type=strategic", "-p", '{"spec":{"amount":2}}']);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stderr).toContain("strategic-merge-patch+json is not supported");
  });

  it("waits for a value", async () => {
    await ok(["apply", "-f", "-"], rate("wait", "EUR"));
    const waiting = ok(["wait", "--for=jsonpath={.status.rate}=2", "xr/wait", "--timeout=20s"]);
    await ok(["patch", "xr", "wait", "--subresource=status", "--type=merge", "-p", '{"status":{"rate":2}}']);
    expect(await waiting).toContain("condition met");
  });

  it("shows what is wrong with an object that the schema refuses", async () => {
    const wrong = await kubectl(["apply", "-f", "-"], { stdin: rate("wrong", "euro") });
    expect(wrong).toMatchObject({ exitCode: 1 });
    expect(wrong.stderr).toContain(
      `The ExchangeRate "wrong" is invalid: spec.currency: Invalid value: "euro": spec.currency in body should match '^[A-Z]{3}$'`,
    );
    const unknown = await kubectl(["apply", "-f", "-"], {
      stdin: rate("wrong", "EUR").replace("spec: {", "spec: { colour: red,"),
    });
    expect(unknown.stderr).toContain('unknown field "spec.colour"');
  });

  it("works with kinds of Kubernetes itself: protobuf bodies, strategic merge and server-side apply", async () => {
    expect(await ok(["create", "configmap", "cm", "--from-literal=a=1"])).toContain("configmap/cm created");
    await ok(["patch", "configmap", "cm", "-p", '{"data":{"b":"2"}}']);
    expect(await ok(["get", "configmap", "cm", "-o", "jsonpath={.data}"])).toBe('{"a":"1","b":"2"}');
    const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied }\ndata: { x: why }\n";
    expect(await ok(["apply", "--server-side", "-f", "-"], manifest)).toContain("serverside-applied");
    expect(await ok(["label", "configmap", "applied", "tier=front"])).toContain("labeled");
    expect(await ok(["get", "configmap", "-l", "tier=front", "-o", "name"])).toBe("configmap/applied\n");
    expect(await ok(["create", "namespace", "elsewhere"])).toContain("created");
    expect(await ok(["get", "ns", "elsewhere"])).toMatch(/elsewhere\s+Active/);
    expect(await ok(["delete", "ns", "elsewhere"])).toContain("deleted");
  });

  it("deletes objects, and with the CRD all that are left", async () => {
    await ok(["apply", "-f", "-"], rate("delete", "EUR"));
    expect(await ok(["delete", "xr", "delete"])).toContain("deleted");
    expect((await kubectl(["get", "xr", "delete"])).stderr).toContain(
      'exchangerates.rates.example.com "delete" not found',
    );
    await ok(["delete", "crd", "exchangerates.rates.example.com"]);
    // kubectl remembers kinds for hours; the server's own list does not.
    await vi.waitFor(
      async () => expect(await ok(["get", "--raw", "/apis"])).not.toContain("rates.example.com"),
      10_000,
    );
    expect((await kubectl(["get", "xr"])).exitCode).toBe(1);
  });
});
