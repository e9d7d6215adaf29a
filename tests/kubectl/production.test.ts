/**
 * The commands of docs/production.md, followed in their order with the real kubectl. The pods of the deployed operator are
 * processes here, with the environment that the Deployment gives them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { run, startCluster, type TestCluster } from "../fixture.ts";
import { kubectlPath } from "./kubectl.ts";
import { type Command, isAsShown, masked, readReadme } from "./readme-blocks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE = path.join(root, "examples/exchange-rates");
const { commands } = readReadme(readFileSync(path.join(root, "docs/production.md"), "utf8"));
const PATIENCE = { timeout: 120_000, interval: 200 };

let cluster: TestCluster;
let folder: string;
let env: Record<string, string>;
const processes: Replica[] = [];

beforeAll(async () => {
  cluster = await startCluster("embedded");
  folder = mkdtempSync(path.join(os.tmpdir(), "lotse-production-"));
  symlinkSync(kubectlPath(), path.join(folder, "kubectl"));
  env = {
    PATH: `${folder}${path.delimiter}${process.env.PATH ?? ""}`,
    KUBECONFIG: cluster.kubeconfigPath,
    KUBECACHEDIR: path.join(folder, "cache"),
    LOTSE_RECORD: "off",
    NO_COLOR: "1",
  };
});

afterAll(async () => {
  await Promise.all(processes.map((one) => one.end("SIGKILL")));
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A command that goes on until it is ended, with all that is below it. */
class Replica {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  text = "";

  constructor(command: string, more: Readonly<Record<string, string>> = {}) {
    this.#child = spawn("sh", ["-c", command], {
      cwd: EXAMPLE,
      env: { ...process.env, ...env, ...more },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.text += text;
      });
    }
    this.#closed = new Promise((resolve) => this.#child.once("close", resolve));
    processes.push(this);
  }

  says(text: string): Promise<void> {
    return vi.waitFor(() => expect(this.text).toContain(text), PATIENCE);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    try {
      process.kill(-(this.#child.pid ?? 0), signal);
    } catch {
      // It has ended by itself.
    }
    await this.#closed;
  }
}

/** As the page shows it, whoever does it, and whichever process it is. */
function plain(text: string): string {
  return text
    .replaceAll(/\b[\w.-]+@[\w.-]+(?:\/\d+)?/g, "USER")
    .replaceAll(/exchange-rates-\w+-\w+_[0-9a-f]{8}/g, "POD")
    .replaceAll(/ +/g, " ");
}

async function follow({ command, output }: Command): Promise<void> {
  const attempt = async () => {
    const { stdout, stderr, exitCode } = await run("sh", ["-c", command], { cwd: EXAMPLE, env });
    expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }, command).toEqual({ exitCode: 0, stderr: "" });
    if (output.trim() === "") return;
    const [shown, printed] = [plain(output), plain(stdout)];
    if (!isAsShown(shown, printed)) expect(masked(printed), command).toBe(masked(shown));
  };
  await (command.startsWith("kubectl get ") ? vi.waitFor(attempt, PATIENCE) : attempt());
}

/** What the Deployment of the page starts. */
async function startReplicas(): Promise<void> {
  for (const name of ["k2x8p", "bbbbb"]) {
    const replica = new Replica("npx lotse run operator.ts --yes", {
      POD_NAME: `exchange-rates-7d4b9-${name}`,
      POD_NAMESPACE: "rates",
      LOTSE_RUN_COORDINATION: "leader",
      LOTSE_RUN_LIVENESS: "",
    });
    await replica.says("the operator is ready");
  }
}

/** Commands that need something before them, or are ended by hand. */
const STEPS: readonly (readonly [RegExp, (step: Command) => Promise<void>])[] = [
  [
    /^npx lotse generate deploy .*--replicas 2/,
    async (step) => {
      await follow(step);
      await startReplicas();
    },
  ],
  [
    /^npx lotse run operator\.ts --dev$/,
    async ({ command, output }) => {
      const developer = new Replica(command);
      // Without a terminal the log is JSON.
      for (const [, message = ""] of output.matchAll(/ INFO {2}(.*?) \w+=/g)) await developer.says(`"${message}"`);
      await developer.end("SIGINT");
      await vi.waitFor(() => expect(processes[0]?.text).toContain("the pause is over"), PATIENCE);
    },
  ],
  [
    /^npx lotse freeze --peering default/,
    async (step) => {
      const kinds = path.join(root, "examples/kopf/peering-kinds.yaml");
      await follow({ command: `kubectl apply -f ${kinds}`, output: "" });
      await follow({
        command: "kubectl wait --for=condition=Established crd/clusterkopfpeerings.kopf.dev",
        output: "",
      });
      const peering = { apiVersion: "kopf.dev/v1", kind: "ClusterKopfPeering", metadata: { name: "default" } };
      await follow({ command: `echo '${JSON.stringify(peering)}' | kubectl apply -f -`, output: "" });
      await follow(step);
    },
  ],
  [
    /--shadow --until-quiet 5m$/,
    async ({ command, output }) => {
      const { stdout, exitCode } = await run("sh", ["-c", command.replace("5m", "3s --yes")], { cwd: EXAMPLE, env });
      expect({ exitCode, stdout }, command).toMatchObject({ exitCode: 0 });
      expect(stdout.split("\n")).toEqual(expect.arrayContaining(output.trim().split("\n").slice(1)));
    },
  ],
  // Its new version is another program: tests/scenarios/shadow plants differences in all examples.
  [/--shadow --until-quiet 10s --yes$|--shadow --explain|\/shadow |^echo /, async () => {}],
];

it("docs/production.md shows what its commands print", { timeout: 600_000 }, async () => {
  expect(commands.length).toBeGreaterThan(6);
  for (const step of commands) {
    const [, special] = STEPS.find(([pattern]) => pattern.test(step.command)) ?? [];
    await (special ?? follow)(step);
  }
});
