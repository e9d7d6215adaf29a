/**
 * As much of tar as copying needs. Written is GNU's form, whose long names and large sizes even the smallest `tar`
 * understands; read are GNU's and POSIX's.
 *
 * An archive is a row of blocks of 512 bytes: a header for each entry, then its content, filled up to whole blocks; two
 * empty blocks at the end.
 */
import { CopyError } from "./errors.ts";

const BLOCK = 512;
const MAX_NAME = 100;
/** Larger numbers do not fit into eleven octal digits. */
const MAX_OCTAL_SIZE = 8 ** 11;

/** What an entry is. */
export type TarType = "file" | "directory" | "symlink" | "hardlink" | "other";

/** The header of an entry. */
export interface TarEntry {
  readonly path: string;
  readonly type: TarType;
  readonly mode: number;
  readonly size: number;
  /** Where a link leads. */
  readonly link: string;
}

const FLAGS: Record<Exclude<TarType, "other">, string> = { file: "0", hardlink: "1", symlink: "2", directory: "5" };

/** The blocks in front of an entry's content. */
export function packHeader(entry: TarEntry & { readonly type: Exclude<TarType, "other"> }): Buffer {
  const path = Buffer.from(entry.type === "directory" && !entry.path.endsWith("/") ? `${entry.path}/` : entry.path);
  const link = Buffer.from(entry.link);
  return Buffer.concat([
    ...(path.length > MAX_NAME ? longName("L", path) : []),
    ...(link.length > MAX_NAME ? longName("K", link) : []),
    headerBlock(path, FLAGS[entry.type], entry.mode, entry.size, link),
  ]);
}

/** What fills the last block of a content of `size` bytes. */
export const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** The end of an archive. */
export const ARCHIVE_END: Buffer = Buffer.alloc(2 * BLOCK);

function longName(flag: "L" | "K", name: Buffer): Buffer[] {
  const content = Buffer.concat([name, Buffer.alloc(1)]);
  return [
    headerBlock(Buffer.from("././@LongLink"), flag, 0, content.length, Buffer.alloc(0)),
    content,
    padding(content.length),
  ];
}

function headerBlock(path: Buffer, flag: string, mode: number, size: number, link: Buffer): Buffer {
  const block = Buffer.alloc(BLOCK);
  path.copy(block, 0, 0, MAX_NAME);
  writeOctal(block, mode & 0o7777, 100, 8);
  writeOctal(block, 0, 108, 8);
  writeOctal(block, 0, 116, 8);
  if (size < MAX_OCTAL_SIZE) writeOctal(block, size, 124, 12);
  else {
    block.writeBigUInt64BE(BigInt(size), 128);
    block[124] = 0x80;
  }
  writeOctal(block, 0, 136, 12);
  block.write(flag, 156, "latin1");
  link.copy(block, 157, 0, MAX_NAME);
  block.write("ustar  \0", 257, "latin1");
  block.write(`${checksumOf(block).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function writeOctal(block: Buffer, value: number, at: number, length: number): void {
  block.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
}

/** The sum of the header's bytes, those of the sum itself taken for blanks. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += block[i] as number;
  return sum;
}

/** An entry that is being read. What of its content is not read is skipped. */
export interface OpenEntry extends TarEntry {
  readonly content: AsyncIterable<Buffer>;
}

/** Reads an archive as it comes. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<OpenEntry, void, undefined> {
  const bytes = new ByteReader(source);
  let overrides: { path?: string; link?: string; size?: number } = {};
  for (;;) {
    const block = await bytes.take(BLOCK);
    if (block.every((byte) => byte === 0)) {
      await bytes.drain();
      return;
    }
    const header = readHeader(block);
    const { flag } = header;
    if (flag === "L" || flag === "K" || flag === "x" || flag === "g") {
      const content = await bytes.take(header.size);
      await bytes.take(padding(header.size).length);
      // What holds for the whole archive says nothing about names and sizes.
      if (flag === "L") overrides = { ...overrides, path: textOf(content) };
      else if (flag === "K") overrides = { ...overrides, link: textOf(content) };
      else if (flag === "x") overrides = { ...overrides, ...readPax(content) };
      continue;
    }
    const entry = { ...header, ...overrides };
    overrides = {};
    const size = entry.type === "file" ? entry.size : 0;
    let left = size;
    async function* content(): AsyncGenerator<Buffer, void, undefined> {
      while (left > 0) {
        const chunk = await bytes.takeSome(left);
        left -= chunk.length;
        yield chunk;
      }
    }
    const { path, type, mode, link } = entry;
    yield { path, type, mode, size, link, content: content() };
    while (left > 0) left -= (await bytes.takeSome(left)).length;
    await bytes.take(padding(size).length);
  }
}

function readHeader(block: Buffer): TarEntry & { flag: string } {
  if (readNumber(block, 148, 8) !== checksumOf(block))
    throw new CopyError("what the container sent is no tar archive, or is damaged", { hint: "copy it again" });
  const name = textOf(block.subarray(0, MAX_NAME));
  const posix = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = posix ? textOf(block.subarray(345, 500)) : "";
  const flag = String.fromCharCode(block[156] as number);
  const path = prefix === "" ? name : `${prefix}/${name}`;
  return {
    path,
    flag,
    type: typeOf(flag, path),
    mode: readNumber(block, 100, 8),
    size: readNumber(block, 124, 12),
    link: textOf(block.subarray(157, 157 + MAX_NAME)),
  };
}

function typeOf(flag: string, path: string): TarType {
  // Ancient archives mark a directory by its name alone.
  if (flag === "0" || flag === "\0" || flag === "7") return path.endsWith("/") ? "directory" : "file";
  if (flag === "1") return "hardlink";
  if (flag === "2") return "symlink";
  return flag === "5" ? "directory" : "other";
}

function readNumber(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  if (((field[0] as number) & 0x80) === 0)
    return Number.parseInt(field.toString("latin1").replace(/\0.*$/, "").trim() || "0", 8);
  let value = (field[0] as number) & 0x7f;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  return value;
}

/** Records of `<length> <key>=<value>\n`, the length counting itself. */
function readPax(content: Buffer): { path?: string; link?: string; size?: number } {
  const found: { path?: string; link?: string; size?: number } = {};
  for (let at = 0; at < content.length; ) {
    const blank = content.indexOf(0x20, at);
    const length = Number.parseInt(content.toString("latin1", at, blank), 10);
    if (blank < 0 || !(length > 0)) throw new CopyError("an extended header of the tar archive is damaged");
    const record = content.toString("utf8", blank + 1, at + length - 1);
    const key = record.slice(0, record.indexOf("="));
    const value = record.slice(key.length + 1);
    if (key === "path") found.path = value;
    else if (key === "linkpath") found.link = value;
    else if (key === "size") found.size = Number(value);
    at += length;
  }
  return found;
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? field.length : end);
}

/** Takes bytes in the portions that the reader wants, from chunks as they come. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    if (length === 0) return Buffer.alloc(0);
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const part = await this.takeSome(left);
      parts.push(part);
      left -= part.length;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** At least one byte, at most `length`. */
  async takeSome(length: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#source.next();
      if (done) throw new CopyError("the tar archive ends too early");
      this.#rest = value;
    }
    const part = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  /** Reads what comes after the end, so that the writer can finish. */
  async drain(): Promise<void> {
    while (!(await this.#source.next()).done);
  }
}
