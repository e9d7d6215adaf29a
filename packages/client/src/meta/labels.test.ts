import fc from "fast-check";
import { expect, test } from "vitest";
import {
  byteLength,
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "./labels.ts";

test("names that the server accepts", () => {
  for (const name of ["a", "a-b", "a.b-c.d", "0", "x".repeat(253)]) expect(isDns1123Subdomain(name)).toBe(true);
  for (const name of ["a", "1-2", "x".repeat(63)]) expect(isDns1123Label(name)).toBe(true);
  for (const name of ["a", "A_b.C", "example.com/Name", `x/${"y".repeat(63)}`])
    expect(isQualifiedName(name)).toBe(true);
  for (const value of ["", "a", "A_b.c-D"]) expect(isLabelValue(value)).toBe(true);
  expect(pathSegmentErrors("system:node")).toEqual([]);
});

test("refusals speak the server's words", () => {
  expect(dns1123SubdomainErrors("A_b")).toEqual([
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ]);
  expect(dns1123LabelErrors("a.b")).toEqual(["must not contain dots"]);
  expect(dns1123LabelErrors("-")).toEqual([
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ]);
  expect(dns1123LabelErrors("x".repeat(64))).toEqual(["must be no more than 63 bytes"]);
  expect(dns1035LabelErrors("1a")[0]).toContain("start with an alphabetic character");
  expect(labelValueErrors("a b")[0]).toContain("a valid label must be an empty string or consist of");
  expect(qualifiedNameErrors("/a")).toEqual(["prefix part must be non-empty"]);
  expect(qualifiedNameErrors("a/")[0]).toBe("name part must be non-empty");
  expect(qualifiedNameErrors("a/b/c")[0]).toMatch(
    /^a valid label key must consist .* \(e\.g\. 'example\.com\/MyName'\)$/,
  );
  expect(pathSegmentErrors("a/b%")).toEqual(["may not contain '/'", "may not contain '%'"]);
  expect(pathSegmentErrors("..")).toEqual(["may not be '..'"]);
});

test("the length in bytes is that of UTF-8", () => {
  const encoder = new TextEncoder();
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => byteLength(text) === encoder.encode(text).length));
});
