/** Reads protocol buffers in tests. */

/** The fields of a message: bytes as text when they are text, else as a message again. */
export type Decoded = [field: number, value: unknown][];

/** Reads without knowing the fields, as a stranger would: what looks like a message is one. */
export function decode(bytes: Uint8Array): Decoded {
  const fields: Decoded = [];
  let at = 0;
  const varint = () => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("The message is cut.");
      value += (byte & 127) * factor;
      factor *= 128;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) fields.push([field, varint()]);
    else if (wire === 1) {
      fields.push([field, new DataView(bytes.buffer, bytes.byteOffset + at, 8).getFloat64(0, true)]);
      at += 8;
    } else {
      const length = varint();
      if (at + length > bytes.length) throw new Error("The message is cut.");
      fields.push([field, bytes.slice(at, at + length)]);
      at += length;
    }
  }
  return fields;
}

/** Follows numbers of fields down to a value. */
export function at(bytes: Uint8Array, ...path: number[]): unknown {
  let value: unknown = bytes;
  for (const field of path) value = decode(value as Uint8Array).find(([number]) => number === field)?.[1];
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}
