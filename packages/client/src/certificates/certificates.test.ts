import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CertificateAuthority } from "./authority.ts";
import { oid, time, unsigned } from "./der.ts";
import { readPem } from "./pem.ts";

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

  it("is the same one when it was written down and read again", () => {
    const again = CertificateAuthority.fromPem(`some words in front\n${authority.toPem()}`, NOW);
    const { certPem } = again.issue({ commonName: "server", hosts: ["localhost"], usage: "server" });
    expect(again.certPem).toBe(authority.certPem);
    expect(new X509Certificate(certPem).checkIssued(new X509Certificate(authority.certPem))).toBe(true);
  });

  it("signs in its own name, whatever that is made of", () => {
    const root = authority.issue({ commonName: "other", organizations: ["a", "b"], usage: "server" });
    const other = CertificateAuthority.fromPem(`${root.certPem}${root.keyPem}`, NOW);
    const { certPem } = other.issue({ commonName: "below", usage: "client" });
    expect(new X509Certificate(certPem).issuer).toBe("O=a\nO=b\nCN=other");
  });

  it("says what is missing from the text of an authority", () => {
    expect(() => CertificateAuthority.fromPem("nonsense", NOW)).toThrow("no certificate");
    expect(() => CertificateAuthority.fromPem(authority.certPem, NOW)).toThrow("no private key");
  });

  it("makes certificates good for the time that was asked for, to the second", () => {
    const validity = { from: NOW - 60_000, until: NOW + 3_600_000 };
    const short = new CertificateAuthority("short", NOW, { validity });
    for (const pem of [short.certPem, short.issue({ commonName: "x", usage: "server", validity }).certPem]) {
      const { validFrom, validTo } = new X509Certificate(pem);
      expect([Date.parse(validFrom), Date.parse(validTo)]).toEqual([validity.from, validity.until]);
    }
  });

  it("knows addresses of the newer family that end like one of the older", () => {
    const { certPem } = authority.issue({ commonName: "x", hosts: ["::ffff:10.1.2.3"], usage: "server" });
    expect(new X509Certificate(certPem).subjectAltName).toBe("IP Address:0:0:0:0:0:FFFF:A01:203");
  });
});

describe("readPem", () => {
  it("finds every block and leaves out what stands between them", () => {
    const { certPem, keyPem } = new CertificateAuthority("x", NOW).issue({ commonName: "x", usage: "server" });
    const found = readPem(`# mine\n${certPem.trimEnd()}\r\nand the key:\n${keyPem}`);
    expect(found.map(({ label }) => label)).toEqual(["CERTIFICATE", "PRIVATE KEY"]);
    expect(found[0]?.text).toBe(certPem);
  });

  it("finds nothing in half a block", () => {
    const { certPem } = new CertificateAuthority("x", NOW);
    expect(readPem(certPem.slice(0, -10))).toEqual([]);
  });
});
