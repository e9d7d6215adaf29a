import { createPublicKey, verify } from "node:crypto";
import { type DerValue, readDer, readOid } from "@lotse/client/certificates";
import type { SigningRequestFields } from "../controllers/index.ts";

const BLOCK = /-----BEGIN ((?:NEW )?CERTIFICATE REQUEST)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;
const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const SUBJECT_ALT_NAME = "2.5.29.17";
const HASHES: Readonly<Record<string, string | null>> = {
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  "1.3.101.112": null,
};

/** A request for a certificate, as far as an authority looks at it. */
export interface SigningRequest extends SigningRequestFields {
  /** The name of whom the certificate is about, as it was written. */
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  /** Other names, as they were written; undefined when there are none. */
  readonly altNames: Buffer | undefined;
}

/** Reads a request out of its PEM text. Throws with what is wrong about it, also when its sender does not have the key. */
export function readSigningRequest(pem: string): SigningRequest {
  const [, , base64] = BLOCK.exec(pem) ?? [];
  if (base64 === undefined) throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const [request] = readDer(Buffer.from(base64, "base64"));
  const [info, algorithm, signature] = request ? readDer(request.content) : [];
  const [, subject, key, attributes] = info ? readDer(info.content) : [];
  if (!info || !algorithm || !signature || !subject || !key) throw new Error("asn1: structure error");
  checkSignature(info, algorithm, signature, key);
  const altNames = altNamesOf(attributes);
  const names = altNames === undefined ? [] : readDer(readDer(altNames)[0]?.content ?? Buffer.alloc(0));
  const tagged = (tag: number) => names.filter((name) => (name.tag & 0x1f) === tag).map(({ content }) => content);
  return {
    subject: subject.whole,
    publicKey: key.whole,
    altNames,
    commonName: attributesOf(subject, COMMON_NAME).at(-1) ?? "",
    organizations: attributesOf(subject, ORGANIZATION),
    emails: tagged(1).map(String),
    dnsNames: tagged(2).map(String),
    uris: tagged(6).map(String),
    addresses: tagged(7).map((bytes) => [...bytes].join(".")),
  };
}

function checkSignature(info: DerValue, algorithm: DerValue, signature: DerValue, key: DerValue): void {
  const [id] = readDer(algorithm.content);
  const name = id ? readOid(id.content) : "";
  if (!Object.hasOwn(HASHES, name)) throw new Error(`x509: cannot verify signature: algorithm ${name} unimplemented`);
  const publicKey = createPublicKey({ key: key.whole, format: "der", type: "spki" });
  // The first byte of bits tells how many of the last are unused: none here.
  if (verify(HASHES[name] ?? null, info.whole, publicKey, signature.content.subarray(1))) return;
  throw new Error("unable to verify certificate request signature: crypto: verification error");
}

/** The values of one attribute of a name. */
function attributesOf(name: DerValue, wanted: string): string[] {
  return readDer(name.content)
    .flatMap((set) => readDer(set.content))
    .flatMap((pair) => {
      const [id, value] = readDer(pair.content);
      return id && value && readOid(id.content) === wanted ? [value.content.toString("utf8")] : [];
    });
}

function altNamesOf(attributes: DerValue | undefined): Buffer | undefined {
  for (const attribute of attributes ? readDer(attributes.content) : []) {
    const [id, values] = readDer(attribute.content);
    if (!id || !values || readOid(id.content) !== EXTENSION_REQUEST) continue;
    const extensions = readDer(values.content).flatMap((list) => readDer(list.content));
    for (const extension of extensions) {
      const [type, ...rest] = readDer(extension.content);
      if (type && readOid(type.content) === SUBJECT_ALT_NAME) return rest.at(-1)?.content;
    }
  }
  return undefined;
}
