import { constants, createDeflate, createInflate } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { BytePipe, readText } from "../bytes/index.ts";
import { SpdyConnection, type SpdyStream } from "./spdy.ts";
import { encodeFrame, FrameReader, type SpdyFrame } from "./spdy-frames.ts";
import { HeaderReader, HeaderWriter, spdyDictionary } from "./spdy-headers.ts";

type Sent = Exclude<SpdyFrame, { type: "other" }>;

const id = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const number = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const bytes = fc.uint8Array({ maxLength: 300 });
const frames: fc.Arbitrary<Sent> = fc.oneof(
  fc.record({ type: fc.constant("data" as const), stream: id, fin: fc.boolean(), data: bytes }),
  fc.record({
    type: fc.constantFrom("syn-stream" as const, "syn-reply" as const, "headers" as const),
    stream: id,
    fin: fc.boolean(),
    headers: bytes,
  }),
  fc.record({ type: fc.constant("reset" as const), stream: id, status: number }),
  fc.record({ type: fc.constant("window-update" as const), stream: id, delta: number }),
  fc.record({ type: fc.constant("ping" as const), id: number }),
  fc.record({ type: fc.constant("go-away" as const), last: number, status: number }),
);

const plain = (frame: SpdyFrame) => JSON.parse(JSON.stringify(frame, (_, v) => (v instanceof Uint8Array ? [...v] : v)));

describe("SPDY frames", () => {
  it("come out as they went in, however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(frames, { maxLength: 8 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 40 })),
        (sent, cuts) => {
          const all = Buffer.concat(sent.map(encodeFrame));
          const reader = new FrameReader();
          const found: SpdyFrame[] = [];
          for (let at = 0; at < all.length; ) {
            const length = cuts.next().value as number;
            found.push(...reader.push(all.subarray(at, at + length)));
            at += length;
          }
          expect(found.map((frame) => normal(frame))).toEqual(sent.map((frame) => normal(frame)));
        },
      ),
    );
  });

  it("look like those of the specification", () => {
    expect(encodeFrame({ type: "ping", id: 1 }).toString("hex")).toBe("800300060000000400000001");
    expect(encodeFrame({ type: "data", stream: 3, fin: true, data: Buffer.from("hi") }).toString("hex")).toBe(
      "00000003010000026869",
    );
    expect(encodeFrame({ type: "go-away", last: 5, status: 0 }).toString("hex")).toBe(
      "80030007000000080000000500000000",
    );
  });

  it("of another version are refused", () => {
    expect(() => new FrameReader().push(Buffer.from("8002000600000004", "hex").subarray(0))).not.toThrow();
    expect(() => new FrameReader().push(Buffer.from("800200060000000400000001", "hex"))).toThrow("SPDY/2");
  });
});

/** JSON has no bytes; both sides are compared as lists. */
const normal = (frame: SpdyFrame) => plain(JSON.parse(JSON.stringify(frame, (_, v) => asList(v))));
const asList = (value: unknown) => {
  if (value instanceof Uint8Array) return [...value];
  const data = (value as { type?: string; data?: number[] } | null) ?? {};
  return data.type === "Buffer" ? data.data : value;
};

describe("SPDY headers", () => {
  /** Packs as a client does: one stream for the whole connection, flushed after each block. */
  function packer() {
    const deflate = createDeflate({ dictionary: spdyDictionary() });
    return (headers: Record<string, string>) =>
      new Promise<Buffer>((resolve) => {
        const parts = [uint32(Object.keys(headers).length)];
        for (const [name, value] of Object.entries(headers)) {
          parts.push(uint32(name.length), Buffer.from(name), uint32(value.length), Buffer.from(value));
        }
        deflate.write(Buffer.concat(parts));
        deflate.flush(constants.Z_SYNC_FLUSH, () => resolve(deflate.read()));
      });
  }

  const uint32 = (value: number) => {
    const four = Buffer.alloc(4);
    four.writeUInt32BE(value);
    return four;
  };

  it("have the dictionary of the specification", () => {
    const dictionary = spdyDictionary();
    expect(dictionary.length).toBe(1_423);
    expect(dictionary.subarray(0, 11).toString("latin1")).toBe("\0\0\0\x07options");
    expect(dictionary.subarray(-10).toString()).toBe("-,*,enq=0.");
  });

  it("are read block after block", async () => {
    const pack = packer();
    const reader = new HeaderReader();
    expect([...(await reader.read(await pack({ Streamtype: "error", port: "80" })))]).toEqual([
      ["streamtype", "error"],
      ["port", "80"],
    ]);
    const long = { streamtype: "data", requestid: "x".repeat(60_000) };
    expect(Object.fromEntries(await reader.read(await pack(long)))).toEqual(long);
    expect((await reader.read(await pack({}))).size).toBe(0);
    reader.close();
  });

  it("are written so that any client can read them", async () => {
    const writer = new HeaderWriter();
    const inflate = createInflate({ dictionary: spdyDictionary() });
    for (const headers of [new Map(), new Map([["a", "1"]]), new Map([["content-type", "text/plain"]])]) {
      const block = writer.write(headers);
      await new Promise<void>((resolve) => inflate.write(block, () => resolve()));
      const bytesOut = inflate.read() as Buffer;
      expect(bytesOut.readUInt32BE(0)).toBe(headers.size);
      for (const [name, value] of headers)
        expect(bytesOut.toString("latin1")).toMatch(new RegExp(`${name}.*${value}`, "s"));
    }
  });
});

