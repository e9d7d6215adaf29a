import { describe, expect, it } from "vitest";
import type { FieldError } from "../fields.ts";
import {
  addressErrors,
  canonicalAddressErrors,
  canonicalRangeErrors,
  containsAddress,
  endpointAddressErrors,
  formatAddress,
  parseAddress,
  parseRange,
  type Range,
  rangeErrors,
} from "./addresses.ts";

const details = (errors: readonly FieldError[]) => errors.map((error) => ("detail" in error ? error.detail : ""));

describe("addresses", () => {
  it.each([
    ["10.1.2.3", "10.1.2.3"],
    ["010.1.2.3", "10.1.2.3"],
    ["::", "::"],
    ["::1", "::1"],
    ["2001:DB8::1", "2001:db8::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["fe80::", "fe80::"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
  ])("read %s as %s", (text, right) => {
    const address = parseAddress(text);
    expect(address && formatAddress(address)).toBe(right);
  });

  it.each([
    "",
    "x",
    "1.2.3",
    "1.2.3.256",
    "1.2.3.4.5",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "12345::",
    "fe80::1%eth0",
  ])("do not read %j", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it.each([
    ["10.1.2.3", []],
    ["x", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]],
    ["010.1.2.3", ["must not have leading 0s"]],
    ["::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]],
    ["2001:DB8::1", []],
  ])("are told what is wrong with %s", (text, wrong) => {
    expect(details(addressErrors(text, "f"))).toEqual(wrong);
    expect(addressErrors(text, "f", [text])).toEqual([]);
  });

  it("of newer fields have one spelling", () => {
    expect(details(canonicalAddressErrors("2001:DB8::1", "f"))).toEqual(['must be in canonical form ("2001:db8::1")']);
    expect(canonicalAddressErrors("2001:db8::1", "f")).toEqual([]);
  });

  it.each([
    ["0.0.0.0", "may not be unspecified (0.0.0.0)"],
    ["127.3.2.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
    ["169.254.1.1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
    ["224.0.0.5", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
    ["febf::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ])("nobody else can reach are no endpoints: %s", (text, wrong) => {
    expect(details(endpointAddressErrors(text, "f"))).toEqual([wrong]);
  });

  it("may be the loopback one where pods are processes of this machine", () => {
    expect(endpointAddressErrors("127.0.0.1", "f", true)).toEqual([]);
    expect(endpointAddressErrors("127.0.0.1", "f")).toHaveLength(1);
  });
});

describe("ranges", () => {
  it.each([
    ["10.0.0.0/8", []],
    ["10.0.0.0", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]],
    ["10.0.0.0/33", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]],
    ["10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]],
    ["10.0.0.1/8", ["must not have bits set beyond the prefix length"]],
    ["::ffff:10.0.0.0/104", ["must not have an IPv4-mapped IPv6 address"]],
    ["2001:DB8::/32", []],
  ])("are told what is wrong with %s", (text, wrong) => {
    expect(details(rangeErrors(text, "f"))).toEqual(wrong);
  });

  it("of newer fields have one spelling", () => {
    expect(details(canonicalRangeErrors("2001:DB8::/32", "f"))).toEqual([
      'must be in canonical form ("2001:db8::/32")',
    ]);
  });

  it("contain what lies in them, of their own family", () => {
    const range = (text: string) => parseRange(text) as Range;
    expect(containsAddress(range("10.0.0.0/8"), range("10.255.0.0/16"))).toBe(true);
    expect(containsAddress(range("10.0.0.0/8"), range("11.0.0.0/16"))).toBe(false);
    expect(containsAddress(range("::/0"), range("10.0.0.0/8"))).toBe(false);
  });
});
