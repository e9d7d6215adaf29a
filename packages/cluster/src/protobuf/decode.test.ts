import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMessageTable } from "../registry/index.ts";
import { decodeKubernetesProtobuf, ProtobufError } from "./decode.ts";

const table = createMessageTable();

/** Objects that the libraries of Kubernetes wrote in both forms. */
const golden = JSON.parse(readFileSync(new URL("./golden.json", import.meta.url), "utf8")) as {
  protobuf: string;
  json: { apiVersion: string; kind: string };
}[];

/** JSON shows an absent list as null; a client that sends JSON may as well leave it out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}

// A writer of protobuf, as small as the tests need it.
const varint = (value: number | bigint): number[] => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
};
const text = (value: string): number[] => [...new TextEncoder().encode(value)];
const number = (field: number, value: number | bigint): number[] => [...varint(field << 3), ...varint(value)];
const bytes = (field: number, value: number[]): number[] => [
  ...varint((field << 3) | 2),
  ...varint(value.length),
  ...value,
];
const envelope = (apiVersion: string, kind: string, raw: number[], more: number[] = []): Uint8Array =>
  Uint8Array.from([
    ...text("k8s\0"),
    ...bytes(1, [...bytes(1, text(apiVersion)), ...bytes(2, text(kind))]),
    ...bytes(2, raw),
    ...more,
  ]);
const decode = (apiVersion: string, kind: string, raw: number[]) =>
  decodeKubernetesProtobuf(envelope(apiVersion, kind, raw), table).object;

describe("decoding protobuf", () => {
  it.each(golden)("reads the $json.kind that the libraries of Kubernetes wrote", ({ protobuf, json }) => {
    const decoded = decodeKubernetesProtobuf(Buffer.from(protobuf, "base64"), table);
    expect(decoded).toMatchObject({ apiVersion: json.apiVersion, kind: json.kind });
    expect(decoded.object).toEqual(withoutNulls(json));
  });

  it("drops the zero of a value and keeps the zero of a pointer", () => {
    const dropped = decode("v1", "ListOptions", [...bytes(1, []), ...number(3, 0), ...number(7, 0)]);
    expect(dropped).toEqual({ apiVersion: "v1", kind: "ListOptions" });
    const kept = decode("v1", "DeleteOptions", [...number(1, 0), ...number(3, 0)]);
    expect(kept).toMatchObject({ gracePeriodSeconds: 0, orphanDependents: false });
  });

  it("takes no target port and the target port 0 for the same", () => {
    const port = bytes(1, [...number(3, 80), ...bytes(4, [...number(1, 0), ...number(2, 0)])]);
    expect(decode("v1", "Service", bytes(2, port))).toMatchObject({ spec: { ports: [{ port: 80 }] } });
    expect(JSON.stringify(decode("v1", "Service", bytes(2, port)))).not.toContain("targetPort");
  });

  it("passes over fields that it does not know", () => {
    const fixed = [...varint((900 << 3) | 1), 1, 2, 3, 4, 5, 6, 7, 8, ...varint((901 << 3) | 5), 1, 2, 3, 4];
    const unknown = [...number(902, 7), ...bytes(903, [1, 2]), ...fixed];
    expect(decode("v1", "ListOptions", [...unknown, ...bytes(1, text("a=b"))])).toMatchObject({ labelSelector: "a=b" });
  });

  it("reads lists of numbers in either form", () => {
    const single = [...number(4, 1), ...number(4, 300)];
    const packed = bytes(4, [...varint(1), ...varint(300)]);
    const spec = (groups: number[]) => decode("v1", "Pod", bytes(2, bytes(14, groups)));
    const expected = { spec: { securityContext: { supplementalGroups: [1, 300] } } };
    expect(spec(single)).toMatchObject(expected);
    expect(spec(packed)).toMatchObject(expected);
  });

  it("reads every integer that JSON can hold", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer(), (long, int) => {
        const options = decode("v1", "DeleteOptions", number(1, BigInt(long)));
        expect(options.gracePeriodSeconds).toBe(long);
        const pod = decode("v1", "Pod", bytes(2, number(25, BigInt(int))));
        expect(pod.spec).toEqual({ priority: int });
      }),
    );
  });

  it("treats a map's key named __proto__ as any other", () => {
    const entry = bytes(2, [...bytes(1, text("__proto__")), ...bytes(2, text("x"))]);
    const data = decode("v1", "ConfigMap", entry).data as object;
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(Object.entries(data)).toEqual([["__proto__", "x"]]);
  });

  it("fills in what a map's entry leaves out", () => {
    expect(decode("v1", "ConfigMap", bytes(2, bytes(1, text("k"))))).toMatchObject({ data: { k: "" } });
  });

  it("reads embedded objects in JSON and in protobuf", () => {
    const inner = [...envelope("v1", "ConfigMap", bytes(1, bytes(1, text("a"))))];
    const items = [...bytes(2, bytes(1, text('{"kind":"Thing"}'))), ...bytes(2, bytes(1, inner))];
    expect(decode("v1", "List", items)).toMatchObject({
      items: [{ kind: "Thing" }, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }],
    });
  });

  it("reads an envelope whose content says that it is JSON", () => {
    const body = envelope("example.com/v1", "Thing", text('{"kind":"Thing"}'), bytes(4, text("application/json")));
    expect(decodeKubernetesProtobuf(body, table).object).toEqual({ kind: "Thing" });
  });

  it("says what is wrong with a body", () => {
    const read = (body: Uint8Array) => () => decodeKubernetesProtobuf(body, table);
    expect(read(Uint8Array.from(text("{}")))).toThrow(/prefix/);
    expect(read(envelope("example.com/v1", "Thing", []))).toThrow(/"Thing" of "example.com\/v1"/);
    expect(read(envelope("v1", "Pod", [0x0a, 0x7f]))).toThrow(/ends in the middle/);
    expect(read(envelope("v1", "ListOptions", number(1, 5)))).toThrow(/labelSelector \(1\) has the wire type 0/);
    expect(read(envelope("v1", "List", bytes(2, bytes(1, text("{")))))).toThrow(/not JSON/);
    expect(read(envelope("v1", "ListOptions", number(7, 1).slice(0, 1)))).toThrow(ProtobufError);
  });

  it("refuses a schema that nests without end", () => {
    // Each level wraps the one below in `not`.
    let schema: number[] = [];
    for (let level = 0; level < 600; level += 1) schema = bytes(28, schema);
    const version = bytes(7, bytes(4, bytes(1, schema)));
    expect(() => decode("apiextensions.k8s.io/v1", "CustomResourceDefinition", bytes(2, version))).toThrow(
      /nests deeper/,
    );
  });

  it("never fails otherwise than with its own error, whatever the bytes", () => {
    const bodies = golden.map(({ protobuf }) => Uint8Array.from(Buffer.from(protobuf, "base64")));
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...bodies), damage, fc.nat(), (body, changes, length) => {
        const copy = body.slice(0, Math.max(4, length % (body.length + 1)));
        for (const [at, byte] of changes) copy[4 + (at % Math.max(1, copy.length - 4))] = byte;
        try {
          decodeKubernetesProtobuf(copy, table);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
