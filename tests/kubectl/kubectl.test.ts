import { deflateRawSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { run } from "../run.ts";
import { fromTarball, fromZip } from "./archive.ts";
import { helmPath, helmVersions, kubectlPath, kubectlVersions } from "./kubectl.ts";

describe("kubectl and Helm", () => {
  it.each(kubectlVersions())("are the real ones: kubectl %s", async (version) => {
    const { stdout, exitCode } = await run(kubectlPath(version), ["version", "--client", "-o", "json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).clientVersion.gitVersion).toMatch(`v${version}.`);
  });

  it.each(helmVersions())("are the real ones: Helm %s", async (version) => {
    const { stdout, exitCode } = await run(helmPath(version), ["version", "--short"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(`v${version}.`);
  });
});

describe("archives", () => {
  it("gives one file out of a tarball", () => {
    const tarball = tar({ "package/a.txt": "first", "package/b.txt": "x".repeat(700) });
    expect(fromTarball(tarball, "package/b.txt").toString()).toBe("x".repeat(700));
    expect(() => fromTarball(tarball, "package/c.txt")).toThrow("There is no package/c.txt in the tarball.");
  });

  it("gives one file out of a zip archive, stored or deflated", () => {
    const archive = zip([
      { name: "a/stored", data: Buffer.from("as it is"), method: 0 },
      { name: "a/deflated", data: Buffer.from("again ".repeat(100)), method: 8 },
    ]);
    expect(fromZip(archive, "a/stored").toString()).toBe("as it is");
    expect(fromZip(archive, "a/deflated").toString()).toBe("again ".repeat(100));
    expect(() => fromZip(archive, "b")).toThrow("There is no b in the zip archive.");
  });

  it("says so when a file is no zip archive", () => {
    expect(() => fromZip(Buffer.alloc(100), "a")).toThrow("This is not a zip archive.");
  });
});

function tar(files: Record<string, string>): Buffer {
  const blocks = Object.entries(files).map(([name, text]) => {
    const block = Buffer.alloc(512 + Math.ceil(text.length / 512) * 512);
    block.write(name, 0);
    block.write(text.length.toString(8).padStart(11, "0"), 124);
    block.write(text, 512);
    return block;
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function zip(files: { name: string; data: Buffer; method: 0 | 8 }[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, method } of files) {
    const packed = method === 0 ? data : deflateRawSync(data);
    const local = Buffer.alloc(30 + name.length + 4); // with four bytes of extra fields, which the directory lacks
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(4, 28);
    local.write(name, 30);
    const entry = Buffer.alloc(46 + name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    entry.write(name, 46);
    parts.push(local, packed);
    directory.push(entry);
    offset += local.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
