import { X509Certificate } from "node:crypto";
import { connect, type TLSSocket } from "node:tls";
import { CertificateAuthority } from "@lotse/client/certificates";
import { describe, expect, it, onTestFinished } from "vitest";
// Made with openssl: root signs mid, which signs leaf; root signs plain, which is no authority and signs under; root signs
// server for servers; other has root's name and another key.
import golden from "./client-trust.golden.json" with { type: "json" };
import { readCertificates, trustedTime } from "./client-trust.ts";
import { Listener } from "./server.ts";

const read = (name: keyof typeof golden) => new X509Certificate(golden[name]);
const [root, mid, leaf, plain] = [read("root"), read("mid"), read("leaf"), read("plain")];
const NOW = Date.parse("2026-12-01T00:00:00Z");

describe("the certificate of a client", () => {
  it("is good when an authority has signed it, for as long as both are", () => {
    const authority = new CertificateAuthority("ca", NOW);
    const jane = new X509Certificate(authority.issue({ commonName: "jane", usage: "client" }).certPem);
    const time = trustedTime(jane, [], [root, ...readCertificates(authority.certPem)]);
    expect(time).toEqual({ from: Date.parse(jane.validFrom), until: Date.parse(jane.validTo) });
  });

  it("is good by way of others that the client shows, and not without them", () => {
    expect(trustedTime(leaf, [mid], [root])).toBeDefined();
    expect(trustedTime(leaf, [], [root])).toBeUndefined();
    // An authority need not have signed itself.
    expect(trustedTime(leaf, [], [mid])).toBeDefined();
  });

  it("is good when it is named as an authority itself", () => {
    expect(trustedTime(leaf, [], [leaf])).toBeDefined();
  });

  it("is not good when another with the name of an authority has signed it", () => {
    expect(trustedTime(plain, [], [root])).toBeDefined();
    expect(trustedTime(plain, [], [read("other")])).toBeUndefined();
    expect(trustedTime(mid, [], [read("other")])).toBeUndefined();
  });

  it("is not good when one has signed it that may not", () => {
    expect(trustedTime(read("under"), [plain], [root])).toBeUndefined();
    expect(trustedTime(read("under"), [plain, mid, leaf], [root])).toBeUndefined();
  });

  it("is not good for who may only be a server", () => {
    expect(trustedTime(read("server"), [], [root])).toBeUndefined();
  });

  it("is not good by its own word", () => {
    expect(trustedTime(root, [root], [mid])).toBeUndefined();
    expect(trustedTime(root, [], [])).toBeUndefined();
  });

  it("needs authorities that are certificates", () => {
    expect(() => readCertificates("no such thing")).toThrow("there is none");
    expect(readCertificates(`${golden.root}\n# a comment\n${golden.mid}`)).toHaveLength(2);
  });
});

describe("a server that knows the authority alone", () => {
  async function open(now: () => number) {
    const { certPem, keyPem } = new CertificateAuthority("ca", Date.now()).issue({
      commonName: "server",
      hosts: ["127.0.0.1"],
      usage: "server",
    });
    const listener = await Listener.open({
      host: "127.0.0.1",
      port: 0,
      tls: { certPem, keyPem },
      clientAuthority: [golden.root],
      now,
      handle: async (request) => ({
        type: "whole",
        status: 200,
        headers: {},
        body: JSON.stringify(request.clientCertificate?.() ?? null),
      }),
    });
    onTestFinished(() => listener.close());
    return listener.port;
  }

  /** What the server saw on a connection, and the session that the next one may take up. */
  async function visit(port: number, options: { cert?: string; key?: string; session?: Buffer } = {}) {
    let session: Buffer | undefined;
    let reused = false;
    const text = await new Promise<string>((resolve, reject) => {
      const socket: TLSSocket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options }, () => {
        reused = socket.isSessionReused();
        socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
      });
      let received = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        received += chunk;
      });
      socket.on("session", (latest: Buffer) => {
        session = latest;
      });
      socket.on("end", () => resolve(received));
      socket.on("error", reject);
    });
    return { seen: JSON.parse(text.slice(text.indexOf("\r\n\r\n"))), session, reused };
  }

  it("believes who shows the way to it, also when a session is taken up again", async () => {
    const port = await open(() => NOW);
    const identity = { cert: `${golden.leaf}${golden.mid}`, key: golden.leafKey };
    const { seen, session } = await visit(port, identity);
    expect(seen).toMatchObject({ commonName: "leaf", trusted: true });
    expect(session).toBeDefined();
    const again = await visit(port, { ...identity, ...(session && { session }) });
    expect(again.reused).toBe(true);
    expect(again.seen).toMatchObject({ commonName: "leaf", trusted: true });
  });

  it("does not believe who shows only half of the way, who comes too late, or who shows nothing", async () => {
    const port = await open(() => NOW);
    expect((await visit(port, { cert: golden.leaf, key: golden.leafKey })).seen).toMatchObject({ trusted: false });
    expect((await visit(port)).seen).toBeNull();
    const late = await open(() => Date.parse("2200-01-01T00:00:00Z"));
    const identity = { cert: `${golden.leaf}${golden.mid}`, key: golden.leafKey };
    expect((await visit(late, identity)).seen).toMatchObject({ trusted: false });
  });
});
