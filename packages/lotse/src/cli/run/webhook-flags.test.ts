import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Command } from "commander";
import { afterAll, describe, expect, it } from "vitest";
import { readEnvironment, runOptions } from "../flags.ts";
import { Problem } from "../terminal/index.ts";
import { type WebhookFlags, webhooksOf } from "./webhook-flags.ts";

const cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-webhooks-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** What an operator is started with. */
function options(argv: string[], env: Record<string, string> = {}) {
  const command = runOptions(new Command("run").exitOverride());
  command.parse(argv, { from: "user" });
  readEnvironment(command, { env });
  return webhooksOf(command.opts<WebhookFlags>(), { cwd });
}

describe("the flags about webhooks", () => {
  it("say nothing unless they are given: the operator's own settings count", () => {
    expect(options([])).toEqual({});
  });

  it.each([
    [["--webhook-url", "https://192.168.1.10:9443"], { url: "https://192.168.1.10:9443" }],
    [["--webhook-service", "hooks"], { service: { name: "hooks" } }],
    [
      ["--webhook-service", "rates/hooks:8443", "--webhook-port", "0"],
      { service: { namespace: "rates", name: "hooks", port: 8443 }, port: 0 },
    ],
    [["--webhook-host", "::1", "--webhook-port", "9444"], { host: "::1", port: 9444 }],
    [["--certificates", "own"], { certificates: "own" }],
    [["--certificates", "cert-manager", "--no-register"], { certificates: "cert-manager", register: false }],
    [["--certificates", "."], { certificates: { dir: cwd } }],
  ])("%j", (argv, expected) => {
    expect(options(argv)).toEqual(expected);
  });

  it("are variables of a Deployment, too", () => {
    const env = {
      LOTSE_RUN_WEBHOOK_SERVICE: "rates/exchange-rates-webhooks:443",
      LOTSE_RUN_WEBHOOK_HOST: "0.0.0.0",
      LOTSE_RUN_WEBHOOK_PORT: "9443",
      LOTSE_RUN_CERTIFICATES: cwd,
      LOTSE_RUN_REGISTER: "false",
    };
    expect(options([], env)).toEqual({
      service: { namespace: "rates", name: "exchange-rates-webhooks", port: 443 },
      host: "0.0.0.0",
      port: 9443,
      certificates: { dir: cwd },
      register: false,
    });
    expect(options([], { LOTSE_RUN_WEBHOOK_URL: "https://me:1" })).toEqual({ url: "https://me:1" });
  });

  it.each([
    [["--webhook-url", "me:9443"], "--webhook-url me:9443 is no address that an API server calls"],
    [["--webhook-url", "https://me@host"], "--webhook-url https://me@host is no address that an API server calls"],
    [["--webhook-service", "Hooks"], "--webhook-service Hooks is no Service"],
    [["--webhook-service", "a/b/c"], "--webhook-service a/b/c is no Service"],
    [["--webhook-service", "a:70000"], "--webhook-service a:70000 is no Service"],
    [["--webhook-host", "https://me"], "--webhook-host https://me is no address to listen on"],
    [["--webhook-host", "me:9443"], "--webhook-host me:9443 is no address to listen on"],
    [["--certificates", "certmanager"], "--certificates certmanager names no folder"],
    [
      ["--webhook-url", "https://me", "--webhook-service", "hooks"],
      "--webhook-url and --webhook-service exclude each other",
    ],
  ])("%j gets three lines", (argv, what) => {
    const problem = (() => {
      try {
        return options(argv);
      } catch (error) {
        return error;
      }
    })();
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({ message: what, exitCode: 2 });
  });

  it("are wrong with a port that is none", () => {
    expect(() => options(["--webhook-port", "many"])).toThrow("A port is a number from 0 to 65535.");
  });
});
