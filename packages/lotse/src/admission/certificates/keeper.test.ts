import { X509Certificate } from "node:crypto";
import { KubeError, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger, Metrics } from "../../report/index.ts";
import { measureCertificates } from "./measures.ts";
import { localCertificates } from "./own.ts";
import type { CertificateStore } from "./store.ts";
import { DAY_MS, HOUR_MS, keep, NAME, SharedSecret } from "./test-keeping.ts";

describe("certificates in a Secret", () => {
  it("are made by one of two replicas that start together, and taken by the other", async () => {
    const clock = new VirtualClock();
    const secret = new SharedSecret();
    const [a, b] = [keep(clock, secret.seenBy()), keep(clock, secret.seenBy())];
    await clock.advance(0);
    await Promise.all([a.keeper.ready, b.keeper.ready]);
    expect(secret.writes).toBe(1);
    expect(a.keeper.current()).toEqual(b.keeper.current());
    expect(new X509Certificate(a.keeper.current().credentials.cert).checkHost(NAME)).toBe(NAME);
    expect(a.keeper.health()).toMatchObject({ problem: undefined, notAfter: new Date(clock.now() + 90 * DAY_MS) });
    await Promise.all([a.keeper.stop(), b.keeper.stop()]);
    expect(clock.pending).toBe(0);
  });

  it("are renewed by one replica, and the other has them after its next look", async () => {
    const clock = new VirtualClock();
    const secret = new SharedSecret();
    const [a, b] = [keep(clock, secret.seenBy()), keep(clock, secret.seenBy())];
    await clock.advance(60 * DAY_MS + 2 * HOUR_MS);
    expect(secret.writes).toBe(2);
    expect([a.changes.length, b.changes.length]).toEqual([2, 2]);
    expect(a.keeper.current()).toEqual(b.keeper.current());
    await Promise.all([a.keeper.stop(), b.keeper.stop()]);
  });

  it("are not those of a foreign Secret: it is reported, and neither used nor replaced", async () => {
    const clock = new VirtualClock();
    const secret = new SharedSecret();
    secret.put({ "tls.crt": "theirs", "tls.key": "theirs" });
    secret.isOurs = false;
    const { keeper, log } = keep(clock, secret.seenBy());
    await clock.advance(DAY_MS);
    const error = await keeper.ready.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({
      message: "The Secret default/hooks is not one of this operator: it is neither used nor replaced.",
      hint: "Choose another name with webhooks.secret, or delete that Secret if nothing else needs it.",
    });
    expect(secret.writes).toBe(0);
    expect(log.map(({ level }) => level)).toEqual(["error"]);
    expect(() => keeper.current()).toThrow("There is no certificate for the webhook server yet.");
  });

  it("stay in use when a foreign Secret takes the place of ours, and are kept again when ours is back", async () => {
    const clock = new VirtualClock();
    const secret = new SharedSecret();
    const { keeper, log } = keep(clock, secret.seenBy());
    await clock.advance(HOUR_MS);
    const mine = secret.texts;
    secret.put({ "tls.crt": "theirs" });
    secret.isOurs = false;
    await clock.advance(100 * DAY_MS);
    expect(keeper.current().credentials.cert).toBe(mine?.["tls.crt"]);
    expect(keeper.health().problem).toBe("The Secret default/hooks: the Secret is not one of this operator");
    expect([secret.writes, log.filter(({ level }) => level === "warn").length]).toEqual([1, 1]);
    secret.put(mine);
    secret.isOurs = true;
    await clock.advance(2 * HOUR_MS);
    expect(keeper.health().problem).toBeUndefined();
    expect(secret.writes).toBe(2);
    await keeper.stop();
  });

  it("are repaired when the Secret is damaged or deleted, which is told once", async () => {
    const clock = new VirtualClock();
    const secret = new SharedSecret();
    const { keeper, log, changes } = keep(clock, secret.seenBy());
    await clock.advance(HOUR_MS);
    const good = secret.texts;
    for (const harmed of [{ ...good, "ca.key": "x" }, { x: "y" }, {}, undefined]) {
      secret.put(harmed);
      await clock.advance(2 * HOUR_MS);
      expect(secret.texts).toEqual(good);
    }
    expect(changes).toHaveLength(1);
    expect(log.filter(({ level }) => level === "warn").map(({ fields }) => fields.problem)).toEqual([
      "the Secret is damaged: ca.crt and ca.key are not a certificate and its key",
      expect.stringContaining("the Secret is damaged: ca.crt has no certificate that can be read; "),
    ]);
    expect(keeper.health().problem).toBeUndefined();
    await keeper.stop();
  });

  it("are tried again for as long as the cluster does not answer, and those in memory stay in use", async () => {
    const clock = new VirtualClock();
    const secret = new SharedSecret();
    let isDown = true;
    const seen = secret.seenBy();
    const store: CertificateStore = {
      read: async (signal) => {
        if (isDown) throw new KubeError("the API server does not answer", { hint: "wait" });
        return seen.read(signal);
      },
      write: seen.write,
    };
    const { keeper, log } = keep(clock, store);
    await clock.advance(10 * 60_000);
    expect(log.filter(({ level }) => level === "warn")).toHaveLength(1);
    expect(keeper.health().problem).toContain("the API server does not answer");
    isDown = false;
    await clock.advance(2 * 60_000);
    await keeper.ready;
    expect(keeper.health().problem).toBeUndefined();
    isDown = true;
    await clock.advance(DAY_MS);
    expect(keeper.current().notAfter.getTime()).toBeGreaterThan(clock.now());
    await keeper.stop();
  });

  it("serve a replica that may not write, until they are over", async () => {
    const clock = new VirtualClock();
    const secret = new SharedSecret();
    const first = keep(clock, secret.seenBy());
    await clock.advance(HOUR_MS);
    await first.keeper.stop();
    await clock.advance(70 * DAY_MS);
    const { read } = secret.seenBy();
    const { keeper } = keep(clock, { read, write: () => Promise.reject(new KubeError("forbidden")) });
    await clock.advance(HOUR_MS);
    await keeper.ready;
    expect(keeper.current().credentials.cert).toBe(secret.texts?.["tls.crt"]);
    expect(keeper.health().problem).toContain("forbidden");
    await keeper.stop();
  });

  it("tell every listener, also when one of them fails", async () => {
    const clock = new VirtualClock();
    const { keeper, log } = keep(clock, new SharedSecret().seenBy());
    let heard = 0;
    keeper.onChange(() => {
      throw new Error("no");
    });
    const end = keeper.onChange(() => heard++);
    await clock.advance(HOUR_MS);
    expect([heard, log.filter(({ level }) => level === "error").length]).toEqual([1, 1]);
    end();
    await clock.advance(61 * DAY_MS);
    expect(heard).toBe(1);
    await keeper.stop();
  });
});

describe("certificates in memory", () => {
  it("are there at once, are renewed, and can be measured", async () => {
    const clock = new VirtualClock();
    const logger = new Logger(
      () => undefined,
      () => clock.now(),
    );
    const { signal } = new AbortController();
    const source = localCertificates({ names: ["127.0.0.1"], clock, random: () => 0, logger, signal });
    await source.ready;
    const first = source.current();
    const metrics = new Metrics();
    measureCertificates(metrics, source, clock);
    expect(metrics.render()).toContain("lotse_webhook_certificate_remaining_seconds 7776000");
    expect(metrics.render()).toContain("lotse_webhook_certificate_age_seconds 3600");
    await clock.advance(60 * DAY_MS);
    expect(source.current().credentials.cert).not.toBe(first.credentials.cert);
    expect(source.current().caBundle).toBe(first.caBundle);
    await source.stop();
  });
});
