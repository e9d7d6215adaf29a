/**
 * docs/cli.md shows what the commands print. After a line `<!-- prints lotse … -->` comes a block with what that command
 * prints, after `<!-- shows FILE -->` one with the file's text. `npx vitest run page.test -u` writes them anew.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { main } from "./main.ts";
import { programOf } from "./program.ts";
import { testIo } from "./terminal/test-io.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../..");
const DOCS = path.join(ROOT, "docs");
const PAGE = path.join(DOCS, "cli.md");

const operator = (spec: string) => `
import { Operator, resource } from "lotse";
import { z } from "zod";
export const ExchangeRate = resource({
  group: "rates.example.com", version: "v1", kind: "ExchangeRate", shortNames: ["xr"],
  spec: z.object(${spec}),
});
const operator = new Operator({ name: "exchange-rates" });
operator.on.create(ExchangeRate, function publishRate() {});
export default operator;
`;

/** The project in which the commands of the page are called. */
const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "type": "module" }',
  "operator.js": operator("{ currency: z.string().max(3), amount: z.number(), note: z.string().optional() }"),
  "released.js": operator("{ currency: z.string(), comment: z.string().optional() }"),
};

let cwd: string;

beforeAll(() => {
  // In the repository, where the packages are found.
  mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
  cwd = mkdtempSync(path.join(ROOT, ".lotse", "page-"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(cwd, name), text);
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function printed(command: string): Promise<string> {
  const io = testIo({ cwd, env: { HOME: cwd } });
  const [, ...argv] = command.split(" ");
  const code = await main(argv, io);
  const text = (io.out() + io.err()).replaceAll(cwd, "/home/me/rates").trimEnd();
  return `$ ${command}\n${text}${code === 0 || argv.includes("--help") ? "" : `\n$ echo $?\n${code}`}\n`;
}

/** Each marked block with what it should be. */
async function refreshed(page: string): Promise<string> {
  const marked = /^(<!-- (prints|shows) (.+) -->\n)```\w+\n[\s\S]*?^```$/gm;
  const parts: string[] = [];
  let end = 0;
  for (const match of page.matchAll(marked)) {
    const [whole, head = "", verb, what = ""] = match;
    const text = verb === "prints" ? await printed(what) : readFileSync(path.join(DOCS, what), "utf8");
    parts.push(page.slice(end, match.index), `${head}\`\`\`console\n${text}\`\`\``);
    end = match.index + whole.length;
  }
  return [...parts, page.slice(end)].join("");
}

it("the page of the commands shows what they print", async () => {
  await expect(await refreshed(readFileSync(PAGE, "utf8"))).toMatchFileSnapshot(PAGE);
}, 300_000);

it("the page has the help of every command", () => {
  const page = readFileSync(PAGE, "utf8");
  const commands = programOf(testIo(), () => {}).commands.map((command) => `lotse ${command.name()}`);
  for (const name of ["lotse", ...commands]) expect(page).toContain(`<!-- prints ${name} --help -->`);
});
