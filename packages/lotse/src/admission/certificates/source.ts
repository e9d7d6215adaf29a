/** What everyone who gives the webhook server its certificate has in common. */

/** What a server needs to speak TLS. */
export interface ServingCredentials {
  /** The private key, PEM. */
  readonly key: string;
  /** The certificate, and behind it those between it and its authority, PEM. */
  readonly cert: string;
}

/** What is in use. */
export interface CertificateInUse {
  readonly credentials: ServingCredentials;
  /**
   * The authorities that API servers shall believe, PEM. Undefined: another party sees to that, or the certificate is
   * one that machines believe anyway; then no `caBundle` is registered.
   */
  readonly caBundle: string | undefined;
  /** When the certificate of the server is over. */
  readonly notAfter: Date;
}

/** How the certificate is. */
export interface CertificateHealth {
  /** When the certificate in use was made, and when it is over; undefined before there is one. */
  readonly notBefore: Date | undefined;
  readonly notAfter: Date | undefined;
  /** When the authority that signed it is over, where it is known. */
  readonly authorityNotAfter: Date | undefined;
  /** What is wrong now, in one sentence. */
  readonly problem: string | undefined;
}

/** Gives the server its certificate, and webhook configurations their `caBundle`. */
export interface CertificateSource {
  /** Resolves when there are credentials; rejects when there will be none, with an error that says what to do. */
  readonly ready: Promise<void>;
  /** What is in use now; throws before {@link ready}. */
  current(): CertificateInUse;
  /** Calls `listener` after each change; the function that it returns ends that. */
  onChange(listener: (now: CertificateInUse) => void): () => void;
  health(): CertificateHealth;
  /** Ends all waiting; nothing is written after it. */
  stop(): Promise<void>;
}
