import type { Client } from "@lotse/client";
import { type Clock, type Duration, durationMs } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import { CertificateKeeper } from "./keeper.ts";
import { type CertificateLifetimes, planLifetimes } from "./settings.ts";
import type { CertificateSource } from "./source.ts";
import { MemoryStore, SecretStore } from "./store.ts";

/** What all certificates that an operator makes itself go by. */
export interface LocalCertificateOptions {
  /** DNS names and addresses by which API servers reach the webhook server. */
  readonly names: readonly string[];
  readonly lifetimes?: CertificateLifetimes | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Ends everything, as `stop` does. */
  readonly signal: AbortSignal;
}

/** What certificates in a Secret need beside. */
export interface OwnCertificateOptions extends LocalCertificateOptions {
  readonly client: Client;
  readonly namespace: string;
  /** The Secret's name. */
  readonly secret: string;
  /** The operator's name, by which the Secret is known as its own. */
  readonly operator: string;
  /** How often to look whether another replica has written. Default a minute. */
  readonly poll?: Duration | undefined;
}

/**
 * An authority and a certificate of the operator's own, in one Secret that its replicas share: whoever writes first has
 * made them, all others take what is there.
 */
export function ownCertificates(options: OwnCertificateOptions): CertificateSource {
  const { client, namespace, secret, operator, names, lifetimes, poll = "1m" } = options;
  return new CertificateKeeper({
    ...options,
    store: new SecretStore(client, namespace, secret, operator),
    settings: planLifetimes(names, lifetimes),
    pollMs: durationMs(poll),
    place: `The Secret ${namespace}/${secret}`,
  });
}

/** The same for one process, in its memory: for `lotse dev`, and for tests. */
export function localCertificates(options: LocalCertificateOptions): CertificateSource {
  return new CertificateKeeper({
    ...options,
    store: new MemoryStore(),
    settings: planLifetimes(options.names, options.lifetimes),
    pollMs: durationMs("1h"),
    place: "The memory of this process",
  });
}
