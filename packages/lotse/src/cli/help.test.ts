/** Every help fits on a screen, and shows how it is done. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { programOf } from "./program.ts";
import { testIo } from "./terminal/test-io.ts";

const [COLUMNS, ROWS] = [80, 24];

/** All commands with the words that call them, and the text of their help. */
function helps(): { name: string; text: string }[] {
  const program = programOf(testIo(), () => {});
  const all = (command: Command, path: string): { name: string; text: string }[] => [
    { name: path, text: command.helpInformation() + afterHelp(command) },
    ...command.commands.flatMap((one) => all(one, `${path} ${one.name()}`)),
  ];
  return all(program, "lotse");
}

/** What stands below the options: only printed, never returned. */
function afterHelp(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text.slice(command.helpInformation().length);
}

describe.each(helps())("$name --help", ({ name, text }) => {
  const lines = text.trimEnd().split("\n");

  it(`fits into ${COLUMNS} columns`, () => {
    expect(lines.filter((line) => line.length > COLUMNS)).toEqual([]);
  });

  it(`fits into ${ROWS} rows`, () => {
    expect(lines.length, text).toBeLessThanOrEqual(ROWS);
  });

  it("shows an example of this very command", () => {
    const [, shown = ""] = text.split("\nExamples:\n");
    expect(shown).toMatch(new RegExp(`^  \\$ (?:.*[^a-z])?${name}\\b`));
  });

  it("says what each option does", () => {
    const options = text.split("\nOptions:\n")[1]?.split("\n\n")[0] ?? "";
    for (const line of options.split("\n")) expect(line).toMatch(/^ {2}-.*? {2,}\S/);
  });
});

it("tells the exit codes", () => {
  expect(helps()[0]?.text).toContain("Exit codes: 0 done, 1 failed, 2 wrong usage.");
});
