/** A frame of SPDY/3.1. Header blocks are still packed. */
export type SpdyFrame =
  | { readonly type: "data"; readonly stream: number; readonly fin: boolean; readonly data: Uint8Array }
  | { readonly type: "syn-stream"; readonly stream: number; readonly fin: boolean; readonly headers: Uint8Array }
  | { readonly type: "syn-reply"; readonly stream: number; readonly fin: boolean; readonly headers: Uint8Array }
  | { readonly type: "headers"; readonly stream: number; readonly fin: boolean; readonly headers: Uint8Array }
  | { readonly type: "reset"; readonly stream: number; readonly status: number }
  | { readonly type: "window-update"; readonly stream: number; readonly delta: number }
  | { readonly type: "ping"; readonly id: number }
  | { readonly type: "go-away"; readonly last: number; readonly status: number }
  /** Settings and whatever else does not concern us. */
  | { readonly type: "other"; readonly code: number };

const VERSION = 3;
const FIN = 0x01;
const HEADER = 8;
const LARGEST_FRAME = 16 * 1_024 * 1_024;
const codes = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 } as const;

/** Cuts frames out of bytes that arrive in any pieces. */
export class FrameReader {
  #buffered: Buffer = Buffer.alloc(0);

  /** The frames that are complete now. Throws when the other side does not speak SPDY/3. */
  push(chunk: Uint8Array): SpdyFrame[] {
    this.#buffered = Buffer.concat([this.#buffered, chunk]);
    const frames: SpdyFrame[] = [];
    for (;;) {
      if (this.#buffered.length < HEADER) return frames;
      const length = this.#buffered.readUIntBE(5, 3);
      if (length > LARGEST_FRAME) throw new Error(`a SPDY frame of ${length} bytes is too large`);
      if (this.#buffered.length < HEADER + length) return frames;
      frames.push(decode(this.#buffered.subarray(0, HEADER), this.#buffered.subarray(HEADER, HEADER + length)));
      this.#buffered = this.#buffered.subarray(HEADER + length);
    }
  }
}

function decode(header: Buffer, body: Buffer): SpdyFrame {
  const fin = ((header[4] as number) & FIN) !== 0;
  if (((header[0] as number) & 0x80) === 0) {
    return { type: "data", stream: header.readUInt32BE(0), fin, data: body };
  }
  const version = header.readUInt16BE(0) & 0x7fff;
  if (version !== VERSION) throw new Error(`SPDY/${version} is not spoken here`);
  const code = header.readUInt16BE(2);
  const number = (at: number) => body.readUInt32BE(at) & 0x7fff_ffff;
  switch (code) {
    case codes.synStream:
      return { type: "syn-stream", stream: number(0), fin, headers: body.subarray(10) };
    case codes.synReply:
      return { type: "syn-reply", stream: number(0), fin, headers: body.subarray(4) };
    case codes.headers:
      return { type: "headers", stream: number(0), fin, headers: body.subarray(4) };
    case codes.reset:
      return { type: "reset", stream: number(0), status: body.readUInt32BE(4) };
    case codes.windowUpdate:
      return { type: "window-update", stream: number(0), delta: number(4) };
    case codes.ping:
      return { type: "ping", id: body.readUInt32BE(0) };
    case codes.goAway:
      return { type: "go-away", last: number(0), status: body.readUInt32BE(4) };
    default:
      return { type: "other", code };
  }
}

/** The bytes of a frame. */
export function encodeFrame(frame: Exclude<SpdyFrame, { readonly type: "other" }>): Buffer {
  switch (frame.type) {
    case "data": {
      const header = Buffer.alloc(HEADER);
      header.writeUInt32BE(frame.stream);
      header[4] = frame.fin ? FIN : 0;
      header.writeUIntBE(frame.data.length, 5, 3);
      return Buffer.concat([header, frame.data]);
    }
    case "syn-stream":
      return control(codes.synStream, frame.fin, [uint32(frame.stream), Buffer.alloc(6), frame.headers]);
    case "syn-reply":
      return control(codes.synReply, frame.fin, [uint32(frame.stream), frame.headers]);
    case "headers":
      return control(codes.headers, frame.fin, [uint32(frame.stream), frame.headers]);
    case "reset":
      return control(codes.reset, false, [uint32(frame.stream), uint32(frame.status)]);
    case "window-update":
      return control(codes.windowUpdate, false, [uint32(frame.stream), uint32(frame.delta)]);
    case "ping":
      return control(codes.ping, false, [uint32(frame.id)]);
    case "go-away":
      return control(codes.goAway, false, [uint32(frame.last), uint32(frame.status)]);
  }
}

function control(code: number, fin: boolean, parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(0x8000 | VERSION, 0);
  header.writeUInt16BE(code, 2);
  header[4] = fin ? FIN : 0;
  header.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([header, body]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
