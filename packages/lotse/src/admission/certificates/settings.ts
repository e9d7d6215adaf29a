import { isIP } from "node:net";
import { ConfigError, type Duration, durationMs } from "@lotse/client/meta";

/** How long certificates live. */
export interface CertificateLifetimes {
  /**
   * The server's certificate, which is renewed after two thirds of it. Default 90 days: the operator may be away for a
   * month before it is over, and a stolen key is good for no longer.
   */
  readonly leaf?: Duration | undefined;
  /** The authority, whose successor is announced after two thirds of it. Default two years; at least three leaves. */
  readonly authority?: Duration | undefined;
}

/** What certificates are planned by, in milliseconds. */
export interface CertificateSettings {
  readonly leafMs: number;
  readonly authorityMs: number;
  /** How long a successor is known to API servers before it signs anything. */
  readonly settledMs: number;
  /** Certificates begin so long before they are made, for those whose clocks are behind. */
  readonly backdatedMs: number;
  /** DNS names and addresses that the server has. */
  readonly names: readonly string[];
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const DNS_NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Fills in the defaults. Throws when the lifetimes do not go together. */
export function planLifetimes(names: readonly string[], lifetimes: CertificateLifetimes = {}): CertificateSettings {
  const leafMs = durationMs(lifetimes.leaf ?? "90d");
  const authorityMs = durationMs(lifetimes.authority ?? 730 * DAY_MS);
  if (names.length === 0) {
    throw new ConfigError("A certificate for no name at all is of no use.", {
      hint: "Say how the API server reaches the webhook server: its service, its url, or its host.",
    });
  }
  const strange = names.find((name) => isIP(name) === 0 && !DNS_NAME.test(name));
  if (strange !== undefined) {
    throw new ConfigError(`${JSON.stringify(strange)} is neither a DNS name in lower case nor an IP address.`, {
      hint: "Say how the API server reaches the webhook server, for instance hooks.example.com or 10.0.0.5.",
    });
  }
  if (leafMs < HOUR_MS || authorityMs < 3 * leafMs) {
    throw new ConfigError("An authority has to live for three of its certificates, and these for an hour at least.", {
      hint: 'Leave both lifetimes out, or write for instance { leaf: "90d", authority: "730d" }.',
    });
  }
  return { leafMs, authorityMs, settledMs: Math.min(DAY_MS, leafMs / 4), backdatedMs: HOUR_MS, names };
}
