import { describe, expect, it } from "vitest";
import { ipv6Bytes } from "./socks.ts";

describe("the bytes of an IPv6 address", () => {
  it.each([
    ["::", "0".repeat(32)],
    ["::1", `${"0".repeat(31)}1`],
    ["fd00::", `fd00${"0".repeat(28)}`],
    ["2001:db8::8a2e:370:7334", "20010db80000000000008a2e03707334"],
    ["1:2:3:4:5:6:7:8", "00010002000300040005000600070008"],
    ["::ffff:10.1.2.3", "00000000000000000000ffff0a010203"],
    ["fe80::1%eth0", "fe800000000000000000000000000001"],
  ])("%s", (address, hex) => {
    expect(ipv6Bytes(address).toString("hex")).toBe(hex);
  });
});
