import { expect, it } from "vitest";
import type { ClusterOptions } from "./cluster.ts";
import { readPlainCluster } from "./plain-cluster.ts";
import { programOf } from "./program.ts";
import { testIo } from "./terminal/test-io.ts";

/** What the parser of all commands makes of a line. */
async function parsed(argv: readonly string[]): Promise<ClusterOptions> {
  const program = programOf(testIo(), () => {});
  const command = program.commands.find((one) => one.name() === "cluster");
  let options: ClusterOptions | undefined;
  command?.action((given: ClusterOptions) => {
    options = given;
  });
  await program.parseAsync(argv as string[], { from: "user" });
  return options as ClusterOptions;
}

it.each([
  [[]],
  [["--port", "6443"]],
  [["--port", "0", "--port", "65535"]],
  [["--kubeconfig", "a b/c", "--plain-http"]],
  [["--data", ".lotse/data", "-o", "json", "-v"]],
  [["--output", "json", "--kubelet", "off", "--verbose"]],
  [["--kubelet", "process", "--rbac"]],
  [["--envtest", ".lotse/envtest"]],
])("reads %j as the parser does", async (words) => {
  const argv = ["cluster", ...words];
  expect(readPlainCluster(argv, {})).toEqual(await parsed(argv));
});

it.each([
  ["another command", ["dev", "operator.ts"]],
  ["no command", []],
  ["a flag before the command", ["-V", "cluster"]],
  ["help", ["cluster", "--help"]],
  ["an argument", ["cluster", "now"]],
  ["an unknown flag", ["cluster", "--toString", "x"]],
  ["a joined value", ["cluster", "--port=6443"]],
  ["joined letters", ["cluster", "-vo", "json"]],
  ["a port that is none", ["cluster", "--port", "many"]],
  ["a port that is too large", ["cluster", "--port", "65536"]],
  ["a format that does not exist", ["cluster", "-o", "xml"]],
  ["a kubelet that does not exist", ["cluster", "--kubelet", "docker"]],
  ["a missing value", ["cluster", "--kubeconfig"]],
  ["a value like a flag", ["cluster", "--kubeconfig", "--data"]],
  ["an empty value", ["cluster", "--data", ""]],
])("leaves %s to the parser", (_what, argv) => {
  expect(readPlainCluster(argv, {})).toBeUndefined();
});

it("leaves options of the environment to the parser", () => {
  expect(readPlainCluster(["cluster"], { LOTSE_CLUSTER_PORT: "1" })).toBeUndefined();
  expect(readPlainCluster(["cluster"], { LOTSE_RUN_NAMESPACE: "a" })).toEqual({});
});
