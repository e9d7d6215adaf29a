/** Keeps certificates that the operator makes itself: looks, plans, writes, and tells what is in use. */
import { type Clock, errorMessage, formatDuration, KubeError, Nap } from "@lotse/client/meta";
import { backoffMs, planBackoff } from "../../declare/index.ts";
import type { Logger } from "../../report/index.ts";
import { type Remains, readSecret, writeSecret } from "./content.ts";
import { SourceLife } from "./life.ts";
import { Listeners } from "./listeners.ts";
import { makeCertificates } from "./make.ts";
import { type CertificatePlan, FOREIGN, type Found, planCertificates, type Rewrite, type Usable } from "./plan.ts";
import type { CertificateSettings } from "./settings.ts";
import type { CertificateHealth, CertificateInUse, CertificateSource } from "./source.ts";
import type { CertificateStore, Stored } from "./store.ts";

/** What a keeper goes by. */
export interface KeeperOptions {
  readonly store: CertificateStore;
  readonly settings: CertificateSettings;
  /** How often it looks whether another replica has written. */
  readonly pollMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The place in words, for messages: `the Secret default/hooks`. */
  readonly place: string;
}

/** After a write that another replica was ahead of, one look is enough; more says that something is odd. */
const MOST_LOOKS = 5;

const RETRIES = planBackoff({ initial: "1s", max: "1m", jitter: 0.5 });

