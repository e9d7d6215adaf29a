import { describe, expect, it } from "vitest";
import { KEYS, type Keyed, namesOf, type Remains, readSecret, type SecretTexts, writeSecret } from "./content.ts";
import { makeCertificates } from "./make.ts";
import { type CertificatePlan, type Found, planCertificates, type Usable } from "./plan.ts";
import { planLifetimes } from "./settings.ts";
import { DAY_MS } from "./test-keeping.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const settings = planLifetimes(["hooks.default.svc", "10.1.2.3"]);

function ours(texts: SecretTexts): Found {
  return { state: "ours", remains: readSecret(texts) };
}

function written(now: number, plan: CertificatePlan): SecretTexts {
  if (!plan.write) throw new Error("the plan writes nothing");
  return writeSecret(makeCertificates(now, plan.write, settings));
}

function first(): SecretTexts {
  return written(NOW, planCertificates(NOW, { state: "absent" }, undefined, settings));
}

function used({ use }: CertificatePlan): Usable {
  if (!use) throw new Error("the plan uses nothing");
  return use;
}

interface Moment {
  readonly texts: SecretTexts;
  readonly now: number;
}

/** Goes on from one thing to do to the next until `found` says yes. */
function renewUntil(found: (texts: SecretTexts) => boolean, from: Moment = { texts: first(), now: NOW }): Moment {
  let { texts, now } = from;
  for (let steps = 0; steps < 200; steps++) {
    const plan = planCertificates(now, ours(texts), undefined, settings);
    if (plan.write) texts = written(now, plan);
    if (found(texts)) return { texts, now };
    if (!plan.write) now = Math.ceil(plan.nextAt);
  }
  throw new Error("it never came to that");
}

const remainsOf = (texts: SecretTexts): Remains => readSecret(texts);
const issuerOf = (texts: SecretTexts): Keyed | undefined => remainsOf(texts).issuer;

