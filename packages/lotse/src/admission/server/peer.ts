import { TLSSocket } from "node:tls";

/** The certificate that a client showed when it connected. */
export interface PeerCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Names and addresses it is good for, as `DNS:…, IP Address:…`. */
  readonly subjectAltName: string | undefined;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256, hexadecimal, without colons. */
  readonly fingerprint: string;
  /** Whether it is good now and an authority signed it that this server was told to believe. */
  readonly verified: boolean;
}

/** The certificates of clients, each read once for all requests of its connection. */
export class Peers {
  readonly #known = new WeakMap<object, { readonly peer: PeerCertificate | undefined }>();

  of(socket: object): PeerCertificate | undefined {
    let known = this.#known.get(socket);
    if (!known) {
      known = { peer: socket instanceof TLSSocket ? readPeer(socket) : undefined };
      this.#known.set(socket, known);
    }
    return known.peer;
  }
}

function readPeer(socket: TLSSocket): PeerCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  // Node has an empty object for none at all.
  if (!certificate?.subject) return undefined;
  const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  return {
    commonName: [CN ?? ""].flat().at(-1) ?? "",
    organizations: [O ?? []].flat(),
    subjectAltName: certificate.subjectaltname,
    issuer: [certificate.issuer?.CN ?? ""].flat().at(-1) ?? "",
    notBefore: new Date(certificate.valid_from),
    notAfter: new Date(certificate.valid_to),
    fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    verified: socket.authorized,
  };
}
