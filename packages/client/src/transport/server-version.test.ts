import { describe, expect, it } from "vitest";
import { parseServerVersion, supportWarning } from "./server-version.ts";

describe("a server's version", () => {
  it.each([
    ["v1.36.0", 1, 36],
    ["v1.31.2-gke.1115000", 1, 31],
    ["v1.30.4-eks-a737599", 1, 30],
    ["v1.29.6+k3s1", 1, 29],
    ["v1.28.9+416ecaf", 1, 28],
    ["1.27+", 1, 27],
    ["v1.33.0-alpha.1.12+0123456789abcd-dirty", 1, 33],
  ])("%s is read as numbers", (text, major, minor) => {
    expect(parseServerVersion(text)).toMatchObject({ major, minor, known: true });
  });

  it("is compared by number, not by text", () => {
    const version = parseServerVersion("v1.31.0-rc.1");
    expect(version.atLeast(1, 4)).toBe(true);
    expect(version.atLeast(1, 31)).toBe(true);
    expect(version.atLeast(1, 32)).toBe(false);
    expect(version.atLeast(2, 0)).toBe(false);
    expect(parseServerVersion("v2.0.0").atLeast(1, 99)).toBe(true);
  });

  it("that cannot be read is at least nothing", () => {
    expect(parseServerVersion("dev")).toMatchObject({ known: false });
    expect(parseServerVersion("dev").atLeast(0, 0)).toBe(false);
  });

  it("is worth a warning when it is too old, too new or no version", () => {
    expect(supportWarning("v1.31.0+k3s1")).toBeUndefined();
    expect(supportWarning("v1.36.9-eks-1")).toBeUndefined();
    expect(supportWarning("v1.37.0")).toBe(
      "the server is Kubernetes 1.37; this client knows 1.36 and older: look for a newer one",
    );
    expect(supportWarning("v2.0.0")).toContain("Kubernetes 2.0");
    expect(supportWarning("v1.29.1")).toContain("1.29");
    expect(supportWarning("dev")).toContain('"dev"');
  });
});
