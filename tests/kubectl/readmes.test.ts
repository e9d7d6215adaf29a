/** The READMEs of the examples, followed to the letter: `lotse dev` as a real process, the commands with the real kubectl. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type Command, fails, isAsShown, manner, masked, readReadme } from "./readme-blocks.ts";
import { ReadmeSession, root } from "./readme-session.ts";

const EXAMPLES = [
  "berths",
  "dns",
  "exchange-rates",
  "load-test",
  "onboarding",
  "os-labels",
  "postgres",
  "simple-deployment",
  "switches",
  "useless-machine",
] as const;

const PATIENCE = { timeout: 60_000, interval: 200 };

async function follow(session: ReadmeSession, step: Command): Promise<void> {
  const attempt = async () => {
    const { stdout, stderr, exitCode } = await session.shell(step.command);
    const printed = stdout + stderr;
    expect({ printed, failed: exitCode !== 0 }, step.command).toMatchObject({ failed: fails(step) });
    // A terminal shows warnings where they came: before what they warn of.
    const asShown = [printed, stderr + stdout].some((text) => isAsShown(step.output, text));
    if (step.output === "" || asShown) return;
    expect(masked(printed), `what \`${step.command}\` prints`).toBe(masked(step.output));
  };
  await (manner(step) === "polled" ? vi.waitFor(attempt, PATIENCE) : attempt());
}

describe.each(EXAMPLES)("the README of %s", (name) => {
  const markdown = readFileSync(path.join(root, "examples", name, "README.md"), "utf8");
  const { commands, log } = readReadme(markdown);

  it("begins with two commands: one that starts the operator, and one that gives it something to do", () => {
    const [block = ""] = /^```[\s\S]*?^```$/m.exec(markdown) ?? [];
    const { commands: first } = readReadme(block);
    expect(first.map(({ command }) => command.split(" ").slice(0, 3).join(" "))).toEqual([
      "npx lotse dev",
      "kubectl apply -f",
    ]);
    expect(markdown.indexOf(block)).toBeLessThan(300);
  });

  it("shows what happens", { timeout: 180_000 }, async () => {
    const [dev, ...steps] = commands;
    await using session = await ReadmeSession.open(dev?.command ?? "");
    for (const step of steps) await follow(session, step);
    const missing = () => log.filter((line) => !session.text.split("\n").some((one) => isAsShown(line, one)));
    await vi.waitFor(() => expect(missing(), `the log:\n${session.text}`).toEqual([]), PATIENCE);
    await session.close();
    expect(session.text).toMatch(/ the operator has stopped operator=\S+\n$/);
  });
});

describe("a README's blocks", () => {
  it("are commands with what they print, and lines of the log", () => {
    const text = "# T\n```console\n$ a \\\n  b\nx\ny\n$ c\n```\ntext\n```log\nl\n```\n```yaml\n$ no\n```\n";
    expect(readReadme(text)).toEqual({
      commands: [
        { command: "a   b", output: "x\ny\n" },
        { command: "c", output: "" },
      ],
      log: ["l"],
    });
  });

  it.each([
    ["NAME  AGE\na  3s\n", "NAME   AGE\na      4m12s\n", true],
    ["euro-x7k2p  2  3s", "euro-bcd24   2      12s", true],
    ["shop 1.2 ms 4 ms", "shop 12.4 ms 0.3 ms", true],
    ["12:00:00.000 INFO  done took=3ms", "07:12:33.123 INFO  done took=1s", true],
    ["a …, b", "a 1, 2, b", true],
    ["desk-00 down", "desk-01 down", false],
    ["euro 0.92 3s", "euro 0.93 3s", false],
    ["a 3s", "a 3", false],
  ])("%j and %j are the same: %s", (shown, printed, same) => {
    expect(isAsShown(shown, printed)).toBe(same);
  });

  it("are run again only when that changes nothing", () => {
    const of = (command: string) => manner({ command, output: "" });
    expect(of("kubectl get pods")).toBe("polled");
    expect(of("kubectl apply -f a.yaml")).toBe("once");
    expect(of("kubectl get pods -o name | xargs kubectl delete")).toBe("once");
  });
});
