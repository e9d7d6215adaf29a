/**
 * How bytes are laid out in every file of a data folder: one frame after the other.
 *
 *     0  mark            FF 4C 54 FE
 *     4  length          of the payload, little endian, as all numbers
 *     8  checksum        CRC-32 of the payload
 *    12  number          of the frame in its file, counted from 0
 *    16  checksum        CRC-32 of the sixteen bytes before
 *    20  payload         JSON in UTF-8
 *
 * A frame is on disk before the next one is begun. So whatever is wrong with a frame that another one follows happened
 * later: it was whole once, and a client was told so. A frame that nothing follows may just never have been finished.
 * The first byte of the mark never occurs in UTF-8, hence no payload looks like the beginning of a frame.
 */
import { crc32 } from "node:zlib";

const MARK = Buffer.from([0xff, 0x4c, 0x54, 0xfe]);
const HEADER_BYTES = 20;

/** A record as it lies on disk, with what shows whether it is whole. */
export function encodeFrame(number: number, json: string): Buffer {
  const length = Buffer.byteLength(json);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.write(json, HEADER_BYTES, "utf8");
  MARK.copy(frame, 0);
  frame.writeUInt32LE(length, 4);
  frame.writeUInt32LE(crc32(frame.subarray(HEADER_BYTES)), 8);
  frame.writeUInt32LE(number, 12);
  frame.writeUInt32LE(crc32(frame.subarray(0, 16)), 16);
  return frame;
}

/** What a file holds. `end` is the place after the last good frame. */
export interface Scan {
  readonly payloads: readonly Buffer[];
  readonly end: number;
  readonly damage: Damage | undefined;
}

/** Where a file stops making sense, and what is wrong there. */
export interface Damage {
  readonly offset: number;
  readonly what: string;
  /** Nothing that is good follows: it may be the rest of a write that was cut short. */
  readonly atEnd: boolean;
}

/** Reads frames up to the end or to the first one that is not good. */
export function scanFrames(bytes: Buffer): Scan {
  const payloads: Buffer[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const header = readHeader(bytes, offset);
    if (typeof header === "string") return stop(header, offset + 1);
    const start = offset + HEADER_BYTES;
    const next = start + header.length;
    if (header.number !== payloads.length) {
      return { payloads, end: offset, damage: { offset, what: "a part is missing before it", atEnd: false } };
    }
    if (next > bytes.length) return stop("it ends too early", start);
    const payload = bytes.subarray(start, next);
    if (crc32(payload) !== header.checksum) return stop("its checksum is wrong", start);
    payloads.push(payload);
    offset = next;
  }
  return { payloads, end: offset, damage: undefined };

  function stop(what: string, searchFrom: number): Scan {
    return { payloads, end: offset, damage: { offset, what, atEnd: !hasFrameAfter(bytes, searchFrom) } };
  }
}

interface Header {
  readonly length: number;
  readonly checksum: number;
  readonly number: number;
}

function readHeader(bytes: Buffer, offset: number): Header | string {
  if (offset + HEADER_BYTES > bytes.length) return "it ends too early";
  if (!bytes.subarray(offset, offset + MARK.length).equals(MARK)) return "no record begins here";
  if (crc32(bytes.subarray(offset, offset + 16)) !== bytes.readUInt32LE(offset + 16)) {
    return "the checksum of its header is wrong";
  }
  return {
    length: bytes.readUInt32LE(offset + 4),
    checksum: bytes.readUInt32LE(offset + 8),
    number: bytes.readUInt32LE(offset + 12),
  };
}

/** The header alone tells: a frame was begun, so that the one before it was finished. */
function hasFrameAfter(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf(MARK, from); at >= 0; at = bytes.indexOf(MARK, at + 1)) {
    if (typeof readHeader(bytes, at) !== "string") return true;
  }
  return false;
}
