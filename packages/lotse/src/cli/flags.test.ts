import { Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { collect, collectNames, readEnvironment, variableOf } from "./flags.ts";

function parsed(argv: string[], env: Record<string, string>) {
  const command = new Command("run")
    .exitOverride()
    .option("-n, --namespace <name>", "", collectNames)
    .option("-m, --module <name>", "", collect)
    .option("-L, --liveness <url>", "")
    .option("-v, --verbose", "")
    .option("--no-console", "")
    .addOption(new Option("--log-format <format>").choices(["pretty", "json"]));
  command.parse(argv, { from: "user" });
  readEnvironment(command, { env });
  return command.opts();
}

describe("the environment", () => {
  it("sets what the command line does not", () => {
    const env = {
      LOTSE_RUN_NAMESPACE: "team-*, !team-x other",
      LOTSE_RUN_MODULE: "a b",
      LOTSE_RUN_LIVENESS: "http://0.0.0.0:8080/healthz",
      LOTSE_RUN_VERBOSE: "yes",
      LOTSE_RUN_CONSOLE: "no",
      LOTSE_RUN_LOG_FORMAT: "json",
    };
    expect(parsed([], env)).toEqual({
      namespace: ["team-*", "!team-x", "other"],
      module: ["a", "b"],
      liveness: "http://0.0.0.0:8080/healthz",
      verbose: true,
      console: false,
      logFormat: "json",
    });
  });

  it("never wins over the command line", () => {
    const env = { LOTSE_RUN_NAMESPACE: "a", LOTSE_RUN_LOG_FORMAT: "json", LOTSE_RUN_CONSOLE: "yes" };
    expect(parsed(["-n", "b", "--log-format", "pretty", "--no-console"], env)).toEqual({
      namespace: ["b"],
      logFormat: "pretty",
      console: false,
    });
  });

  it("turns switches off as well", () => {
    expect(parsed([], { LOTSE_RUN_VERBOSE: "0", LOTSE_RUN_CONSOLE: "1" })).toEqual({ verbose: false, console: true });
  });

  it.each([
    ["LOTSE_RUN_VERBOSE", "perhaps", 'LOTSE_RUN_VERBOSE is "perhaps", which is neither yes nor no.'],
    ["LOTSE_RUN_LOG_FORMAT", "xml", 'LOTSE_RUN_LOG_FORMAT is "xml"; it can be pretty or json.'],
    ["LOTSE_RUN_NAMESPACE", "Not_A_Namespace", '"Not_A_Namespace" is not a namespace\'s name.'],
  ])("is told what is wrong with %s=%s", (name, value, message) => {
    expect(() => parsed([], { [name]: value })).toThrow(message);
  });

  it("is named after command and flag", () => {
    expect(variableOf("run", { long: "--log-format" })).toBe("LOTSE_RUN_LOG_FORMAT");
    expect(variableOf("dev", { long: "--no-console" })).toBe("LOTSE_DEV_CONSOLE");
  });
});
