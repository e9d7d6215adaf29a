import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { CertificateAuthority } from "@lotse/client/certificates";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger, type LogRecord } from "../../report/index.ts";
import { certificatesFromFiles, judgeFiles } from "./files.ts";

const NOW = Date.now();
const authority = new CertificateAuthority("files-ca", NOW);

function issued() {
  const { certPem, keyPem } = authority.issue({ commonName: "x", hosts: ["localhost"], usage: "server" });
  return { cert: certPem, key: keyPem };
}

/** A folder in memory, and what reads it. */
function folder(files: Record<string, string>) {
  const clock = new VirtualClock(NOW);
  const log: LogRecord[] = [];
  const source = certificatesFromFiles({
    dir: "/certs",
    clock,
    logger: new Logger(
      (record) => log.push(record),
      () => clock.now(),
    ),
    signal: new AbortController().signal,
    read: async (file) => {
      const text = files[path.basename(file)];
      if (text === undefined)
        throw Object.assign(new Error(`ENOENT: no such file, open '${file}'`), { code: "ENOENT" });
      return text;
    },
  });
  const warnings = () => log.filter(({ level }) => level === "warn").map(({ fields }) => fields.error);
  return { clock, source, files, warnings };
}

describe("certificates in files", () => {
  it("are read, and read again when they change; half of a change changes nothing but the log", async () => {
    const [old, young] = [issued(), issued()];
    const { clock, source, files, warnings } = folder({
      "tls.crt": old.cert,
      "tls.key": old.key,
      "ca.crt": authority.certPem,
    });
    await source.ready;
    expect(source.current()).toMatchObject({ credentials: old, caBundle: authority.certPem });
    let changes = 0;
    source.onChange(() => changes++);
    files["tls.crt"] = young.cert;
    await clock.advance(5 * 60_000);
    expect(source.current().credentials).toEqual(old);
    expect(warnings()).toEqual(["tls.key is not the key of tls.crt"]);
    expect(source.health().problem).toBe(
      "the certificates in /certs cannot be used: tls.key is not the key of tls.crt",
    );
    files["tls.key"] = young.key.slice(0, 40);
    await clock.advance(60_000);
    files["tls.key"] = young.key;
    await clock.advance(60_000);
    expect(source.current().credentials).toEqual(young);
    expect([changes, source.health().problem]).toEqual([1, undefined]);
    await source.stop();
    expect(clock.pending).toBe(0);
  });

  it("are waited for when they are not there yet", async () => {
    const { cert, key } = issued();
    const { clock, source, files, warnings } = folder({});
    await clock.advance(60_000);
    expect(() => source.current()).toThrow("There is no certificate for the webhook server yet.");
    expect(warnings()).toHaveLength(1);
    Object.assign(files, { "tls.crt": cert, "tls.key": key });
    await clock.advance(30_000);
    await source.ready;
    await source.stop();
  });

  it("of a folder that is not there are an error that says what to do", async () => {
    const clock = new VirtualClock();
    const logger = new Logger(
      () => undefined,
      () => clock.now(),
    );
    const source = certificatesFromFiles({
      dir: "/no/such/folder",
      clock,
      logger,
      signal: new AbortController().signal,
    });
    await expect(source.ready).rejects.toThrow(
      "There is no folder /no/such/folder with certificates for the webhook server.",
    );
  });

  it("are those of a real folder, too", async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), "lotse-certs-"));
    try {
      const { cert, key } = issued();
      await writeFile(path.join(dir, "tls.crt"), cert);
      await writeFile(path.join(dir, "tls.key"), key);
      const clock = new VirtualClock();
      const logger = new Logger(
        () => undefined,
        () => clock.now(),
      );
      const source = certificatesFromFiles({ dir, clock, logger, signal: new AbortController().signal });
      await source.ready;
      expect(source.current()).toMatchObject({ credentials: { cert, key }, caBundle: undefined });
      await source.stop();
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it("say whom to believe: the authorities beside them, themselves if they are self-signed, else no one in particular", () => {
    const { cert, key } = issued();
    const self = { cert: authority.certPem, key: authority.keyPem };
    expect(judgeFiles({ cert, key, ca: authority.certPem }, true).caBundle).toBe(authority.certPem);
    expect(judgeFiles({ cert: cert + authority.certPem, key, ca: undefined }, true).caBundle).toBe(authority.certPem);
    expect(judgeFiles({ ...self, ca: undefined }, true).caBundle).toBe(authority.certPem);
    expect(judgeFiles({ cert, key, ca: undefined }, true).caBundle).toBeUndefined();
    expect(judgeFiles({ cert, key, ca: authority.certPem }, false).caBundle).toBeUndefined();
    expect(() => judgeFiles({ cert, key, ca: "nonsense" }, true)).toThrow("ca.crt has no certificate");
    expect(() => judgeFiles({ cert: "", key, ca: undefined }, true)).toThrow("tls.crt has no certificate");
  });
});
