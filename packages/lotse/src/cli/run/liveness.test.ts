import { describe, expect, it } from "vitest";
import { explainAddress, livenessAddress, serveExplain, serveLiveness } from "./liveness.ts";

describe("--liveness", () => {
  it.each([
    ["http://0.0.0.0:8080/healthz", { host: "0.0.0.0", port: 8080, path: "/healthz" }],
    ["http://[::]:8080", { host: "::", port: 8080 }],
    ["http://localhost", { host: "localhost", port: 80 }],
  ])("%s is an address", (url, address) => {
    expect(livenessAddress(url)).toEqual(address);
  });

  it.each(["https://0.0.0.0:8080", "8080", "localhost:8080"])("%s is none, and what is is said", (url) => {
    expect(() => livenessAddress(url)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`--liveness ${url} is no address to listen on`),
      }),
    );
  });

  it("says that the port is taken", async () => {
    await using first = await serveLiveness("http://127.0.0.1:0", () => []);
    await expect(serveLiveness(`http://127.0.0.1:${first.port}`, () => [])).rejects.toMatchObject({
      message: `health cannot be served at http://127.0.0.1:${first.port}`,
    });
  });
});

describe("--explain", () => {
  it.each([
    ["http://127.0.0.1:8081", "127.0.0.1"],
    ["http://localhost:8081", "localhost"],
    ["http://[::1]:8081", "::1"],
  ])("%s is an address", (url, host) => {
    expect(explainAddress(url)).toEqual({ host, port: 8081, questions: true });
  });

  it.each(["http://0.0.0.0:8081", "http://[::]:8081", "http://10.0.0.1:8081", "http://127.0.0.1.example.com:8081"])(
    "%s is refused, because others can reach it",
    (url) => {
      expect(() => explainAddress(url)).toThrow(`--explain ${url} is an address that others can reach`);
    },
  );

  it("says that the port is taken, and what is no address", async () => {
    await using first = await serveExplain("http://127.0.0.1:0", () => []);
    await expect(serveExplain(`http://127.0.0.1:${first.port}`, () => [])).rejects.toMatchObject({
      message: `questions cannot be answered at http://127.0.0.1:${first.port}`,
    });
    expect(() => explainAddress("8081")).toThrow("--explain 8081 is no address to listen on");
  });
});
