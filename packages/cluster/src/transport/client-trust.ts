import { X509Certificate } from "node:crypto";

/** For how long a certificate is good, in milliseconds since 1970. */
export interface TrustedTime {
  readonly from: number;
  readonly until: number;
}

/** `clientAuth`, and the one that stands for every use. */
const CLIENT_USES = ["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"];
/** So many certificates may stand between a client's and an authority's. */
const LONGEST_CHAIN = 8;

/** The certificates in a text of PEM blocks. Throws where there is none, or one that cannot be read. */
export function readCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (!blocks) throw new Error("an authority for clients is a certificate in PEM, and there is none");
  return blocks.map((block) => new X509Certificate(block));
}

/**
 * When a client's certificate is good: from it a path of signatures leads to one of the authorities, by way of the other
 * certificates that the client has shown. Undefined where no path does. That the client has the key is TLS's affair.
 *
 * OpenSSL would do this while clients connect, but Node.js then reads its 140 well-known authorities first, of which none
 * may say who a client is: 50 ms at the start of each server.
 */
export function trustedTime(
  certificate: X509Certificate,
  shown: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): TrustedTime | undefined {
  let current = certificate;
  let time: TrustedTime = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  for (let length = 0; length <= LONGEST_CHAIN; length++) {
    if (!isForClients(current)) return undefined;
    time = within(time, current);
    const found = current;
    if (authorities.some(({ raw }) => raw.equals(found.raw))) return time;
    const authority = authorities.find((candidate) => isIssuer(candidate, found));
    if (authority) return isForClients(authority) ? within(time, authority) : undefined;
    const next = shown.find((candidate) => !candidate.raw.equals(found.raw) && isIssuer(candidate, found));
    if (!next) return undefined;
    current = next;
  }
  return undefined;
}

function isIssuer(issuer: X509Certificate, issued: X509Certificate): boolean {
  try {
    return issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey);
  } catch {
    // A key of a sort that cannot have signed it.
    return false;
  }
}

/** A certificate that names no uses is good for all. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const uses = keyUsage as readonly string[] | undefined;
  return uses === undefined || uses.some((use) => CLIENT_USES.includes(use));
}

function within({ from, until }: TrustedTime, { validFrom, validTo }: X509Certificate): TrustedTime {
  return { from: Math.max(from, Date.parse(validFrom)), until: Math.min(until, Date.parse(validTo)) };
}
