import { X509Certificate } from "node:crypto";
import { readPem } from "@lotse/client/certificates";
import type { Clock, VirtualClock } from "@lotse/client/meta";
import { Logger, type LogRecord } from "../../report/index.ts";
import type { SecretTexts } from "./content.ts";
import { CertificateKeeper, type KeeperOptions } from "./keeper.ts";
import { planLifetimes } from "./settings.ts";
import type { CertificateInUse } from "./source.ts";
import type { CertificateStore, Stored } from "./store.ts";

/** The name that the certificates of these tests are for. */
export const NAME = "hooks.default.svc";
/** An hour in milliseconds. */
export const HOUR_MS = 3_600_000;
/** A day in milliseconds. */
export const DAY_MS = 24 * HOUR_MS;

/** A Secret that several replicas share, with the rule of versions that API servers have. */
export class SharedSecret {
  texts: SecretTexts | undefined;
  isOurs = true;
  writes = 0;
  version = 0;

  put(texts: SecretTexts | undefined): void {
    this.texts = texts;
    this.version++;
  }

  /** The Secret as one replica sees it. `strike` is asked before and after each write that would succeed. */
  seenBy(strike: (when: "before" | "after") => Promise<void> = async () => undefined): CertificateStore {
    const { read, write } = this;
    return {
      read: async () => read.call(this),
      write: async (texts, version) => {
        const isFirst = () => (version === undefined ? this.texts === undefined : version === String(this.version));
        if (!isFirst()) return false;
        await strike("before");
        if (!isFirst()) return false;
        write.call(this, texts);
        await strike("after");
        return true;
      },
    };
  }

  private read(): Stored | undefined {
    return this.texts && { isOurs: this.isOurs, texts: this.texts, version: String(this.version) };
  }

  private write(texts: SecretTexts): void {
    this.writes++;
    this.put(texts);
  }
}

/** A keeper of certificates, and what it has logged. */
export interface Kept {
  readonly keeper: CertificateKeeper;
  readonly log: LogRecord[];
  readonly changes: CertificateInUse[];
}

/** A keeper as one replica has it. */
export function keep(clock: Clock, store: CertificateStore, options: Partial<KeeperOptions> = {}): Kept {
  const log: LogRecord[] = [];
  const keeper = new CertificateKeeper({
    store,
    settings: planLifetimes([NAME]),
    pollMs: HOUR_MS,
    clock,
    random: () => 0.5,
    logger: new Logger(
      (record) => log.push(record),
      () => clock.now(),
    ),
    signal: new AbortController().signal,
    place: "The Secret default/hooks",
    ...options,
  });
  const changes: CertificateInUse[] = [];
  keeper.onChange((now) => changes.push(now));
  return { keeper, log, changes };
}

/** A clock that is ahead of another one, or behind. */
export function skewed(clock: VirtualClock, ms: number): Clock {
  return {
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic(),
    after: (delay, fn) => clock.after(delay, fn),
  };
}

/** A client that goes by the rules of X.509: the dates, the name, and an authority of the bundle that signed. */
export class StrictClient {
  readonly #read = new Map<string, X509Certificate[]>();
  readonly #signed = new Map<string, X509Certificate | undefined>();

  /** What it has against a server; undefined: nothing. */
  objection(now: number, { credentials }: CertificateInUse, caBundle: string | undefined): string | undefined {
    if (caBundle === undefined) return "no bundle is registered";
    const [leaf] = this.#certificates(credentials.cert);
    if (!leaf) return "there is no certificate";
    const authority = this.#authorityOf(leaf, credentials.cert, caBundle);
    if (!authority) return "x509: certificate signed by unknown authority";
    for (const one of [leaf, authority]) {
      if (now < Date.parse(one.validFrom)) return `${one.subject} is not yet valid`;
      if (now > Date.parse(one.validTo)) return `${one.subject} has expired`;
    }
    return undefined;
  }

  #authorityOf(leaf: X509Certificate, cert: string, caBundle: string): X509Certificate | undefined {
    const key = `${cert}${caBundle}`;
    if (!this.#signed.has(key)) {
      const isFor = leaf.checkHost(NAME) !== undefined;
      const authorities = this.#certificates(caBundle).filter(({ ca }) => ca);
      const found = authorities.find((one) => leaf.checkIssued(one) && leaf.verify(one.publicKey));
      this.#signed.set(key, isFor ? found : undefined);
    }
    return this.#signed.get(key);
  }

  #certificates(pem: string): X509Certificate[] {
    let known = this.#read.get(pem);
    if (!known) {
      known = readPem(pem).map(({ text }) => new X509Certificate(text));
      this.#read.set(pem, known);
    }
    return known;
  }
}
