import { describe, expect, it } from "vitest";
import { livenessAddress, serveLiveness } from "./liveness.ts";

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
