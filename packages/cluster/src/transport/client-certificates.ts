import type { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket, type TlsOptions } from "node:tls";
import type { ClientCertificate } from "../api/index.ts";
import { readCertificates, type TrustedTime, trustedTime } from "./client-trust.ts";

/**
 * Asks clients for a certificate without insisting on one: many say who they are by a token. What is shown is checked
 * when a request comes, so that a wrong one gets an answer and not a broken connection; and it is checked here and not by
 * OpenSSL, which is told of no authority at all (see {@link trustedTime}).
 */
export function clientCertificateOptions(authorities: readonly string[] | undefined): TlsOptions {
  return authorities === undefined ? { ca: [] } : { requestCert: true, rejectUnauthorized: false, ca: [] };
}

/** So many certificates are remembered as good. */
const REMEMBERED = 1_000;

/** The certificates that clients showed when they connected, each read once for all requests of a connection. */
export class ClientCertificates {
  readonly #authorities: readonly X509Certificate[];
  readonly #now: () => number;
  readonly #known = new WeakMap<Socket, { readonly certificate: ClientCertificate | undefined }>();
  /**
   * By fingerprint, those for which a path to an authority was found. A client that takes up a session again shows its own
   * certificate alone, without those between it and the authority.
   */
  readonly #good = new Map<string, TrustedTime>();

  /** Throws when an authority is no certificate. */
  constructor(authorities: readonly string[], now: () => number) {
    this.#authorities = authorities.flatMap(readCertificates);
    this.#now = now;
  }

  of(socket: Socket): ClientCertificate | undefined {
    let known = this.#known.get(socket);
    if (!known) {
      known = { certificate: this.#read(socket) };
      this.#known.set(socket, known);
    }
    return known.certificate;
  }

  #read(socket: Socket): ClientCertificate | undefined {
    if (!(socket instanceof TLSSocket)) return undefined;
    const certificate = socket.getPeerCertificate();
    // Node has an empty object for none at all.
    if (!certificate?.subject) return undefined;
    const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
    return {
      commonName: [CN ?? ""].flat().at(-1) ?? "",
      organizations: [O ?? []].flat(),
      fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
      trusted: this.#isGood(socket),
    };
  }

  #isGood(socket: TLSSocket): boolean {
    const certificate = socket.getPeerX509Certificate();
    if (!certificate) return false;
    const id = certificate.fingerprint256;
    const time = this.#good.get(id) ?? trustedTime(certificate, shownBeside(certificate), this.#authorities);
    if (!time) return false;
    if (!this.#good.has(id)) {
      const oldest = this.#good.size >= REMEMBERED ? this.#good.keys().next() : undefined;
      if (oldest && !oldest.done) this.#good.delete(oldest.value);
      this.#good.set(id, time);
    }
    const now = this.#now();
    return time.from <= now && now <= time.until;
  }
}

/** So many of the certificates beside a client's own are looked at. */
const MOST_SHOWN = 16;

function shownBeside(certificate: X509Certificate): X509Certificate[] {
  const shown: X509Certificate[] = [];
  let next = certificate.issuerCertificate;
  while (next && shown.length < MOST_SHOWN) {
    shown.push(next);
    next = next.issuerCertificate;
  }
  return shown;
}
