import type { Socket } from "node:net";
import { TLSSocket, type TlsOptions } from "node:tls";
import type { ClientCertificate } from "../api/index.ts";

/**
 * Asks clients for a certificate without insisting on one: many say who they are by a token. What is shown is checked
 * when a request comes, so that a wrong one gets an answer and not a broken connection.
 */
export function clientCertificateOptions(authorities: readonly string[] | undefined): TlsOptions {
  return authorities === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: [...authorities] };
}

/** The certificates that clients showed when they connected, each read once for all requests of a connection. */
export class ClientCertificates {
  readonly #known = new WeakMap<Socket, { readonly certificate: ClientCertificate | undefined }>();

  of(socket: Socket): ClientCertificate | undefined {
    let known = this.#known.get(socket);
    if (!known) {
      known = { certificate: read(socket) };
      this.#known.set(socket, known);
    }
    return known.certificate;
  }
}

function read(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerCertificate();
  // Node has an empty object for none at all.
  if (!certificate?.subject) return undefined;
  const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  return {
    commonName: [CN ?? ""].flat().at(-1) ?? "",
    organizations: [O ?? []].flat(),
    fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    trusted: socket.authorized,
  };
}
