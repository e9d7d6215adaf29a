import { describe, expect, it } from "vitest";
import { ConfigError } from "../meta/index.ts";
import { impersonationHeaders } from "./impersonation.ts";

describe("impersonationHeaders", () => {
  it("names the user, its uid, its groups and what else is known of it", () => {
    const extra = { "example.com/Reason": ["a", "b"], plain: ["c"], none: [] };
    expect(impersonationHeaders({ user: "jane", uid: "7", groups: ["x", "y"], extra })).toEqual({
      "impersonate-user": "jane",
      "impersonate-uid": "7",
      "impersonate-group": ["x", "y"],
      "impersonate-extra-example.com%2freason": ["a", "b"],
      "impersonate-extra-plain": ["c"],
    });
    expect(impersonationHeaders({ user: "jane", groups: [] })).toEqual({ "impersonate-user": "jane" });
  });

  it("writes names as the UTF-8 that the server reads, and keys as letters that a header may have", () => {
    const headers = impersonationHeaders({ user: "jörg", extra: { "a(b)": ["1"] } });
    expect(Buffer.from(String(headers["impersonate-user"]), "latin1").toString("utf8")).toBe("jörg");
    expect(headers["impersonate-extra-a%28b%29"]).toEqual(["1"]);
  });

  it("refuses groups without a user, and names that no header can hold", () => {
    expect(() => impersonationHeaders({ user: "", groups: ["admins"] })).toThrow(ConfigError);
    expect(() => impersonationHeaders({ user: "jane\r\nx: y" })).toThrow("control character");
  });
});
