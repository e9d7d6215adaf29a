import { execFile, spawn as spawnLocally } from "node:child_process";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { failure } from "../test-failure.ts";
import { copyFrom, copyTo } from "./copy.ts";
import { CopyError } from "./errors.ts";
import { exec } from "./exec.ts";
import { CopyTally, packTree, staysInside, unpackTree } from "./folders.ts";
import { ARCHIVE_END, packHeader, padding, readTar, type TarEntry } from "./tar.ts";
import { type Session, TestKubelet } from "./test-kubelet.ts";

const run = promisify(execFile);

async function tempFolder(): Promise<string> {
  const folder = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), "lotse-copy-")));
  onTestFinished(() => fs.rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The commands of the container are those of this machine. */
function runCommand(session: Session): void {
  const [command = "", ...words] = session.command;
  const child = spawnLocally(command, words);
  child.stdin.on("error", () => undefined);
  session.onInput = (data) => void child.stdin.write(data);
  void session.input.then(() => child.stdin.end());
  child.stdout.on("data", (data: Buffer) => void session.out(data));
  child.stderr.on("data", (data: Buffer) => void session.err(data));
  child.on("error", (error) => session.status({ status: "Failure", reason: "InternalError", message: error.message }));
  child.on("close", (code) => session.exit(code ?? 1));
}

/** Every path below a folder with its mode and content. */
async function snapshot(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const inside of (await fs.readdir(folder, { recursive: true })).sort()) {
    const full = path.join(folder, inside);
    const stat = await fs.lstat(full);
    const mode = (stat.mode & 0o777).toString(8);
    if (stat.isSymbolicLink()) found[inside] = `-> ${await fs.readlink(full)}`;
    else if (stat.isDirectory()) found[inside] = `${mode}/`;
    else found[inside] = `${mode} ${(await fs.readFile(full)).toString("base64").slice(0, 40)} ${stat.size}`;
  }
  return found;
}

/** Files and folders of all sorts. */
async function makeTree(folder: string): Promise<void> {
  const long = "n".repeat(60);
  await fs.mkdir(path.join(folder, "deep", long, long), { recursive: true });
  await fs.writeFile(path.join(folder, "deep", long, long, "grüße.txt"), "hello");
  await fs.writeFile(path.join(folder, "empty"), "");
  await fs.writeFile(path.join(folder, "run.sh"), "#!/bin/sh\n");
  await fs.chmod(path.join(folder, "run.sh"), 0o750);
  await fs.writeFile(path.join(folder, "-rf"), "a name that looks like an option");
  await fs.writeFile(path.join(folder, "big"), Buffer.alloc(700_001, "block"));
  await fs.symlink("../run.sh", path.join(folder, "deep", "link"));
  await fs.mkdir(path.join(folder, "closed"), { mode: 0o755 });
  await fs.writeFile(path.join(folder, "closed", "inside"), "x");
  await fs.chmod(path.join(folder, "closed"), 0o555);
  onTestFinished(() => fs.chmod(path.join(folder, "closed"), 0o755).catch(() => undefined));
}