/** See the module comment. */
export class CertificateKeeper implements CertificateSource {
  readonly #options: KeeperOptions;
  readonly #life = new SourceLife();
  readonly #listeners = new Listeners();
  #memory: Remains | undefined;
  #usable: Usable | undefined;
  #problem: string | undefined;
  /** Of the last look that had nothing to write: until when no other look at the same version can find more. */
  #settled: { readonly version: string; readonly plan: CertificatePlan } | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#life.begin(() => this.#run(), options.signal);
  }

  get ready(): Promise<void> {
    return this.#life.ready;
  }

  current(): CertificateInUse {
    if (!this.#usable) throw new KubeError("There is no certificate for the webhook server yet.");
    return inUse(this.#usable);
  }

  onChange(listener: (now: CertificateInUse) => void): () => void {
    return this.#listeners.add(listener);
  }

  health(): CertificateHealth {
    const leaf = this.#usable?.leaf;
    const authorityNotAfter = this.#usable?.issuer?.notAfter;
    return {
      notBefore: leaf && new Date(leaf.notBefore),
      notAfter: leaf && new Date(leaf.notAfter),
      authorityNotAfter: authorityNotAfter === undefined ? undefined : new Date(authorityNotAfter),
      problem: this.#problem,
    };
  }

  stop(): Promise<void> {
    return this.#life.stop();
  }

  async #run(): Promise<void> {
    const { clock, random, pollMs, logger } = this.#options;
    const { signal } = this.#life;
    for (let failures = 0; !signal.aborted; ) {
      let waitMs: number;
      try {
        const { nextAt } = await this.#look();
        failures = 0;
        const pauseMs = pollMs * (0.8 + 0.4 * random());
        const untilNext = nextAt - clock.now();
        // What was due and is not done could not be helped by another look at once.
        waitMs = Math.ceil(untilNext > 0 ? Math.min(pauseMs, untilNext) : pauseMs);
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof ForeignSecretError) {
          this.#life.fail(error);
          logger.error("the certificates of the webhook server cannot be kept", {
            error: error.message,
            hint: error.hint,
          });
          return;
        }
        waitMs = backoffMs(RETRIES, ++failures, random());
        this.#tell(error, waitMs);
      }
      const nap = new Nap(clock, signal);
      nap.endIn(waitMs);
      await nap.over;
    }
    this.#life.fail(new KubeError("The operator stopped before there was a certificate for its webhook server."));
  }

  #tell(error: unknown, waitMs: number): void {
    const text = errorMessage(error);
    const { hint } = (error ?? {}) as { hint?: string };
    const fields = { place: this.#options.place, error: text, hint, retryIn: formatDuration(waitMs) };
    const problem = `${this.#options.place} cannot be read or written: ${text}`;
    const isNew = this.#problem !== problem;
    this.#problem = problem;
    const message = "the certificates of the webhook server could not be looked at, will be tried again";
    this.#options.logger[isNew ? "warn" : "debug"](message, fields);
  }

  /** Reads, and writes until what is there is what shall be there. */
  async #look(): Promise<CertificatePlan> {
    const { store, clock, settings, logger, place } = this.#options;
    const { signal } = this.#life;
    for (let looks = 1; ; looks++) {
      const stored = await store.read(signal);
      const { version, plan: last } = this.#settled ?? {};
      if (last && stored?.isOurs && stored.version === version && clock.now() < last.nextAt) {
        this.#problem = undefined;
        return last;
      }
      this.#settled = undefined;
      const found = foundIn(stored);
      const now = clock.now();
      const plan = planCertificates(now, found, this.#memory, settings);
      this.#note(plan);
      if (plan.use) this.#adopt(plan.use, found.state === "ours" && !plan.problem ? found.remains : this.#memory);
      if (!plan.write) {
        if (stored?.isOurs && plan.problem === undefined) this.#settled = { version: stored.version, plan };
        return plan;
      }
      const made = makeCertificates(now, plan.write, settings);
      if (await store.write(writeSecret(made), stored?.version, signal)) {
        this.#told(plan.write, place);
        const after = planCertificates(now, { state: "ours", remains: made }, undefined, settings);
        if (after.use) this.#adopt(after.use, made);
        this.#problem = undefined;
        return after;
      }
      logger.debug("another replica wrote the certificates of the webhook server first", { place });
      if (looks >= MOST_LOOKS) throw new KubeError(`${place} is changed by another program again and again`);
    }
  }

  #told({ why, issuer, staged, leaf }: Rewrite, place: string): void {
    const fields = {
      place,
      why,
      ...(issuer === "new" && { authority: "new" }),
      ...(staged === "new" && { announced: "a new authority" }),
      ...("names" in leaf && { names: leaf.names.join(", ") }),
    };
    this.#options.logger.info("the certificates of the webhook server are written", fields);
  }

  #note({ problem, use }: CertificatePlan): void {
    const { place, logger } = this.#options;
    const isForeign = problem === FOREIGN;
    if (isForeign && !use && !this.#usable) throw new ForeignSecretError(place);
    const text = problem === undefined ? undefined : `${place}: ${problem}`;
    if (text !== undefined && text !== this.#problem) {
      const message = isForeign
        ? "the Secret of the webhook server's certificates was replaced by a foreign one, those in memory stay in use"
        : "the Secret of the webhook server's certificates is damaged and will be made anew";
      logger.warn(message, { place, problem });
    }
    this.#problem = text;
  }

  #adopt(usable: Usable, remains: Remains | undefined): void {
    this.#memory = remains;
    const before = this.#usable;
    this.#usable = usable;
    if (before?.leaf.fingerprint === usable.leaf.fingerprint && before.caBundle === usable.caBundle) return;
    this.#life.becomeReady();
    this.#listeners.tell(inUse(usable), (error) => {
      this.#options.logger.error("a new certificate could not be taken into use", { error });
    });
  }
}

/** There is a Secret of this name, and it was not made by this operator. */
export class ForeignSecretError extends KubeError {
  override readonly code: string = "LOTSE_FOREIGN_SECRET";

  constructor(place: string) {
    super(`${place} is not one of this operator: it is neither used nor replaced.`, {
      hint: "Choose another name with webhooks.secret, or delete that Secret if nothing else needs it.",
    });
  }
}

function foundIn(stored: Stored | undefined): Found {
  if (!stored) return { state: "absent" };
  if (!stored.isOurs) return { state: "foreign" };
  // An empty one is a place that an administrator has prepared.
  const isEmpty = Object.values(stored.texts).every((text) => text === "");
  return isEmpty ? { state: "absent" } : { state: "ours", remains: readSecret(stored.texts) };
}

function inUse({ leaf, caBundle }: Usable): CertificateInUse {
  return {
    credentials: { key: leaf.keyPem, cert: leaf.pem },
    caBundle,
    notAfter: new Date(leaf.notAfter),
  };
}
