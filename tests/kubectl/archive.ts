import { gunzipSync, inflateRawSync } from "node:zlib";

/** One file out of a gzipped tar archive. */
export function fromTarball(archive: Buffer, name: string): Buffer {
  const tar = gunzipSync(archive);
  for (let at = 0; at + 512 <= tar.length; ) {
    const text = (from: number, length: number) =>
      tar.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(124, 12).trim() || "0", 8);
    const prefix = text(345, 155);
    if ((prefix ? `${prefix}/` : "") + text(0, 100) === name) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`There is no ${name} in the tarball.`);
}

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;

/** One file out of a zip archive (no encryption, no 64-bit sizes). */
export function fromZip(zip: Buffer, name: string): Buffer {
  let end = zip.length - 22;
  while (end >= 0 && zip.readUInt32LE(end) !== endOfDirectory) end--;
  if (end < 0) throw new Error("This is not a zip archive.");
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0 && zip.readUInt32LE(at) === directoryEntry; left--) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const next = at + 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
    if (zip.toString("utf8", at + 46, at + 46 + (nameLength ?? 0)) === name) return entry(zip, at);
    at = next;
  }
  throw new Error(`There is no ${name} in the zip archive.`);
}

function entry(zip: Buffer, at: number): Buffer {
  const method = zip.readUInt16LE(at + 10);
  const size = zip.readUInt32LE(at + 20);
  const local = zip.readUInt32LE(at + 42);
  // The local header repeats the name, and has extra fields of its own length.
  const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(data, data + size);
  return method === 0 ? packed : inflateRawSync(packed);
}
