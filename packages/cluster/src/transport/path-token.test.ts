import { expect, it } from "vitest";
import { addressWithToken, splitPathToken } from "./path-token.ts";

it("an address with a token leads to every path, and none sees the token", () => {
  const { pathname } = new URL(`${addressWithToken("http://127.0.0.1:6443", "a-b_c.d")}/api/v1/namespaces/a%2Fb`);
  expect(splitPathToken(pathname)).toEqual({ path: "/api/v1/namespaces/a%2Fb", token: "a-b_c.d" });
  expect(splitPathToken("/~abc")).toEqual({ path: "/", token: "abc" });
  expect(splitPathToken("/~abc/")).toEqual({ path: "/", token: "abc" });
});

it.each(["/", "", "/api/~abc", "/~", "/~/api", "/~a b/api", "//~abc/api", "~abc"])("%j carries no token", (path) => {
  expect(splitPathToken(path)).toEqual({ path, token: undefined });
});
