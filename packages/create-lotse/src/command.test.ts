import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "./command.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "create-lotse-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test("a project is created, and the next commands are told", async () => {
  const result = await runCommand(["rates"], { folder });
  expect(result).toEqual({
    exitCode: 0,
    stdout: "Created 8 files in rates. Next:\n\n  cd rates\n  npm install\n  npm run dev\n",
    stderr: "",
  });
  expect(JSON.parse(await readFile(path.join(folder, "rates", "package.json"), "utf8")).name).toBe("rates");
  expect(await readdir(path.join(folder, "rates"))).toContain(".gitignore");
});

test("the current folder will do, with a name of its own", async () => {
  const result = await runCommand([".", "--name", "rates"], { folder });
  expect(result.stdout).toBe("Created 8 files in this folder. Next:\n\n  npm install\n  npm run dev\n");
  expect(await readFile(path.join(folder, "operator.ts"), "utf8")).toContain('"rates"');
});

test("a folder with blanks is quoted for the shell", async () => {
  const result = await runCommand(["my rates", "--name", "rates"], { folder });
  expect(result.stdout).toContain("cd 'my rates'\n");
});

test("a folder that is not empty stays as it is", async () => {
  await mkdir(path.join(folder, "rates"));
  await writeFile(path.join(folder, "rates", "operator.ts"), "mine");
  const result = await runCommand(["rates"], { folder });
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain("is not empty: it has operator.ts");
  expect(result.stderr).toContain("--force");
  expect(await readdir(path.join(folder, "rates"))).toEqual(["operator.ts"]);
});

test("--force overwrites files of the same names and keeps the others", async () => {
  await mkdir(path.join(folder, "rates"));
  await writeFile(path.join(folder, "rates", "operator.ts"), "mine");
  await writeFile(path.join(folder, "rates", "notes.txt"), "mine too");
  expect((await runCommand(["rates", "--force"], { folder })).exitCode).toBe(0);
  expect(await readFile(path.join(folder, "rates", "operator.ts"), "utf8")).toContain("new Operator");
  expect(await readFile(path.join(folder, "rates", "notes.txt"), "utf8")).toBe("mine too");
});

test("a file where the folder should be is told", async () => {
  await writeFile(path.join(folder, "rates"), "a file");
  expect((await runCommand(["rates"], { folder })).stderr).toContain("is a file");
});

test("a wrong name creates nothing", async () => {
  const result = await runCommand(["My_Rates"], { folder });
  expect(result).toMatchObject({ exitCode: 1, stdout: "" });
  expect(result.stderr).toContain('"My_Rates" is not a name');
  expect(result.stderr).toContain("--name my-rates");
  expect(await readdir(folder)).toEqual([]);
});

test("wrong usage is told with exit code 2", async () => {
  expect(await runCommand(["--colour"], { folder })).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: "create-lotse: Unknown option '--colour'\n  see create-lotse --help\n",
  });
  expect((await runCommand(["a", "b"], { folder })).exitCode).toBe(2);
  expect(await readdir(folder)).toEqual([]);
});

test("--help shows an example and creates nothing", async () => {
  const { exitCode, stdout } = await runCommand(["--help"], { folder });
  expect(exitCode).toBe(0);
  expect(stdout).toContain("npm create lotse exchange-rates");
  expect(await readdir(folder)).toEqual([]);
});
