import { X509Certificate } from "node:crypto";
import { type CertificateLimits, limitsOf, mayHaveSigned } from "./certificate-limits.ts";

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

/** So many signatures are looked at for one certificate, whatever its client shows. */
const MOST_SIGNATURES = 100;

/**
 * When a client's certificate is good: from it a path of signatures leads to one of the authorities, by way of the other
 * certificates that the client has shown, and each authority on it may have signed what is below. Undefined where no path
 * does. That the client has the key is TLS's affair.
 *
 * OpenSSL would do this while clients connect, but Node.js then reads its 140 well-known authorities first, of which none
 * may say who a client is: 50 ms at the start of each server.
 */
export function trustedTime(
  certificate: X509Certificate,
  shown: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): TrustedTime | undefined {
  const own = limitsIn(certificate);
  if (own === undefined || own.unknown || !isForClients(certificate)) return undefined;
  const time = within({ from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }, certificate);
  if (authorities.some(({ raw }) => raw.equals(certificate.raw))) return time;
  return new Search(shown, authorities).from([certificate], [own], time);
}

/** Looks for a path, also when the first one that offers itself leads to nothing. */
class Search {
  readonly #shown: readonly X509Certificate[];
  readonly #authorities: readonly X509Certificate[];
  #signatures = 0;

  constructor(shown: readonly X509Certificate[], authorities: readonly X509Certificate[]) {
    this.#shown = shown;
    this.#authorities = authorities;
  }

  from(
    chain: readonly X509Certificate[],
    limits: readonly CertificateLimits[],
    time: TrustedTime,
  ): TrustedTime | undefined {
    const current = chain.at(-1) as X509Certificate;
    for (const authority of this.#authorities) {
      if (this.#signed(authority, current, limits)) return within(time, authority);
    }
    if (chain.length > LONGEST_CHAIN) return undefined;
    for (const next of this.#shown) {
      if (chain.some(({ raw }) => raw.equals(next.raw))) continue;
      const own = this.#signed(next, current, limits);
      const found = own && this.from([...chain, next], [...limits, own], within(time, next));
      if (found) return found;
    }
    return undefined;
  }

  /** The limits of an authority that has signed this, and might: undefined when it has not, or may not. */
  #signed(
    issuer: X509Certificate,
    issued: X509Certificate,
    below: readonly CertificateLimits[],
  ): CertificateLimits | undefined {
    if (this.#signatures >= MOST_SIGNATURES || !isForClients(issuer)) return undefined;
    const limits = issuer.ca && issued.checkIssued(issuer) ? limitsIn(issuer) : undefined;
    if (limits === undefined || !mayHaveSigned(limits, below)) return undefined;
    this.#signatures++;
    return isSignedBy(issued, issuer) ? limits : undefined;
  }
}

function limitsIn({ raw }: X509Certificate): CertificateLimits | undefined {
  try {
    return limitsOf(raw);
  } catch {
    // What cannot be read to the end may say anything.
    return undefined;
  }
}

function isSignedBy(issued: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return issued.verify(issuer.publicKey);
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
