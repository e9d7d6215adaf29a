import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blake2b } from "./blake2b.ts";

const hex = (data: Uint8Array, length: number) => Buffer.from(blake2b(data, length)).toString("hex");

describe("BLAKE2b", () => {
  it("gives the digest of the example in RFC 7693", () => {
    expect(hex(Buffer.from("abc"), 64)).toBe(
      "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    );
  });

  it("agrees with the runtime about 64 bytes, whatever the message", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600, size: "max" }), (data) => {
        expect(hex(data, 64)).toBe(createHash("blake2b512").update(data).digest("hex"));
      }),
    );
  });

  it("gives a short digest that is not the beginning of a long one", () => {
    // Python: hashlib.blake2b(b"abc", digest_size=4).hexdigest() and the like.
    expect(hex(Buffer.from("abc"), 4)).toBe("63906248");
    expect(hex(Buffer.alloc(0), 4)).toBe("1271cf25");
    expect(hex(Buffer.from("x".repeat(300)), 20)).toBe("5cdff8b6d7145ae42f4dabf69e299160b8ce7a30");
    expect(hex(Buffer.from("x".repeat(256)), 1)).toBe("c0");
  });

  it.each([0, 65, 1.5])("refuses a digest of %s bytes", (length) => {
    expect(() => blake2b(Buffer.alloc(0), length)).toThrow(RangeError);
  });
});
