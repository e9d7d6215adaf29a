import { describe, expect, it } from "vitest";
import { MalformedAnswerError } from "./malformed.ts";
import { AnswerParser, type ParserLimits } from "./parser.ts";

/** A parser that has been told to expect an answer, and what it says. */
function parser(limits?: ParserLimits) {
  const bodies: Buffer[] = [];
  const said: string[] = [];
  const made = new AnswerParser(
    {
      onHead: ({ status }) => said.push(String(status)),
      onBody: (bytes) => bodies.push(bytes),
      onEnd: () => said.push("end"),
    },
    limits,
  );
  made.begin("GET");
  return { bodies, said, made, feed: (text: string) => made.feed(Buffer.from(text, "latin1")) };
}

function refusal(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedAnswerError);
    return (error as MalformedAnswerError).rule;
  }
  return undefined;
}

const OK = "HTTP/1.1 200 OK\r\n";

describe("a parser of answers", () => {
  it("hands bodies out as parts of what it was fed, without a copy", () => {
    const { made, bodies } = parser();
    const bytes = Buffer.from(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`);
    made.feed(bytes);
    expect(Buffer.concat(bodies).toString()).toBe("abc");
    for (const body of bodies) expect(body.buffer).toBe(bytes.buffer);
  });

  it("says how many bytes belong to an answer, and reads the next one after that", () => {
    const { made, said, feed } = parser();
    const one = `${OK}Content-Length: 2\r\n\r\n{}`;
    expect(feed(`${one}HTTP/1.1`)).toBe(one.length);
    expect([made.idle, made.reusable]).toEqual([true, true]);
    made.begin("GET");
    expect(feed("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")).toBeGreaterThan(0);
    expect(said).toEqual(["200", "end", "404", "end"]);
  });

  it("puts up with heads of so many bytes, trailers and extensions too, and no more", () => {
    const limits = { headBytes: 100, extensionBytes: 10 };
    const head = (bytes: number) => `${OK}X: ${"x".repeat(bytes - OK.length - 7)}\r\n\r\n`;
    expect(head(100)).toHaveLength(100);
    expect(refusal(() => parser(limits).feed(head(100)))).toBeUndefined();
    expect(refusal(() => parser(limits).feed(head(101)))).toBe("too-long");
    // One that never ends is not waited for.
    expect(refusal(() => parser(limits).feed(head(200).slice(0, 150)))).toBe("too-long");
    const bytewise = parser(limits);
    expect(refusal(() => [...head(101)].forEach((byte) => void bytewise.feed(byte)))).toBe("too-long");
    const chunked = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
    expect(refusal(() => parser(limits).feed(`${chunked}1;${"a".repeat(9)}\r\n`))).toBeUndefined();
    expect(refusal(() => parser(limits).feed(`${chunked}1;${"a".repeat(10)}\r\n`))).toBe("too-long");
    expect(refusal(() => parser(limits).feed(`${chunked}0\r\nX: ${"x".repeat(100)}\r\n\r\n`))).toBe("too-long");
  });

  it("finds an empty line with the short end also before one with the long end that is part of the body", () => {
    const { bodies, feed } = parser();
    feed("HTTP/1.1 200 OK\nContent-Length: 6\n\na\r\n\r\nb");
    expect(Buffer.concat(bodies).toString()).toBe("a\r\n\r\nb");
  });

  it.each([
    ["begins with something else", "GARBAGE", "status-line"],
    ["is of another version", "HTTP/2.0 200 OK\r\n\r\n", "status-line"],
    ["goes on in the next line", `${OK}A: b\r\n c\r\n\r\n`, "folding"],
    ["has a CR in a value", `${OK}A: b\rc\r\n\r\n`, "field"],
    ["has two lengths", `${OK}Content-Length: 1\r\nContent-Length: 1\r\n\r\n`, "framing"],
    ["has a list of lengths", `${OK}Content-Length: 1, 1\r\n\r\n`, "framing"],
    ["has a length and chunks", `${OK}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n`, "framing"],
    ["has a coding that is not undone", `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`, "framing"],
    ["has chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "framing"],
    ["has a chunk that ends its line without CR", `${OK}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n`, "chunk"],
    ["has a chunk that no number holds", `${OK}Transfer-Encoding: chunked\r\n\r\n${"f".repeat(14)}\r\n`, "chunk"],
    ["has trailers that are no fields", `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nno\r\n\r\n`, "field"],
    ["switches to another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "upgrade"],
    ["announces itself for ever", "HTTP/1.1 100 Continue\r\n\r\n".repeat(101), "informational"],
  ])("refuses an answer that %s", (_, text, rule) => {
    expect(refusal(() => parser().feed(text))).toBe(rule);
  });

  it("does not use a connection again on which a 204 speaks of a body, or an answer ends with the connection", () => {
    for (const [text, reusable] of [
      ["HTTP/1.1 204 No\r\n\r\n", true],
      ["HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", false],
      ["HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n", false],
      ["HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", true],
      [`${OK}Connection: Foo, CLOSE\r\nContent-Length: 0\r\n\r\n`, false],
      ["HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", true],
      [`${OK}\r\n`, false],
    ] as const) {
      const { made, feed } = parser();
      feed(text);
      if (!made.idle) expect(made.finish()).toBe(true);
      expect([text, made.reusable]).toEqual([text, reusable]);
    }
  });
});
