/** What people are told of a Lease: each thing once, until it changes. */
import { ForbiddenError, type StreamState } from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import type { Asked, LeaseState, LossReason } from "./machine.ts";
import { isOwn, type LeaseClaim } from "./record.ts";

const VERBS: Readonly<Record<Asked, string>> = {
  read: "get",
  take: "create, update",
  renew: "update",
  release: "update",
};

const WHY: Readonly<Record<LossReason, string>> = {
  taken: "another process has taken it",
  deleted: "it was deleted",
  late: "it was not renewed in time",
  released: "it was given back",
};

/** Why the Lease is no longer held, in words. */
export const lossText = (why: LossReason): string => WHY[why];

/** See the module comment. */
export class LeaseLog {
  readonly #logger: Logger;
  readonly #claim: LeaseClaim;
  /** The last holder that was told of. */
  #holder: string | undefined;
  #problem: string | undefined;
  #unwatched = false;

  constructor(logger: Logger, claim: LeaseClaim) {
    this.#claim = claim;
    this.#logger = logger.with({ lease: `${claim.namespace}/${claim.name}` });
  }

  /** What keeps the process from reading or writing the Lease; undefined: nothing. */
  get problem(): string | undefined {
    return this.#problem;
  }

  taken(): void {
    this.#holder = this.#claim.identity;
    this.#logger.info("the Lease is taken, this process leads", { identity: this.#claim.identity });
  }

  lost(why: LossReason, { observed }: LeaseState): void {
    if (why === "released") return;
    const holder = observed?.record?.holder;
    if (why === "taken") this.#holder = holder;
    this.#logger.warn("the Lease is lost, this process stands by", {
      why: lossText(why),
      ...(why === "taken" && { holder }),
      ...(why === "taken" && this.#isTwin(observed?.record) && { hint: TWIN }),
    });
  }

  /** What was seen of the Lease while it is not held. */
  seen({ observed }: LeaseState): void {
    const record = observed?.record;
    if (!record?.holder || isOwn(record, this.#claim)) return;
    if (record.holder === this.#holder && !this.#isTwin(record)) return;
    const isTwin = this.#isTwin(record);
    if (isTwin && this.#holder === TWIN) return;
    this.#holder = isTwin ? TWIN : record.holder;
    if (isTwin) this.#logger.warn("another process with the same identity holds the Lease", { hint: TWIN });
    else this.#logger.info("another process holds the Lease, this one stands by", { holder: record.holder });
  }

  /** A request failed; it is tried again. */
  failed(asked: Asked, error: unknown): void {
    const text = errorMessage(error);
    const { namespace } = this.#claim;
    const hint =
      error instanceof ForbiddenError
        ? `allow ${VERBS[asked]} of leases.coordination.k8s.io in ${namespace}`
        : (error as { hint?: string } | undefined)?.hint;
    const isNew = this.#problem !== text;
    this.#problem = text;
    this.#logger[isNew ? "warn" : "debug"]("the Lease cannot be reached, will be tried again", {
      verb: VERBS[asked],
      error: text,
      ...(hint !== undefined && { hint }),
    });
  }

  /** A request was answered. */
  answered(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#logger.info("the Lease can be reached again");
  }

  released(): void {
    this.#logger.info("the Lease is given back");
  }

  /** It could not be given back. */
  kept(): void {
    this.#logger.warn("the Lease could not be given back, others take it when it has run out", {
      error: this.#problem,
    });
  }

  /** How the watch of it is. */
  watch({ phase, error }: StreamState): void {
    if (phase === "watching") this.#unwatched = false;
    if (phase !== "waiting" || this.#unwatched) return;
    this.#unwatched = true;
    const forbidden = error instanceof ForbiddenError;
    const hint = `allow list and watch of leases.coordination.k8s.io in ${this.#claim.namespace}: standbys then see at once that the Lease is free`;
    this.#logger[forbidden ? "info" : "debug"]("the Lease cannot be watched, it is read again and again instead", {
      error: errorMessage(error),
      ...(forbidden && { hint }),
    });
  }

  #isTwin(record: { readonly holder: string | undefined } | undefined): boolean {
    return record?.holder === this.#claim.identity;
  }
}

const TWIN = "give each process an identity of its own, or leave `identity` out";