describe("copying", () => {
  it("brings a folder with all its files, modes and links there and back", async () => {
    const kubelet = await TestKubelet.start({ exec: runCommand });
    const [here, there] = [await tempFolder(), await tempFolder()];
    const source = path.join(here, "site");
    await fs.mkdir(source);
    await makeTree(source);
    const sent = await copyTo(kubelet.pod, source, `${there}/`);
    expect(await snapshot(path.join(there, "site"))).toEqual(await snapshot(source));
    expect(sent).toMatchObject({ files: 6, skipped: [] });
    const back = await copyFrom(kubelet.pod, path.join(there, "site"), path.join(here, "back"));
    expect(await snapshot(path.join(here, "back"))).toEqual(await snapshot(source));
    expect(back).toMatchObject({ files: sent.files, bytes: sent.bytes });
    for (const folder of [path.join(there, "site"), path.join(here, "back")])
      await fs.chmod(path.join(folder, "closed"), 0o755);
  });

  it("names things as cp does, both ways", async () => {
    const kubelet = await TestKubelet.start({ exec: runCommand });
    const [here, there] = [await tempFolder(), await tempFolder()];
    const file = path.join(here, "app.json");
    await fs.writeFile(file, "{}");
    await copyTo(kubelet.pod, pathToFileURL(file), path.join(there, "renamed.json"));
    await copyTo(kubelet.pod, file, there);
    expect(await fs.readdir(there)).toEqual(["app.json", "renamed.json"]);
    await copyFrom(kubelet.pod, path.join(there, "app.json"), path.join(here, "new", "name.json"));
    await copyFrom(kubelet.pod, path.join(there, "app.json"), path.join(here, "folder/"));
    await copyFrom(kubelet.pod, `${there}/renamed.json`, here);
    await copyFrom(kubelet.pod, `${there}/`, path.join(here, "all"));
    expect(Object.keys(await snapshot(here))).toEqual([
      "all",
      "all/app.json",
      "all/renamed.json",
      "app.json",
      "folder",
      "folder/app.json",
      "new",
      "new/name.json",
      "renamed.json",
    ]);
  });

  it("follows a link that is named itself", async () => {
    const kubelet = await TestKubelet.start({ exec: runCommand });
    const [here, there] = [await tempFolder(), await tempFolder()];
    await fs.mkdir(path.join(there, "usr"));
    await fs.mkdir(path.join(there, "etc"));
    await fs.writeFile(path.join(there, "usr/os-release"), "NAME=x");
    await fs.symlink("../usr/os-release", path.join(there, "etc/os-release"));
    await copyFrom(kubelet.pod, path.join(there, "etc/os-release"), here);
    expect(await fs.readFile(path.join(here, "os-release"), "utf8")).toBe("NAME=x");
  });

  it("refuses links out of what is copied, or leaves them out", async () => {
    const kubelet = await TestKubelet.start({ exec: runCommand });
    const [here, there] = [await tempFolder(), await tempFolder()];
    const source = path.join(here, "data");
    await fs.mkdir(source);
    await fs.symlink("/etc/passwd", path.join(source, "secret"));
    await fs.writeFile(path.join(source, "z"), "z");
    for (const copy of [
      (o?: object) => copyTo(kubelet.pod, source, `${there}/`, o),
      (o?: object) => copyFrom(kubelet.pod, source, path.join(here, o ? "back" : "refused"), o),
    ]) {
      const error = await failure(copy());
      expect(error).toBeInstanceOf(CopyError);
      expect(error).toMatchObject({
        message: "secret is a link to /etc/passwd, outside of what is copied",
        hint: expect.stringContaining("skip"),
      });
      expect(await copy({ outside: "skip" })).toMatchObject({ files: 1, skipped: ["secret"] });
    }
    expect(await fs.readdir(path.join(there, "data"))).toEqual(["z"]);
    expect(await fs.readdir(path.join(here, "back"))).toEqual(["z"]);
  });

  it("tells what tar says, and what is missing", async () => {
    const kubelet = await TestKubelet.start({ exec: runCommand });
    const here = await tempFolder();
    const missing = path.join(here, "nothing");
    expect(await failure(copyFrom(kubelet.pod, missing, path.join(here, "x")))).toMatchObject({
      code: "LOTSE_COPY",
      message: expect.stringMatching(/tar ended with code 2: .*No such file/s),
    });
    await fs.writeFile(path.join(here, "file"), "x");
    expect(await failure(copyTo(kubelet.pod, path.join(here, "file"), path.join(missing, "x")))).toMatchObject({
      message: expect.stringMatching(/tar ended with code 2: .*No such file/s),
    });
    expect(await failure(copyTo(kubelet.pod, missing, "/tmp/x"))).toMatchObject({ hint: "check the local path" });
    const bare = await TestKubelet.start({
      exec: (session) =>
        session.status({ status: "Failure", reason: "InternalError", message: 'exec: "tar": not found' }),
    });
    for (const copy of [() => copyTo(bare.pod, here, "/x"), () => copyFrom(bare.pod, "/x", path.join(here, "y"))]) {
      expect(await failure(copy())).toMatchObject({
        code: "LOTSE_COPY",
        hint: expect.stringContaining("needs `tar`"),
      });
    }
  });

  it("into a container is refused by a server that cannot be told where it ends", async () => {
    const kubelet = await TestKubelet.start({ exec: runCommand, protocols: ["v4.channel.k8s.io"] });
    const here = await tempFolder();
    expect(await failure(copyTo(kubelet.pod, here, "/tmp/"))).toMatchObject({ hint: expect.stringContaining("1.30") });
  });

  it("ends when its signal aborts", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const kubelet = await TestKubelet.start({ exec: () => controller.abort(reason) });
    const copying = copyFrom(kubelet.pod, "/x", await tempFolder(), { signal: controller.signal });
    expect(await failure(copying)).toBe(reason);
  });
});

it("a real cat ends with the input that exec gives it", async () => {
  const kubelet = await TestKubelet.start({ exec: runCommand });
  expect((await exec(kubelet.pod, ["cat"], { stdin: "all of it" })).stdout).toBe("all of it");
  expect(await exec(kubelet.pod, ["sh", "-c", "echo no >&2; exit 7"], { check: false })).toMatchObject({
    exitCode: 7,
    stderr: "no\n",
  });
});

