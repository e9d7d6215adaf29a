import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { altNames } from "./alt-names.ts";
import {
  bits,
  boolean,
  type Der,
  explicit,
  implicit,
  octets,
  oid,
  sequence,
  setOf,
  time,
  unsigned,
  utf8,
} from "./der.ts";
import { readDer } from "./der-reader.ts";
import { readPem, writePem } from "./pem.ts";

/** A certificate with its private key, both as PEM text. */
export interface KeyAndCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** From when until when a certificate is good, in milliseconds since 1970; certificates know whole seconds. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** A certificate that an authority shall make, with a key of its own. */
export interface CertificateRequest {
  readonly commonName: string;
  /** Each becomes an `O` of the subject: a group, when the certificate authenticates a client. */
  readonly organizations?: readonly string[];
  /** IP addresses and DNS names that the certificate is good for. */
  readonly hosts?: readonly string[];
  readonly usage: "server" | "client";
  /** Default: from a day ago for ten years. */
  readonly validity?: Validity;
}

/** A certificate for a key that another party has. */
export interface CertificateTerms {
  /** Whom it is about, as a distinguished name in DER. */
  readonly subject: Der;
  /** The key, with what sort of key it is: SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer;
  /** What the key may be used for, by the numbers of RFC 5280; `bytes` may be empty. */
  readonly keyUsage: { readonly bytes: Buffer; readonly unused: number };
  /** Object identifiers of the purposes. */
  readonly purposes: readonly string[];
  /** Other names, as the extension has them. */
  readonly altNames: Der | undefined;
  /** It never goes beyond ten years from now. */
  readonly validity: Validity;
}

/** How an authority begins. */
export interface AuthorityOptions {
  /** An authority that is there already. Absent: a new one. */
  readonly kept?: KeyAndCertificate;
  /** When the certificate of a new one is good. Default: from a day ago for ten years. */
  readonly validity?: Validity;
}

