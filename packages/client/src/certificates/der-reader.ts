/** One value of a DER text: its tag, its content, and all of it. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** More than four bytes of length is no certificate. */
const LONGEST_LENGTH = 4;

/** Reads the values that follow each other in `bytes`. Throws when they do not end where the bytes do. */
export function readDer(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readOne(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

function readOne(bytes: Buffer, start: number): DerValue {
  const tag = bytes[start];
  let length = bytes[start + 1];
  if (tag === undefined || length === undefined || (tag & 0x1f) === 0x1f) throw new Error("asn1: syntax error");
  let at = start + 2;
  if (length >= 0x80) {
    const count = length & 0x7f;
    if (count === 0 || count > LONGEST_LENGTH || at + count > bytes.length) throw new Error("asn1: syntax error");
    length = bytes.readUIntBE(at, count);
    at += count;
  }
  const end = at + length;
  if (end > bytes.length) throw new Error("asn1: syntax error: data truncated");
  return { tag, content: bytes.subarray(at, end), whole: bytes.subarray(start, end) };
}

/** The dotted form of an object identifier. */
export function readOid(content: Buffer): string {
  const arcs: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    arcs.push(value);
    value = 0;
  }
  const [first = 0, ...rest] = arcs;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - top * 40, ...rest].join(".");
}
