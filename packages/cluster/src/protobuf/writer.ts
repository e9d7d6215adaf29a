const encoder = new TextEncoder();

/** Writes fields of protocol buffers, one after the other. */
export class ProtobufWriter {
  #buffer = new Uint8Array(256);
  #length = 0;

  /** A whole number; also a truth value. */
  varint(field: number, value: number): void {
    this.#tag(field, 0);
    this.#number(value);
  }

  double(field: number, value: number): void {
    this.#tag(field, 1);
    this.#room(8);
    new DataView(this.#buffer.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  text(field: number, value: string): void {
    this.chunk(field, encoder.encode(value));
  }

  /** Bytes, or a message that is written already. */
  chunk(field: number, bytes: Uint8Array): void {
    this.#tag(field, 2);
    this.#number(bytes.length);
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A message in a field of this one. */
  message(field: number, write: (inner: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter();
    write(inner);
    this.chunk(field, inner.bytes());
  }

  /** What was written so far. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #tag(field: number, wire: number): void {
    this.#number(field * 8 + wire);
  }

  #number(value: number): void {
    this.#room(10);
    if (value < 0) {
      this.#negative(value);
      return;
    }
    // Not by shifting: that would cut numbers to 32 bits.
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#buffer[this.#length++] = (rest % 128) | 128;
    this.#buffer[this.#length++] = rest;
  }

  /** In the two's complement of 64 bits, of which all are written. */
  #negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 128n; rest >>= 7n) this.#buffer[this.#length++] = Number(rest & 127n) | 128;
    this.#buffer[this.#length++] = Number(rest);
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + bytes));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
