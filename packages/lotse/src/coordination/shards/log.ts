/** What people are told of a member's part: each thing once, until it changes. */
import { ForbiddenError, type StreamState } from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import { isYielding, type MemberState } from "./member.ts";
import { type Slices, share } from "./rendezvous.ts";
import type { SeatClaim, SeatTask } from "./requests.ts";
import { seatName } from "./seat.ts";

const VERBS: Readonly<Record<SeatTask["run"], string>> = {
  take: "create, update",
  write: "update",
  read: "get",
  empty: "update",
  expel: "update",
};

/** A share of all objects, for people. */
export const shareText = (slices: Slices): string => `${Math.round(share(slices) * 1_000) / 10} %`;

/** See the module comment. */
export class ShardLog {
  readonly #logger: Logger;
  readonly #claim: SeatClaim;
  #seat: number | undefined;
  #yields = false;
  #late = false;
  readonly #problems = new Map<"seat" | "others", string>();

  constructor(logger: Logger, claim: SeatClaim) {
    this.#logger = logger;
    this.#claim = claim;
  }

  /** What keeps the process from taking part; undefined: nothing. */
  get problem(): string | undefined {
    return this.#problems.get("seat") ?? this.#problems.get("others");
  }

  /** After every step. */
  step({ stay, over, releaseBy }: MemberState): void {
    if (over || releaseBy !== undefined) return;
    const { identity, namespace, name } = this.#claim;
    if (stay?.seat !== this.#seat) {
      if (stay) {
        const lease = `${namespace}/${seatName(name, stay.seat)}`;
        this.#logger.info("this process takes part", { identity, lease });
      } else this.#logger.warn("this process has lost its Lease, and takes part anew", { identity });
      this.#seat = stay?.seat;
    }
    const late = stay?.late === true;
    if (late && !this.#late) {
      this.#logger.warn("the Lease was not renewed in time, this process works on nothing until it is", { identity });
    } else if (!late && this.#late && stay) this.#logger.info("the Lease is renewed again", { identity });
    this.#late = late;
    const yields = isYielding(stay);
    if (yields && !this.#yields) {
      this.#logger.warn("other members share the objects in another way, this one waits until they are gone", {
        identity,
        hint: "all members have to have the same `by`, and reconcilers for the same kinds",
      });
    }
    this.#yields = yields;
  }

  /** The operator works on this from now on. */
  share(owned: Slices): void {
    this.#logger.info("this process works on its share of the objects", { share: shareText(owned) });
  }

  expelled(holder: string | undefined): void {
    this.#logger.info("a member was not seen for too long, others get its objects", { member: holder });
  }

  /** A request failed; it is tried again. */
  failed(asked: SeatTask["run"], error: unknown): void {
    const hint =
      error instanceof ForbiddenError
        ? `allow ${VERBS[asked]} of leases.coordination.k8s.io in ${this.#claim.namespace}`
        : (error as { hint?: string } | undefined)?.hint;
    this.#fail("seat", "the Lease cannot be reached, will be tried again", error, { verb: VERBS[asked], hint });
  }

  /** A request was answered. */
  answered(): void {
    if (this.#problems.delete("seat")) this.#logger.info("the Lease can be reached again");
  }

  released(): void {
    this.#logger.info("the Lease is given back");
  }

  /** How the watch of all Leases is. */
  watch({ phase, error }: StreamState): void {
    if (phase === "watching") this.#problems.delete("others");
    if (phase !== "waiting") return;
    const hint = `allow list and watch of leases.coordination.k8s.io in ${this.#claim.namespace}: they say who takes part`;
    this.#fail("others", "the Leases of the other members cannot be watched, will be tried again", error, {
      ...(error instanceof ForbiddenError && { hint }),
    });
  }

  #fail(what: "seat" | "others", message: string, error: unknown, fields: Readonly<Record<string, unknown>>): void {
    const text = errorMessage(error);
    const isNew = this.#problems.get(what) !== text;
    this.#problems.set(what, text);
    this.#logger[isNew ? "warn" : "debug"](message, { error: text, ...fields });
  }
}
