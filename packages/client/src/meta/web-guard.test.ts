import { describe, expect, it } from "vitest";
import { foreignOrigin, isForeignHost } from "./web-guard.ts";

describe("the name by which a server is called", () => {
  it.each([
    "127.0.0.1:6443",
    "127.0.0.1",
    "192.168.1.20:80",
    "[::1]:6443",
    "[::1]",
    "localhost",
    "LocalHost:8080",
    "localhost.:8080",
    "lotse.localhost:1",
    "kubernetes.default.svc:443",
    "Build-Host:6443",
  ])("%s is nobody else's", (host) => {
    expect(isForeignHost(host, ["kubernetes.default.svc", "build-host"])).toBe(false);
  });

  it.each([
    "evil.example",
    "evil.example:6443",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "kubernetes.default.svc.evil.example",
    "evil.example:80@127.0.0.1",
    "127.0.0.1:80:90",
    "notlocalhost",
    "",
    ":80",
    "[evil.example]:80",
    "toString",
  ])("%j may be anybody's", (host) => {
    expect(isForeignHost(host, ["kubernetes.default.svc"])).toBe(true);
  });

  it("is left out by programs alone", () => {
    expect(isForeignHost(undefined)).toBe(false);
  });
});

describe("where a request comes from", () => {
  const host = "127.0.0.1:6443";

  it.each([
    ["a program", { host }],
    ["a program that names the server", { host, origin: "https://127.0.0.1:6443" }],
    ["a program that names the server by another scheme", { host, origin: "http://127.0.0.1:6443" }],
    ["a program that names the usual port", { host: "localhost", origin: "https://localhost:443" }],
    ["an address that somebody typed", { host, "sec-fetch-site": "none" }],
    ["the server's own page", { host, origin: "https://127.0.0.1:6443", "sec-fetch-site": "same-origin" }],
    ["the page of a proxy", { host, origin: "http://127.0.0.1:8001", "sec-fetch-site": "same-origin" }],
  ])("is fine for %s", (_what, headers) => {
    expect(foreignOrigin(headers)).toBeUndefined();
  });

  it.each([
    ["another site", { host, origin: "https://evil.example" }, "https://evil.example"],
    ["another port", { host, origin: "http://127.0.0.1:5173" }, "http://127.0.0.1:5173"],
    ["a file or a sandbox", { host, origin: "null" }, "null"],
    ["no origin that can be read", { host, origin: "" }, ""],
    ["a name that goes on", { host: "127.0.0.1", origin: "http://127.0.0.1.evil.example" }, expect.any(String)],
    ["a form of another site", { host, "sec-fetch-site": "cross-site" }, "another site"],
    [
      "another site that claims ours",
      { host, origin: `http://${host}`, "sec-fetch-site": "cross-site" },
      expect.any(String),
    ],
    ["a neighbour", { host, origin: "http://localhost:3000", "sec-fetch-site": "same-site" }, "http://localhost:3000"],
    [
      "another extension of the web",
      { host, origin: "https://evil.example", "sec-fetch-site": "new" },
      "https://evil.example",
    ],
    ["an origin without a host to compare", { origin: "https://evil.example" }, "https://evil.example"],
  ])("is told for %s", (_what, headers, told) => {
    expect(foreignOrigin(headers)).toEqual(told);
  });
});