describe("an archive", () => {
  const member = (entry: Partial<TarEntry> & Pick<TarEntry, "path">, content = ""): Buffer => {
    const whole = { type: "file" as const, mode: 0o644, link: "", ...entry, size: Buffer.byteLength(content) };
    return Buffer.concat([packHeader(whole as never), Buffer.from(content), padding(whole.size)]);
  };
  const archive = (...members: Buffer[]) => Readable.from([Buffer.concat([...members, ARCHIVE_END])]);
  const unpack = (folder: string, members: Buffer[], rule: "refuse" | "skip" = "refuse") =>
    unpackTree(readTar(archive(...members)), "d", path.join(folder, "target"), new CopyTally(rule));

  it("is read by tar, and tar's by us, in GNU's and POSIX's form, cut at any byte", async () => {
    const here = await tempFolder();
    const source = path.join(here, "d");
    await fs.mkdir(source);
    await makeTree(source);
    await fs.link(path.join(source, "run.sh"), path.join(source, "zz-same.sh"));
    const file = path.join(here, "ours.tar");
    await fs.writeFile(file, await buffer(Readable.from(packTree(source, "d", new CopyTally("refuse")))));
    await fs.mkdir(path.join(here, "by-tar"));
    await run("tar", ["-xpf", file, "-C", path.join(here, "by-tar")]);
    const expected = await snapshot(source);
    expect(await snapshot(path.join(here, "by-tar", "d"))).toEqual(expected);
    for (const format of ["gnu", "posix", "ustar"]) {
      await run("tar", [`--format=${format}`, "-cf", file, "-C", here, "./d"]);
      const bytes = await fs.readFile(file);
      const pieces = function* () {
        for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 4_099)
          yield bytes.subarray(at, at + size);
      };
      const target = path.join(here, format);
      await unpackTree(readTar(Readable.from(pieces())), "d", target, new CopyTally("refuse"));
      expect(await snapshot(target)).toEqual(expected);
      await fs.chmod(path.join(target, "closed"), 0o755);
    }
    await fs.chmod(path.join(here, "by-tar/d/closed"), 0o755);
  });

  it("with a size beyond eight gigabytes is understood", async () => {
    const size = 9 * 1024 ** 3 + 5;
    const header = packHeader({ path: "d", type: "file", mode: 0o644, size, link: "" });
    const entries = readTar(Readable.from([header]));
    expect((await entries.next()).value).toMatchObject({ size });
  });

  it("that is cut short, or none at all, is an error", async () => {
    const bytes = Buffer.concat([member({ path: "d/a" }, "content"), ARCHIVE_END]);
    const read = async (source: Buffer) => {
      for await (const _ of readTar(Readable.from([source])));
    };
    for (const length of [0, 100, 512, 515, 1024]) {
      expect(await failure(read(bytes.subarray(0, length)))).toBeInstanceOf(CopyError);
    }
    expect(await failure(read(Buffer.alloc(512, "x")))).toMatchObject({
      message: expect.stringContaining("no tar archive"),
    });
    await read(bytes);
  });

  it.each([["d/../../evil"], ["../evil"], ["/d/evil"], ["other/evil"]])("with the name %j is refused", async (name) => {
    const here = await tempFolder();
    expect(await failure(unpack(here, [member({ path: name }, "x")]))).toBeInstanceOf(CopyError);
    expect(Object.keys(await snapshot(here)).filter((found) => found.includes("evil"))).toEqual([]);
  });

  it("cannot write through links, however they are made", async () => {
    const link = (name: string, to: string) => member({ path: name, type: "symlink", link: to });
    const tricks = [
      [link("d/out", "/tmp"), member({ path: "d/out/evil" }, "x")],
      [link("d/out", "../.."), member({ path: "d/out/evil" }, "x")],
      [link("d/here", "."), link("d/out", "here/here/here/../../.."), member({ path: "d/out/evil" }, "x")],
      [member({ path: "d/hard", type: "hardlink", link: "/etc/passwd" })],
      [member({ path: "d/hard", type: "hardlink", link: "d/../../evil" })],
    ];
    for (const members of tricks) {
      const here = await tempFolder();
      expect(await failure(unpack(here, members))).toBeInstanceOf(CopyError);
      expect(await failure(unpack(here, members, "skip"))).not.toBeInstanceOf(TypeError);
      expect(await fs.readdir(here)).toEqual(["target"]);
      expect(
        await fs.access("/tmp/evil").then(
          () => true,
          () => false,
        ),
      ).toBe(false);
    }
  });

  it("replaces a link at its place instead of writing through it, and refuses to enter one that leads out", async () => {
    const here = await tempFolder();
    await fs.mkdir(path.join(here, "target"));
    await fs.mkdir(path.join(here, "elsewhere"));
    await fs.writeFile(path.join(here, "victim"), "safe");
    await fs.symlink("../victim", path.join(here, "target/file"));
    await fs.symlink("../elsewhere", path.join(here, "target/folder"));
    await unpack(here, [member({ path: "d/file" }, "new")]);
    expect(await fs.readFile(path.join(here, "victim"), "utf8")).toBe("safe");
    expect(await fs.readFile(path.join(here, "target/file"), "utf8")).toBe("new");
    expect(await failure(unpack(here, [member({ path: "d/folder/x" }, "x")]))).toBeInstanceOf(CopyError);
    expect(await fs.readdir(path.join(here, "elsewhere"))).toEqual([]);
  });

  it.each([
    ["", "a", true],
    ["", "..", false],
    ["a", "..", true],
    ["a", "../b/c", true],
    ["a", "../../b", false],
    ["a/b", "./../../x", true],
    ["a", "/a", false],
    ["a", "b/../../..", false],
    ["a", "b/..", false],
    ["a", "", false],
  ])("in the folder %j with a link to %j stays inside: %j", (from, link, inside) => {
    expect(staysInside(from, link)).toBe(inside);
  });
});
