import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { isRecord } from "../registry/index.ts";

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

/** What a token says without anybody having looked at its signature; undefined when it is none. */
export function readClaims(token: string): Claims | undefined {
  const parts = token.split(".");
  return parts.length === 3 ? decode(parts[1] as string) : undefined;
}

/** Signs JSON Web Tokens with ES256, and checks those that it signed. */
export class TokenSigner {
  readonly #id: string;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor(pem: string) {
    this.#privateKey = createPrivateKey(pem);
    this.#publicKey = createPublicKey(this.#privateKey);
    const der = this.#publicKey.export({ type: "spki", format: "der" });
    this.#id = createHash("sha256").update(der).digest("base64url");
  }

  /** The public half as a JSON Web Key. */
  jwk(): Record<string, unknown> {
    const { kty, crv, x, y } = this.#publicKey.export({ format: "jwk" });
    return { use: "sig", kty, kid: this.#id, crv, alg: "ES256", x, y };
  }

  sign(claims: Claims): string {
    const signed = `${encode({ alg: "ES256", kid: this.#id })}.${encode(claims)}`;
    const signature = sign("sha256", Buffer.from(signed), { key: this.#privateKey, dsaEncoding: "ieee-p1363" });
    return `${signed}.${signature.toString("base64url")}`;
  }

  /** What is wrong with a token's signature; undefined when nothing is. */
  complaint(token: string): string | undefined {
    const [header = "", payload = "", signature = ""] = token.split(".");
    const { kid } = decode(header) ?? {};
    if (kid !== undefined && kid !== this.#id) return "invalid signature, no keys found";
    const key = { key: this.#publicKey, dsaEncoding: "ieee-p1363" } as const;
    const good = verify("sha256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"));
    return good ? undefined : "go-jose/go-jose: error in cryptographic primitive";
  }
}
