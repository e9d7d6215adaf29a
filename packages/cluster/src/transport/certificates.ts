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
import type { SigningTerms } from "../controllers/index.ts";
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
import { keyUsageBits, purposesOf } from "./key-usages.ts";
import type { SigningRequest } from "./signing-requests.ts";

/** A certificate with its private key, both as PEM text. */
export interface KeyAndCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** Whom a certificate is for, and what it may be used for. */
export interface CertificateRequest {
  readonly commonName: string;
  /** Each becomes an `O` of the subject: a group, when the certificate authenticates a client. */
  readonly organizations?: readonly string[];
  /** IP addresses and DNS names that the certificate is good for. */
  readonly hosts?: readonly string[];
  readonly usage: "server" | "client";
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

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const CERTIFICATE_END = "-----END CERTIFICATE-----";
const DAY_MS = 86_400_000;
/** Clients' clocks may be behind ours, so a certificate is already a day old when it is made. */
const BACKDATED_MS = DAY_MS;
const LIFETIME_MS = 3_650 * DAY_MS;

/** A throw-away certificate authority on P-256: a fresh key pair and a signature cost well under a millisecond. */
export class CertificateAuthority {
  readonly certPem: string;
  readonly #name: Der;
  readonly #key: KeyObject;
  readonly #keyId: Buffer;
  readonly #now: number;

  /** `now` is real time whatever clock the cluster runs on: the TLS stacks on both ends look at the real one. */
  constructor(commonName: string, now: number, kept?: KeyAndCertificate) {
    const privateKey = kept
      ? createPrivateKey(kept.keyPem)
      : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
    this.#key = privateKey;
    this.#keyId = keyId(spki);
    this.#name = distinguishedName(commonName, []);
    this.#now = now;
    this.certPem =
      kept?.certPem ??
      pem(
        "CERTIFICATE",
        this.#sign(this.#name, spki, [
          extension(OID.basicConstraints, sequence(boolean(true)), true),
          // digitalSignature, keyCertSign, cRLSign
          extension(OID.keyUsage, bits(Buffer.from([0b10000110]), 1), true),
          extension(OID.subjectKeyId, octets(this.#keyId)),
        ]),
      );
  }

  /** The authority that {@link toPem} wrote down. */
  static fromPem(text: string, now: number): CertificateAuthority {
    const end = text.indexOf(CERTIFICATE_END) + CERTIFICATE_END.length + 1;
    const kept = { certPem: text.slice(0, end), keyPem: text.slice(end) };
    const [, commonName = ""] = /^CN=(.*)$/m.exec(new X509Certificate(kept.certPem).subject) ?? [];
    return new CertificateAuthority(commonName, now, kept);
  }

  /** Its certificate followed by its private key: all that it is. */
  toPem(): string {
    return `${this.certPem}${this.#key.export({ type: "pkcs8", format: "pem" })}`;
  }

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
    if (request.hosts?.length) extensions.push(extension(OID.subjectAltName, sequence(...request.hosts.map(altName))));
    const subject = distinguishedName(request.commonName, request.organizations ?? []);
    return {
      certPem: pem("CERTIFICATE", this.#sign(subject, spki, extensions)),
      keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    };
  }

  /** A certificate for a key that the requester has, about the names that it asked for. */
  certify({ subject, publicKey, altNames }: SigningRequest, terms: SigningTerms): string {
    const { bytes, unused } = keyUsageBits(terms.usages);
    const purposes = purposesOf(terms.usages);
    const extensions = [
      ...(bytes.length === 0 ? [] : [extension(OID.keyUsage, bits(bytes, unused), true)]),
      ...(purposes.length === 0 ? [] : [extension(OID.extendedKeyUsage, sequence(...purposes.map(oid)))]),
      extension(OID.basicConstraints, sequence(), true),
      extension(OID.authorityKeyId, sequence(implicit(0, this.#keyId))),
      ...(altNames === undefined ? [] : [extension(OID.subjectAltName, altNames)]),
    ];
    const end = Math.min(terms.notAfter, this.#now + LIFETIME_MS);
    return pem("CERTIFICATE", this.#sign(subject, publicKey, extensions, [terms.notBefore, end]));
  }

  #sign(
    subject: Der,
    spki: Buffer,
    extensions: readonly Der[],
    [from, until]: readonly [number, number] = [this.#now - BACKDATED_MS, this.#now + LIFETIME_MS],
  ): Der {
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

function distinguishedName(commonName: string, organizations: readonly string[]): Der {
  const attribute = (type: string, value: string) => setOf(sequence(oid(type), utf8(value)));
  return sequence(...organizations.map((o) => attribute(OID.organization, o)), attribute(OID.commonName, commonName));
}

function extension(type: string, value: Der, critical = false): Der {
  return critical ? sequence(oid(type), boolean(true), octets(value)) : sequence(oid(type), octets(value));
}

function altName(host: string): Der {
  // By their looks: the exact test of node:net takes longer than all the rest of the certificate.
  if (host.includes(":")) return implicit(7, ipv6Bytes(host));
  return IPV4.test(host) ? implicit(7, Buffer.from(host.split(".").map(Number))) : implicit(2, Buffer.from(host));
}

function ipv6Bytes(host: string): Buffer {
  const [head = "", tail] = host.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((g) => Number.parseInt(g, 16)));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function keyId(spki: Buffer): Buffer {
  return createHash("sha1").update(spki).digest();
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
