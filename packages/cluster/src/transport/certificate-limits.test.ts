import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
// Made with openssl; the names say who signed: short has a path length of 0, one of 1, named permits names below
// example.com and addresses in 10.0.0.0/8 and excludes bad.example.com, directory and loose permit a directory, of which
// only the first insists; odd has an extension that nobody knows. The verdicts are those of Go's crypto/x509.
import golden from "./certificate-limits.golden.json" with { type: "json" };
import { limitsOf } from "./certificate-limits.ts";
import { trustedTime } from "./client-trust.ts";

type Name = keyof typeof golden;
const read = (name: Name) => new X509Certificate(golden[name]);

describe("the limits of an authority", () => {
  it.each<[Name, Name, Name[], boolean]>([
    ["shortLeaf", "short", [], true],
    ["shortUnder", "short", ["shortMid"], false],
    ["oneUnder", "one", ["oneMid"], true],
    ["namedPlain", "named", [], true],
    ["namedGood", "named", [], true],
    ["namedDns", "named", [], false],
    ["namedExcluded", "named", [], false],
    ["namedEmail", "named", [], false],
    ["namedIp", "named", [], false],
    ["namedUri", "named", [], false],
    ["directoryLeaf", "directory", [], false],
    ["looseLeaf", "loose", [], true],
    ["odd", "one", [], false],
  ])("decide about %s, signed by %s with %j: %s", (leaf, root, between, good) => {
    expect(trustedTime(read(leaf), between.map(read), [read(root)]) !== undefined).toBe(good);
  });

  it("are no limits where another path leads to another authority", () => {
    expect(trustedTime(read("shortUnder"), [read("shortMid")], [read("short"), read("shortMid")])).toBeDefined();
  });

  it("are read as they stand", () => {
    expect(limitsOf(read("short").raw)).toMatchObject({ pathLength: 0, unknown: false });
    expect(limitsOf(read("named").raw).constraints?.permitted.dns).toEqual(["example.com"]);
    expect(limitsOf(read("namedGood").raw).names).toMatchObject({
      dns: ["a.example.com"],
      email: ["jane@example.com"],
    });
    expect(() => limitsOf(Buffer.from([0x30, 0x05, 1]))).toThrow("asn1");
  });
});