const OID = {
  ecPublicKeySha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyId: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

const DAY_MS = 86_400_000;
/** Clients' clocks may be behind ours, so a certificate is already a day old when it is made. */
const BACKDATED_MS = DAY_MS;
const LIFETIME_MS = 3_650 * DAY_MS;

/**
 * A certificate authority on P-256: a fresh key pair and a signature cost well under a millisecond.
 *
 * @example
 * ```ts
 * const authority = new CertificateAuthority("my-ca", Date.now());
 * const { certPem, keyPem } = authority.issue({ commonName: "web", hosts: ["localhost"], usage: "server" });
 * ```
 */
export class CertificateAuthority {
  /** Its own certificate. */
  readonly certPem: string;
  readonly #name: Der;
  readonly #key: KeyObject;
  readonly #keyId: Buffer;
  readonly #now: number;

  /** `now` is real time whatever clock a program runs on: the TLS stacks on both ends look at the real one. */
  constructor(commonName: string, now: number, { kept, validity }: AuthorityOptions = {}) {
    const privateKey = kept
      ? createPrivateKey(kept.keyPem)
      : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
    this.#key = privateKey;
    this.#keyId = keyId(spki);
    this.#name = kept ? subjectOf(kept.certPem) : distinguishedName(commonName, []);
    this.#now = now;
    this.certPem =
      kept?.certPem ??
      writePem(
        "CERTIFICATE",
        this.#sign(
          this.#name,
          spki,
          [
            extension(OID.basicConstraints, sequence(boolean(true)), true),
            // digitalSignature, keyCertSign, cRLSign
            extension(OID.keyUsage, bits(Buffer.from([0b10000110]), 1), true),
            extension(OID.subjectKeyId, octets(this.#keyId)),
          ],
          validity ?? this.#usualValidity(),
        ),
      );
  }

  /** The authority that {@link toPem} wrote down. Throws when the text has no certificate or no key. */
  static fromPem(text: string, now: number): CertificateAuthority {
    const blocks = readPem(text);
    const certPem = blocks.find(({ label }) => label === "CERTIFICATE")?.text;
    const keyPem = blocks.find(({ label }) => label.endsWith("PRIVATE KEY"))?.text;
    if (certPem === undefined) throw new Error("there is no certificate in the text of an authority");
    if (keyPem === undefined) throw new Error("there is no private key in the text of an authority");
    return new CertificateAuthority("", now, { kept: { certPem, keyPem } });
  }

  /** Its certificate followed by its private key: all that it is. */
  toPem(): string {
    return `${this.certPem}${this.keyPem}`;
  }

  /** Its private key. */
  get keyPem(): string {
    return this.#key.export({ type: "pkcs8", format: "pem" }).toString();
  }

  /** A certificate with a new key. */
  issue(request: CertificateRequest): KeyAndCertificate {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    const extensions = [
      extension(OID.basicConstraints, sequence(), true),
      // digitalSignature
      extension(OID.keyUsage, bits(Buffer.from([0b10000000]), 7), true),
      extension(OID.extendedKeyUsage, sequence(oid(request.usage === "server" ? OID.serverAuth : OID.clientAuth))),
      extension(OID.subjectKeyId, octets(keyId(spki))),
      extension(OID.authorityKeyId, sequence(implicit(0, this.#keyId))),
    ];
    if (request.hosts?.length) extensions.push(extension(OID.subjectAltName, altNames(request.hosts)));
    const subject = distinguishedName(request.commonName, request.organizations ?? []);
    const validity = request.validity ?? this.#usualValidity();
    return {
      certPem: writePem("CERTIFICATE", this.#sign(subject, spki, extensions, validity)),
      keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    };
  }

  /** A certificate for a key that another party has, about the names that it asked for. */
  certify({ subject, publicKey, keyUsage, purposes, altNames, validity }: CertificateTerms): string {
    const { bytes, unused } = keyUsage;
    const extensions = [
      ...(bytes.length === 0 ? [] : [extension(OID.keyUsage, bits(bytes, unused), true)]),
      ...(purposes.length === 0 ? [] : [extension(OID.extendedKeyUsage, sequence(...purposes.map(oid)))]),
      extension(OID.basicConstraints, sequence(), true),
      extension(OID.authorityKeyId, sequence(implicit(0, this.#keyId))),
      ...(altNames === undefined ? [] : [extension(OID.subjectAltName, altNames)]),
    ];
    const until = Math.min(validity.until, this.#now + LIFETIME_MS);
    return writePem("CERTIFICATE", this.#sign(subject, publicKey, extensions, { from: validity.from, until }));
  }

  #usualValidity(): Validity {
    return { from: this.#now - BACKDATED_MS, until: this.#now + LIFETIME_MS };
  }

  #sign(subject: Der, spki: Buffer, extensions: readonly Der[], { from, until }: Validity): Der {
    const algorithm = sequence(oid(OID.ecPublicKeySha256));
    const serial = randomBytes(16);
    // A serial number must be positive and not zero.
    serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x01;
    const toBeSigned = sequence(
      explicit(0, unsigned(Buffer.from([2]))),
      unsigned(serial),
      algorithm,
      this.#name,
      sequence(time(from), time(until)),
      subject,
      spki,
      explicit(3, sequence(...extensions)),
    );
    return sequence(toBeSigned, algorithm, bits(sign("sha256", toBeSigned, this.#key)));
  }
}

/** The name of whom a certificate is about, byte by byte: verifiers compare it with the issuer of what was signed. */
function subjectOf(certPem: string): Der {
  const [certificate] = readDer(new X509Certificate(certPem).raw);
  const [toBeSigned] = certificate ? readDer(certificate.content) : [];
  const fields = toBeSigned ? readDer(toBeSigned.content) : [];
  // The version stands in front where it is not the first one.
  const subject = fields[0]?.tag === 0xa0 ? fields[5] : fields[4];
  if (!subject) throw new Error("asn1: structure error");
  return subject.whole;
}

function distinguishedName(commonName: string, organizations: readonly string[]): Der {
  const attribute = (type: string, value: string) => setOf(sequence(oid(type), utf8(value)));
  return sequence(...organizations.map((o) => attribute(OID.organization, o)), attribute(OID.commonName, commonName));
}

function extension(type: string, value: Der, critical = false): Der {
  return critical ? sequence(oid(type), boolean(true), octets(value)) : sequence(oid(type), octets(value));
}

function keyId(spki: Buffer): Buffer {
  return createHash("sha1").update(spki).digest();
}
