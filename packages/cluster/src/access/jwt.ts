import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { ConfigError } from "@lotse/client/meta";
import { isRecord } from "../registry/index.ts";

/** What a token says about its bearer. Nothing in it is believed before its signature is checked. */
export type Claims = Record<string, unknown>;

/** A key to sign tokens with, as PEM text. */
export function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function decode(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a token says, before its signature is checked; undefined when it is none. */
export function readClaims(token: string): Claims | undefined {
  const parts = token.split(".");
  return parts.length === 3 ? decode(parts[1] as string) : undefined;
}

/** A public key with the name that tokens call it by. */
interface KnownKey {
  readonly id: string;
  readonly algorithm: string;
  readonly hash: string;
  readonly key: KeyObject;
}

const CURVES: Readonly<Record<string, readonly [algorithm: string, hash: string]>> = {
  prime256v1: ["ES256", "sha256"],
  secp384r1: ["ES384", "sha384"],
  secp521r1: ["ES512", "sha512"],
};

function knownKey(key: KeyObject): KnownKey {
  const der = key.export({ type: "spki", format: "der" });
  const id = createHash("sha256").update(der).digest("base64url");
  const curve = key.asymmetricKeyDetails?.namedCurve ?? "";
  const [algorithm, hash] =
    key.asymmetricKeyType === "rsa" ? ["RS256", "sha256"] : Object.hasOwn(CURVES, curve) ? (CURVES[curve] ?? []) : [];
  if (algorithm === undefined || hash === undefined) {
    throw new ConfigError(`Tokens cannot be signed with a key of the type ${key.asymmetricKeyType} ${curve}.`, {
      hint: "Use an RSA key, or one on the curve P-256, P-384 or P-521.",
    });
  }
  return { id, algorithm, hash, key };
}

/** Signs JSON Web Tokens with an RSA or an elliptic key, and checks those of this key and of others that it is told. */
export class TokenSigner {
  readonly #privateKey: KeyObject;
  readonly #own: KnownKey;
  readonly #known: readonly KnownKey[];

  /** `others`: public keys or certificates whose tokens are good, too. */
  constructor(pem: string, others: readonly string[] = []) {
    this.#privateKey = createPrivateKey(pem);
    this.#own = knownKey(createPublicKey(this.#privateKey));
    const more = others.map((text) => knownKey(createPublicKey(text)));
    this.#known = [this.#own, ...more.filter(({ id }) => id !== this.#own.id)];
  }

  /** How its tokens are signed. */
  get algorithm(): string {
    return this.#own.algorithm;
  }

  /** The public halves as JSON Web Keys. */
  jwks(): Record<string, unknown>[] {
    return this.#known.map(({ id, algorithm, key }) => {
      const { kty, crv, x, y, n, e } = key.export({ format: "jwk" });
      const shape = kty === "RSA" ? { alg: algorithm, n, e } : { crv, alg: algorithm, x, y };
      return { use: "sig", kty, kid: id, ...shape };
    });
  }

  sign(claims: Claims): string {
    const { id, algorithm, hash } = this.#own;
    const signed = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`;
    const signature = sign(hash, Buffer.from(signed), { key: this.#privateKey, dsaEncoding: "ieee-p1363" });
    return `${signed}.${signature.toString("base64url")}`;
  }

  /** What is wrong with a token's signature; undefined when nothing is. */
  complaint(token: string): string | undefined {
    const [header = "", payload = "", signature = ""] = token.split(".");
    const { kid } = decode(header) ?? {};
    const keys = this.#known.filter(({ id }) => kid === undefined || kid === id);
    if (keys.length === 0) return "invalid signature, no keys found";
    const bytes = Buffer.from(signature, "base64url");
    const good = keys.some(({ hash, key }) =>
      verify(hash, Buffer.from(`${header}.${payload}`), { key, dsaEncoding: "ieee-p1363" }, bytes),
    );
    return good ? undefined : "go-jose/go-jose: error in cryptographic primitive";
  }
}
