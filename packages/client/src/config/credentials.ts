import { Buffer } from "node:buffer";
import type { Credentials, CredentialWait, Identity, TlsMaterial } from "./contract.ts";
import { AuthError } from "./errors.ts";
import type { RenewedFile } from "./files.ts";
import { allOrFirstFailure } from "./first-failure.ts";
import { SharedWork } from "./shared-work.ts";

export type { CredentialWait };

/** Text or bytes that are there already, or a file that is read again. */
export type Material = string | Buffer | RenewedFile | undefined;

/** What a program or an identity provider gave. */
export interface IssuedCredential {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** A source that hands out credentials for a while. */
export interface CredentialIssuer {
  /** The credential; a new one is made only when there is none that still holds. */
  get(o?: CredentialWait): Promise<IssuedCredential>;
  /** A new credential, or the one that is being made. */
  renew(o?: CredentialWait): Promise<IssuedCredential>;
}

/** What an identity is made of. */
export interface IdentityParts {
  readonly ca?: Material;
  readonly cert?: Material;
  readonly key?: Material;
  readonly token?: Material;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized: boolean;
  readonly issuer?: CredentialIssuer | undefined;
}

/**
 * Puts the identity together anew for each request, out of parts that are cached where they lie. As long as no part has
 * changed the identity is the same value: that is how a late 401 is told from one about the present credentials.
 */
export class PartsCredentials implements Credentials {
  readonly #parts: IdentityParts;
  readonly #files: readonly RenewedFile[];
  #last: Identity | undefined;
  /** Concurrent calls cause one renewal. */
  readonly #renewal = new SharedWork((signal) => this.#assemble({ now: true, signal }));

  constructor(parts: IdentityParts) {
    this.#parts = parts;
    this.#files = [parts.ca, parts.cert, parts.key, parts.token].filter(isFile);
  }

  /** What is read or made for a while has to be looked at again; the rest stays as it is. */
  known(): Identity | undefined {
    if (this.#parts.issuer !== undefined) return undefined;
    for (const file of this.#files) if (file.fresh === undefined) return undefined;
    return this.#last;
  }

  current(o: CredentialWait = {}): Promise<Identity> {
    return this.#assemble({ now: false, signal: o.signal });
  }

  async reload(what: "files" | "all" = "all", o: CredentialWait = {}): Promise<Identity> {
    return what === "all" ? this.#renewal.join(o.signal) : this.#assemble({ now: true, keepIssued: true, ...o });
  }

  async renew(rejected: Identity, o: CredentialWait = {}): Promise<boolean> {
    if (this.#last !== rejected) return true;
    return (await this.#renewal.join(o.signal)) !== rejected;
  }

  async #assemble(o: { now: boolean; keepIssued?: boolean; signal?: AbortSignal | undefined }): Promise<Identity> {
    const { issuer, servername, rejectUnauthorized } = this.#parts;
    const given = issuer ? await (o.now && !o.keepIssued ? issuer.renew(o) : issuer.get(o)) : undefined;
    const read = (part: Material) => (isFile(part) ? part.read(o) : part);
    const [ca, cert, key, token] = await allOrFirstFailure(
      [
        this.#parts.ca,
        given?.cert ?? this.#parts.cert,
        given?.key ?? this.#parts.key,
        given?.token ?? this.#parts.token,
      ].map(read),
    );
    const tls: TlsMaterial = { ca, cert, key, servername, rejectUnauthorized };
    const text = token === undefined ? undefined : token.toString().trim();
    const last = this.#last;
    const sameTls = last !== undefined && last.tls.ca === ca && last.tls.cert === cert && last.tls.key === key;
    if (last && sameTls && last.token === text) return last;
    checkToken(text);
    this.#last = { tls: last && sameTls ? last.tls : tls, ...(text ? { token: text } : {}) };
    return this.#last;
  }
}

function isFile(part: Material): part is RenewedFile {
  return typeof part === "object" && "read" in part;
}

function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\x20-\x7e]*$/.test(token)) return;
  throw new AuthError("the token has a line break or a character that cannot be sent to a server", {
    hint: "look at token or tokenFile of the user; a token is one line of plain letters",
  });
}

/** PEM out of base64 with or without line breaks; PEM that was not encoded is taken as it is. */
export function readPem(data: string): string {
  if (data.includes("-----BEGIN")) return data;
  return Buffer.from(data.replace(/\s+/g, ""), "base64").toString("utf8");
}
