/** How a field's value is laid out on the wire. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Walks over the bytes of one protobuf message. Throws a RangeError where the bytes end too early. */
export class ProtobufReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** The two halves of the last varint. */
  #low = 0;
  #high = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  tag(): { readonly number: number; readonly wire: number } {
    this.#varint();
    const number = this.#low >>> 3;
    if (number === 0) throw new RangeError("a field has the number 0");
    return { number, wire: this.#low & 7 };
  }

  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  /** Exact up to 2^53, as every number in JSON. */
  int64(): number {
    this.#varint();
    return (this.#high | 0) * 2 ** 32 + (this.#low >>> 0);
  }

  bool(): boolean {
    this.#varint();
    return (this.#low | this.#high) !== 0;
  }

  double(): number {
    const start = this.#take(8);
    return this.#bytes.readDoubleLE(start);
  }

  string(): string {
    const start = this.#takeCounted();
    return this.#bytes.toString("utf8", start, this.#at);
  }

  base64(): string {
    const start = this.#takeCounted();
    return this.#bytes.toString("base64", start, this.#at);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const start = this.#takeCounted();
    return this.#bytes.subarray(start, this.#at) as Uint8Array<ArrayBuffer>;
  }

  /** A reader of the message that stands here. */
  message(): ProtobufReader {
    return new ProtobufReader(this.bytes());
  }

  skip(wire: number): void {
    switch (wire) {
      case WIRE.varint:
        this.#varint();
        return;
      case WIRE.fixed64:
        this.#take(8);
        return;
      case WIRE.bytes:
        this.#takeCounted();
        return;
      case WIRE.fixed32:
        this.#take(4);
        return;
      default:
        throw new RangeError(`there is no wire type ${wire}`);
    }
  }

  /** Seven bits a byte, the lowest first; a negative number takes all ten bytes. */
  #varint(): void {
    this.#low = 0;
    this.#high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#take(1)] as number;
      const bits = byte & 0x7f;
      if (shift < 32) this.#low |= bits << shift;
      // The fifth byte has bits of both halves.
      if (shift === 28) this.#high |= bits >>> 4;
      else if (shift > 28) this.#high |= bits << (shift - 32);
      if (byte < 0x80) return;
    }
    throw new RangeError("a number is longer than ten bytes");
  }

  #takeCounted(): number {
    this.#varint();
    if (this.#high !== 0) throw new RangeError("a field is longer than the body");
    return this.#take(this.#low >>> 0);
  }

  /** Moves on by `count` bytes and gives back where they start. */
  #take(count: number): number {
    const start = this.#at;
    if (count > this.#bytes.length - start) throw new RangeError("the body ends in the middle of a field");
    this.#at = start + count;
    return start;
  }
}