describe("a SPDY connection", () => {
  function connect() {
    const input = new BytePipe();
    const reader = new FrameReader();
    const answers: SpdyFrame[] = [];
    let ended = false;
    const connection = new SpdyConnection(input, {
      write: async (chunk) => {
        answers.push(...reader.push(chunk));
      },
      end: () => {
        ended = true;
      },
    });
    const streams: SpdyStream[] = [];
    const served = connection.serve((stream) => streams.push(stream));
    const writer = new HeaderWriter();
    return {
      streams,
      answers,
      served,
      connection,
      ended: () => ended,
      input,
      send: (frame: Sent) => input.write(encodeFrame(frame)),
      open: (stream: number, headers: Record<string, string>, fin = false) =>
        input.write(
          encodeFrame({ type: "syn-stream", stream, fin, headers: writer.write(new Map(Object.entries(headers))) }),
        ),
    };
  }

  /** Until so many streams have been opened, however long unpacking their headers takes. */
  const opened = (client: { readonly streams: readonly unknown[] }, count: number) =>
    vi.waitFor(() => expect(client.streams).toHaveLength(count), { timeout: 170_000, interval: 5 });

  it("answers each new stream and carries data both ways", async () => {
    const client = connect();
    await client.open(1, { streamtype: "data", port: "80" });
    await client.send({ type: "data", stream: 1, fin: false, data: Buffer.from("ask") });
    await client.send({ type: "data", stream: 1, fin: true, data: Buffer.from("ing") });
    await opened(client, 1);
    const [stream] = client.streams;
    expect(stream?.headers.get("port")).toBe("80");
    expect(await readText(stream?.incoming as BytePipe)).toBe("asking");
    await stream?.write(Buffer.from("answer"));
    stream?.end();
    stream?.end();
    await stream?.write(Buffer.from("too late"));
    const seen = client.answers.map((frame) => frame.type);
    expect(seen).toEqual(["syn-reply", "window-update", "window-update", "data", "data"]);
    expect(client.answers.at(-1)).toMatchObject({ stream: 1, fin: true });
  });

  it("echoes pings of the client, and no others", async () => {
    const client = connect();
    await client.send({ type: "ping", id: 7 });
    await client.send({ type: "ping", id: 8 });
    await client.send({ type: "ping", id: 9 });
    await vi.waitFor(() => expect(client.answers).toContainEqual({ type: "ping", id: 9 }), { timeout: 170_000 });
    expect(client.answers.map((frame) => "id" in frame && frame.id)).toEqual([7, 9]);
  });

  it("ends its streams when the client resets them or goes", async () => {
    const client = connect();
    await client.open(1, {});
    await client.open(3, {});
    await client.send({ type: "reset", stream: 1, status: 5 });
    await opened(client, 2);
    expect(await readText(client.streams[0]?.incoming as BytePipe)).toBe("");
    client.input.end();
    await client.served;
    expect(await readText(client.streams[1]?.incoming as BytePipe)).toBe("");
    expect(client.answers.at(-1)).toEqual({ type: "go-away", last: 3, status: 0 });
    expect(client.ended()).toBe(true);
  });

  it("ends when it hears something else than SPDY", async () => {
    const client = connect();
    await client.input.write(Buffer.from("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n".repeat(2)));
    await client.input.write(Buffer.from("800200060000000400000001", "hex"));
    client.input.end();
    await client.served;
    expect(client.ended()).toBe(true);
  });
});
