import { describe, expect, it } from "vitest";
import { openAccess } from "./access.ts";
import { proxyFromEnv } from "./proxy-env.ts";

const SERVER = "https://api.example.com:6443";
const env = { HTTPS_PROXY: "http://proxy:3128" };

describe("the proxy of the environment", () => {
  it("is that of the server's scheme, in capitals or not", () => {
    expect(proxyFromEnv(SERVER, env)).toBe("http://proxy:3128");
    expect(proxyFromEnv(SERVER, { https_proxy: "proxy:3128" })).toBe("http://proxy:3128");
    expect(proxyFromEnv(SERVER, { HTTP_PROXY: "http://proxy:3128" })).toBeUndefined();
    expect(proxyFromEnv("http://api.example.com", { HTTP_PROXY: "http://proxy:3128" })).toBe("http://proxy:3128");
    expect(proxyFromEnv(SERVER, { HTTPS_PROXY: "" })).toBeUndefined();
  });

  it.each([
    ["*", SERVER],
    ["example.com", SERVER],
    [".example.com", SERVER],
    ["*.example.com", SERVER],
    ["other.org, api.example.com", SERVER],
    ["api.example.com:6443", SERVER],
    ["10.0.0.0/8", "https://10.96.0.1"],
    ["10.96.0.1", "https://10.96.0.1"],
    ["fd00::/8", "https://[fd00::1]:6443"],
    ["", "https://localhost:6443"],
    ["", "https://127.0.0.1:6443"],
    ["", "https://[::1]:6443"],
  ])("is not used with NO_PROXY=%s for %s", (noProxy, server) => {
    expect(proxyFromEnv(server, { ...env, NO_PROXY: noProxy })).toBeUndefined();
  });

  it.each([
    ["ample.com", SERVER],
    [".api.example.com", SERVER],
    ["api.example.com:443", SERVER],
    ["10.0.0.0/8", "https://11.0.0.1"],
    ["10.0.0.0/99", "https://10.0.0.1"],
  ])("is used with NO_PROXY=%s for %s", (noProxy, server) => {
    expect(proxyFromEnv(server, { ...env, NO_PROXY: noProxy })).toBe("http://proxy:3128");
  });

  it("gives way to what the kubeconfig says, and is taken for every other way to find a server", async () => {
    const kubeconfig = (cluster: object) => ({
      "current-context": "main",
      contexts: [{ name: "main", context: { cluster: "main" } }],
      clusters: [{ name: "main", cluster: { server: SERVER, ...cluster } }],
    });
    const proxyOf = async (options: object) => (await openAccess({ env, ...options })).proxyUrl;
    expect(await proxyOf({ kubeconfig: kubeconfig({ "proxy-url": "http://own:8080" }) })).toBe("http://own:8080");
    expect(await proxyOf({ kubeconfig: kubeconfig({}) })).toBe("http://proxy:3128");
    expect(await proxyOf({ url: SERVER })).toBe("http://proxy:3128");
    expect(await proxyOf({ login: () => ({ server: SERVER, token: "t" }) })).toBe("http://proxy:3128");
  });
});
