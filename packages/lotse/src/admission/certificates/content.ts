/**
 * What the Secret holds: the server's certificate, the authority that signs, its successor once it is announced, and
 * predecessors for as long as a certificate of theirs may be in use. `tls.crt`, `tls.key` and `ca.crt` are where all
 * who read such Secrets look for them. Reading is lenient: whatever is still good of a damaged Secret is used.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { readPem } from "@lotse/client/certificates";

/** The keys of the Secret's data. */
export const KEYS = {
  cert: "tls.crt",
  key: "tls.key",
  bundle: "ca.crt",
  authorityKey: "ca.key",
  nextCert: "next-ca.crt",
  nextKey: "next-ca.key",
  retired: "retired.json",
} as const;

/** The Secret's data as texts. */
export type SecretTexts = Readonly<Record<string, string>>;

/** A certificate that was read. */
export interface ReadCertificate {
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly fingerprint: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** One with its private key. */
export interface Keyed extends ReadCertificate {
  readonly keyPem: string;
}

/** A predecessor. */
export interface Retired extends ReadCertificate {
  /** When the last certificate that it signed is over. */
  readonly until: number;
}

/** What could be read of a Secret. */
export interface Remains {
  readonly leaf: Keyed | undefined;
  readonly issuer: Keyed | undefined;
  readonly staged: Keyed | undefined;
  readonly retired: readonly Retired[];
  /** Authorities that are in the bundle and of which nothing else is known. */
  readonly unexplained: readonly ReadCertificate[];
  /** What is wrong with it, in words for a log. */
  readonly damage: readonly string[];
}

/** Reads what the Secret holds. Never throws. */
export function readSecret(texts: SecretTexts): Remains {
  const damage: string[] = [];
  const note = (what: string) => {
    damage.push(what);
    return undefined;
  };
  const bundle = certificatesIn(texts[KEYS.bundle] ?? "");
  if (bundle === undefined || bundle.length === 0) note(`${KEYS.bundle} has no certificate that can be read`);
  const leaf = keyed(certificatesIn(texts[KEYS.cert] ?? ""), texts[KEYS.key]) ?? note(pairDamage(KEYS.cert, KEYS.key));
  const issuer = keyed(bundle, texts[KEYS.authorityKey]) ?? note(pairDamage(KEYS.bundle, KEYS.authorityKey));
  const hasNext = (texts[KEYS.nextCert] ?? "") !== "" || (texts[KEYS.nextKey] ?? "") !== "";
  const staged = hasNext
    ? (keyed(certificatesIn(texts[KEYS.nextCert] ?? ""), texts[KEYS.nextKey]) ??
      note(pairDamage(KEYS.nextCert, KEYS.nextKey)))
    : undefined;
  const retired = readRetired(texts[KEYS.retired]) ?? note(`${KEYS.retired} cannot be read`) ?? [];
  const explained = new Set([issuer, staged, ...retired].map((one) => one?.fingerprint));
  const unexplained = (bundle ?? []).filter(({ fingerprint }) => !explained.has(fingerprint));
  return { leaf, issuer, staged, retired, unexplained, damage };
}

function pairDamage(cert: string, key: string): string {
  return `${cert} and ${key} are not a certificate and its key`;
}

/** The texts of what a Secret shall hold. */
export function writeSecret({
  leaf,
  issuer,
  staged,
  retired,
}: {
  readonly leaf: Keyed;
  readonly issuer: Keyed;
  readonly staged: Keyed | undefined;
  readonly retired: readonly Retired[];
}): SecretTexts {
  const bundle = [issuer, ...(staged ? [staged] : []), ...retired];
  const past = retired.map(({ pem, until }) => ({ certificate: pem, until: new Date(until).toISOString() }));
  return {
    [KEYS.cert]: leaf.pem,
    [KEYS.key]: leaf.keyPem,
    [KEYS.bundle]: bundle.map(({ pem }) => pem).join(""),
    [KEYS.authorityKey]: issuer.keyPem,
    ...(staged && { [KEYS.nextCert]: staged.pem, [KEYS.nextKey]: staged.keyPem }),
    ...(past.length > 0 && { [KEYS.retired]: JSON.stringify(past) }),
  };
}

/** A certificate and what is asked of it often. */
export function readCertificate(pem: string): ReadCertificate {
  const certificate = new X509Certificate(pem);
  return {
    pem,
    certificate,
    fingerprint: certificate.fingerprint256,
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  };
}

/** All certificates of a text; undefined when one of them cannot be read. */
export function certificatesIn(text: string): ReadCertificate[] | undefined {
  try {
    const blocks = readPem(text).filter(({ label }) => label === "CERTIFICATE");
    return blocks.map(({ text: pem }) => readCertificate(pem));
  } catch {
    return undefined;
  }
}

/** The one of some certificates that belongs to a key. */
export function keyed(
  certificates: readonly ReadCertificate[] | undefined,
  keyPem: string | undefined,
): Keyed | undefined {
  const key = readKey(keyPem);
  if (!key || keyPem === undefined) return undefined;
  const found = certificates?.find(({ certificate }) => certificate.checkPrivateKey(key));
  return found && { ...found, keyPem };
}

function readKey(pem: string | undefined): KeyObject | undefined {
  try {
    return pem === undefined ? undefined : createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function readRetired(text: string | undefined): Retired[] | undefined {
  if (text === undefined || text === "") return [];
  try {
    const entries = JSON.parse(text) as { certificate: string; until: string }[];
    return entries.map(({ certificate, until }) => {
      const at = Date.parse(until);
      if (Number.isNaN(at)) throw new Error("no time");
      return { ...readCertificate(certificate), until: at };
    });
  } catch {
    return undefined;
  }
}

/** Whether `authority` has signed `leaf`. */
export function hasSigned(authority: ReadCertificate, leaf: ReadCertificate): boolean {
  return (
    leaf.certificate.checkIssued(authority.certificate) && leaf.certificate.verify(authority.certificate.publicKey)
  );
}

/** Whether a certificate is good for a DNS name or an address. */
export function isFor({ certificate }: ReadCertificate, name: string): boolean {
  const found = isIP(name) === 0 ? certificate.checkHost(name, { subject: "never" }) : certificate.checkIP(name);
  return found !== undefined;
}

/** The DNS names and addresses that a certificate is good for. */
export function namesOf({ certificate }: ReadCertificate): string[] {
  const entries = certificate.subjectAltName?.split(", ") ?? [];
  return entries.map((entry) => entry.replace(/^(?:DNS|IP Address):/, ""));
}