describe("the plan for certificates", () => {
  it("makes an authority and a certificate where there is no Secret", () => {
    const plan = planCertificates(NOW, { state: "absent" }, undefined, settings);
    expect(plan).toMatchObject({ use: undefined, write: { why: "there is no Secret yet", issuer: "new" } });
    const texts = written(NOW, plan);
    expect(Object.keys(texts)).toEqual(["tls.crt", "tls.key", "ca.crt", "ca.key"]);
    const { leaf, issuer, damage } = remainsOf(texts);
    expect(damage).toEqual([]);
    expect(leaf && namesOf(leaf)).toEqual(["hooks.default.svc", "10.1.2.3"]);
    expect([leaf?.notAfter, issuer?.notAfter]).toEqual([NOW + 90 * DAY_MS, NOW + 730 * DAY_MS]);
  });

  it("leaves a Secret alone until two thirds of the certificate's life are over, then renews it with the same authority", () => {
    const texts = first();
    const early = planCertificates(NOW + 59 * DAY_MS, ours(texts), undefined, settings);
    expect(early.write).toBeUndefined();
    expect(early.nextAt).toBeLessThan(NOW + 60 * DAY_MS);
    const late = planCertificates(NOW + 60 * DAY_MS, ours(texts), undefined, settings);
    expect(late.write).toMatchObject({ why: "two thirds of the certificate's life are over", staged: undefined });
    const renewed = written(NOW + 60 * DAY_MS, late);
    expect(renewed["ca.crt"]).toBe(texts["ca.crt"]);
    expect(renewed["tls.crt"]).not.toBe(texts["tls.crt"]);
  });

  it("announces a successor with a certificate of the old authority, and lets it sign with the next one", () => {
    const announced = renewUntil((texts) => texts[KEYS.nextCert] !== undefined);
    const before = remainsOf(announced.texts);
    expect(announced.now - NOW).toBeGreaterThanOrEqual(486 * DAY_MS);
    expect(before.leaf?.certificate.checkIssued(before.issuer?.certificate as never)).toBe(true);
    expect(used(planCertificates(announced.now, ours(announced.texts), undefined, settings)).caBundle).toBe(
      `${before.issuer?.pem}${before.staged?.pem}`,
    );
    const promoted = renewUntil((texts) => issuerOf(texts)?.fingerprint !== before.issuer?.fingerprint, announced);
    expect(promoted.now - announced.now).toBeGreaterThanOrEqual(59 * DAY_MS);
    const after = remainsOf(promoted.texts);
    expect(after).toMatchObject({ staged: undefined, retired: [{ until: promoted.now + 90 * DAY_MS }] });
    expect(after.leaf?.certificate.checkIssued(after.issuer?.certificate as never)).toBe(true);
  });

  it("believes the old authority until the last certificate that it signed is over, and no longer", () => {
    const { texts, now } = renewUntil((one) => one[KEYS.retired] !== undefined);
    const [old] = remainsOf(texts).retired;
    const bundleAt = (at: number) => used(planCertificates(at, ours(texts), undefined, settings)).caBundle;
    expect(bundleAt(now)).toContain(old?.pem);
    expect(bundleAt((old?.until ?? 0) - 1)).toContain(old?.pem);
    expect(planCertificates(now, ours(texts), undefined, settings).nextAt).toBeLessThanOrEqual(old?.until ?? 0);
    const later = renewUntil((one) => one[KEYS.retired] === undefined, { texts, now });
    expect(later.texts["ca.crt"]).not.toContain(old?.pem);
  });

  it("makes a certificate for more names, and keeps those that another replica wants", () => {
    const texts = first();
    const wanted = planLifetimes(["hooks.default.svc", "other.default.svc"]);
    const plan = planCertificates(NOW + DAY_MS, ours(texts), undefined, wanted);
    expect(plan.write).toMatchObject({
      why: "the certificate is not for other.default.svc",
      leaf: { names: ["hooks.default.svc", "other.default.svc", "10.1.2.3"] },
    });
    const both = writeSecret(makeCertificates(NOW + DAY_MS, plan.write as never, wanted));
    for (const one of [settings, wanted]) {
      expect(planCertificates(NOW + DAY_MS, ours(both), undefined, one).write).toBeUndefined();
    }
  });

  it("never touches a Secret of another party, and goes on with what it has", () => {
    const memory = readSecret(first());
    const plan = planCertificates(NOW, { state: "foreign" }, memory, settings);
    expect(plan).toMatchObject({ write: undefined, problem: "the Secret is not one of this operator" });
    expect(plan.use?.leaf.pem).toBe(memory.leaf?.pem);
    expect(planCertificates(NOW, { state: "foreign" }, undefined, settings).use).toBeUndefined();
  });

  it("writes down what it has in memory when the Secret is deleted or damaged", () => {
    const texts = first();
    const broken = { ...texts, "tls.key": "nonsense" };
    for (const found of [{ state: "absent" } as const, ours(broken)]) {
      const plan = planCertificates(NOW, found, readSecret(texts), settings);
      expect(written(NOW, plan)).toEqual(texts);
      expect(plan.use?.leaf.pem).toBe(texts["tls.crt"]);
    }
  });
});

