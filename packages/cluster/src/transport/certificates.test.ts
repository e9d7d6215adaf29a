import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CertificateAuthority } from "./certificates.ts";
import { oid, time, unsigned } from "./der.ts";

const NOW = Date.parse("2026-03-04T05:06:07Z");

describe("der", () => {
  it("writes integers in the shortest form that stays positive", () => {
    expect(unsigned(Buffer.from([0, 0, 1])).toString("hex")).toBe("020101");
    expect(unsigned(Buffer.from([0x80])).toString("hex")).toBe("02020080");
  });

  it("writes arcs above 127 over several bytes", () => {
    expect(oid("1.2.840.10045.4.3.2").toString("hex")).toBe("06082a8648ce3d040302");
  });

  it("writes two-digit years until 2049 and four digits after", () => {
    expect(time(Date.parse("2049-12-31T23:59:59Z")).subarray(2).toString()).toBe("491231235959Z");
    expect(time(Date.parse("2050-01-01T00:00:00Z")).subarray(2).toString()).toBe("20500101000000Z");
  });
});

describe("CertificateAuthority", () => {
  const authority = new CertificateAuthority("test-ca", NOW);

  it("signs itself as an authority", () => {
    const ca = new X509Certificate(authority.certPem);
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe("CN=test-ca");
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(Date.parse(ca.validFrom)).toBeLessThan(NOW);
    expect(Date.parse(ca.validTo)).toBeGreaterThan(NOW);
  });

  it("issues server certificates for addresses of both families and names", () => {
    const issued = authority.issue({
      commonName: "server",
      hosts: ["127.0.0.1", "::1", "fd00::12:1", "localhost"],
      usage: "server",
    });
    const cert = new X509Certificate(issued.certPem);
    const ca = new X509Certificate(authority.certPem);
    expect(cert.verify(ca.publicKey)).toBe(true);
    expect(cert.checkIssued(ca)).toBe(true);
    expect(cert.checkPrivateKey(createPrivateKey(issued.keyPem))).toBe(true);
    for (const ip of ["127.0.0.1", "::1", "fd00::12:1"]) expect(cert.checkIP(ip)).toBeDefined();
    expect(cert.checkHost("localhost")).toBe("localhost");
    expect(cert.checkHost("example.com")).toBeUndefined();
    expect(cert.ca).toBe(false);
  });

  it("puts groups of a client into its subject", () => {
    const cert = new X509Certificate(
      authority.issue({ commonName: "jane", organizations: ["a", "b"], usage: "client" }).certPem,
    );
    expect(cert.subject).toBe("O=a\nO=b\nCN=jane");
  });
});