describe("a damaged Secret", () => {
  const nonsense = "nonsense";
  const other = first();

  it("without a certificate gets one of the same authority", () => {
    for (const harm of [
      { "tls.crt": nonsense },
      { "tls.key": nonsense },
      { "tls.key": other["tls.key"] },
      { "tls.crt": "" },
    ]) {
      const texts = first();
      const plan = planCertificates(NOW, ours({ ...texts, ...harm } as SecretTexts), undefined, settings);
      expect(plan.problem).toBe("the Secret is damaged: tls.crt and tls.key are not a certificate and its key");
      expect(written(NOW, plan)["ca.crt"]).toBe(texts["ca.crt"]);
    }
  });

  it("without the key of its authority keeps the certificate, until API servers know the new authority", () => {
    const texts: SecretTexts = { ...first(), "ca.key": nonsense };
    const plan = planCertificates(NOW + DAY_MS, ours(texts), undefined, settings);
    expect(plan.use?.leaf.pem).toBe(texts["tls.crt"]);
    const repaired = written(NOW + DAY_MS, plan);
    expect(repaired["tls.crt"]).toBe(texts["tls.crt"]);
    expect(repaired["ca.crt"]).toContain(texts["ca.crt"]);
    const next = planCertificates(NOW + DAY_MS, ours(repaired), undefined, settings);
    expect(next).toMatchObject({ write: undefined, problem: undefined });
    expect(next.use?.caBundle).toContain(texts["ca.crt"]);
  });

  it("whose authority is lost when its certificate is due lets the new one be known for a day before it signs", () => {
    const texts: SecretTexts = { ...first(), "ca.key": nonsense };
    const now = NOW + 70 * DAY_MS;
    const repaired = written(now, planCertificates(now, ours(texts), undefined, settings));
    expect(repaired["tls.crt"]).toBe(texts["tls.crt"]);
    const soon = planCertificates(now + DAY_MS / 2, ours(repaired), undefined, settings);
    expect([soon.write, soon.nextAt]).toEqual([undefined, now + DAY_MS]);
    const then = planCertificates(now + DAY_MS, ours(repaired), undefined, settings);
    const renewed = remainsOf(written(now + DAY_MS, then));
    expect(renewed.leaf?.certificate.checkIssued(renewed.issuer?.certificate as never)).toBe(true);
  });

  it("of which nothing is left is made anew", () => {
    for (const texts of [{ "tls.crt": nonsense, "tls.key": nonsense }, { x: "y" }, { "ca.crt": nonsense }]) {
      const plan = planCertificates(NOW, ours(texts as unknown as SecretTexts), undefined, settings);
      expect(plan).toMatchObject({ use: undefined, write: { issuer: "new", leaf: { names: settings.names } } });
      expect(plan.problem).toContain("the Secret is damaged: ");
    }
  });

  it("forgets a successor that cannot be read, and an unreadable list of predecessors believes all of the bundle", () => {
    const announced = renewUntil((texts) => texts[KEYS.nextCert] !== undefined);
    const harmed = { ...announced.texts, [KEYS.nextKey]: nonsense };
    const again = remainsOf(written(announced.now, planCertificates(announced.now, ours(harmed), undefined, settings)));
    expect(again.staged?.fingerprint).not.toBe(remainsOf(announced.texts).staged?.fingerprint);
    const { texts, now } = renewUntil((one) => one[KEYS.retired] !== undefined);
    const [old] = remainsOf(texts).retired;
    const plan = planCertificates(now, ours({ ...texts, [KEYS.retired]: "{" }), undefined, settings);
    expect(plan.use?.caBundle).toContain(old?.pem);
    expect(remainsOf(written(now, plan)).retired.map(({ fingerprint }) => fingerprint)).toEqual([old?.fingerprint]);
  });

  it("is no reason to write again and again", () => {
    const keys = ["tls.crt", "tls.key", "ca.crt", "ca.key"];
    for (const key of keys) {
      const texts = written(NOW, planCertificates(NOW, ours({ ...first(), [key]: nonsense }), undefined, settings));
      expect(planCertificates(NOW, ours(texts), undefined, settings)).toMatchObject({
        write: undefined,
        problem: undefined,
      });
    }
  });
});

describe("an operator that was away", () => {
  it("for years makes an authority anew", () => {
    const plan = planCertificates(NOW + 1_000 * DAY_MS, ours(first()), undefined, settings);
    expect(plan).toMatchObject({ use: undefined, write: { issuer: "new", why: "the authority is over" } });
  });

  it("until shortly before its authority is over announces a successor and signs for as long as it can", () => {
    const now = NOW + 700 * DAY_MS;
    const plan = planCertificates(now, ours(first()), undefined, settings);
    expect(plan.write?.staged).toBe("new");
    const texts = written(now, plan);
    const { leaf, issuer } = remainsOf(texts);
    expect(leaf?.notAfter).toBe(issuer?.notAfter);
    const next = planCertificates(now + 25 * DAY_MS, ours(texts), undefined, settings);
    expect(next.write?.issuer).toMatchObject({ fingerprint: remainsOf(texts).staged?.fingerprint });
  });
});

describe("lifetimes", () => {
  it("that do not go together are refused", () => {
    expect(() => planLifetimes(["a"], { leaf: "90d", authority: "100d" })).toThrow("three of its certificates");
    expect(() => planLifetimes(["a"], { leaf: "1m", authority: "100d" })).toThrow("an hour at least");
  });

  it("need names that certificates can be for", () => {
    expect(() => planLifetimes([])).toThrow("A certificate for no name at all is of no use.");
    for (const name of ["Upper.Case", "a b", "https://x", "a..b", "*.x", ""]) {
      expect(() => planLifetimes([name])).toThrow("is neither a DNS name in lower case nor an IP address.");
    }
    expect(planLifetimes(["::1", "127.0.0.1", "localhost", "host.k3d.internal"]).names).toHaveLength(4);
  });
});
