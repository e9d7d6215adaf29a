/**
 * A seat and its Lease: what members of a sharded operator tell each other. Pure. There is a Lease for each seat, whoever
 * holds it; what its holder has acknowledged stands in its annotations.
 */
import {
  type LeaseBody,
  type LeaseClaim,
  type LeaseRecord,
  newLease,
  readLease,
  releasedLease,
  renewedLease,
  takenLease,
} from "../lease/index.ts";
import type { View } from "./rendezvous.ts";

/** Which operator a Lease is of. */
export const OPERATOR_LABEL = "lotse.dev/operator";
/** The number of the seat. */
export const SEAT_LABEL = "lotse.dev/shard";
/** The seats that the holder believes to be taken: it works on nothing but what is its own among these. */
export const MEMBERS_ANNOTATION = "lotse.dev/members";
/** How often the holder has changed its mind about that, since it took the seat. */
export const EPOCH_ANNOTATION = "lotse.dev/epoch";
/** The holder does not know the objects yet: it claims nothing, and is about to. */
export const JOINING_ANNOTATION = "lotse.dev/joining";
/** How the holder finds the slice of an object: members that do it differently cannot share. */
export const RULE_ANNOTATION = "lotse.dev/shard-rule";

/** What a member has said of itself: it works on nothing but what is its own if the seats of `view` are taken. */
export interface Claim {
  readonly epoch: number;
  readonly view: View;
  /** It claims nothing yet, because it does not know the objects. */
  readonly joining: boolean;
}

/** A seat, as its Lease shows it. */
export interface Seat {
  readonly seat: number;
  /** Of the Lease: one that was deleted and made anew is another one. */
  readonly uid: string;
  /** Undefined: nobody sits here. */
  readonly holder: string | undefined;
  /** Which stay of which process this is. */
  readonly writer: string | undefined;
  readonly version: string;
  readonly durationMs: number;
  readonly epoch: number;
  /** Undefined: it cannot be read, and then everything must be believed to be claimed. */
  readonly view: View | undefined;
  /** Its holder is about to claim its part. */
  readonly joining: boolean;
  readonly rule: string;
  readonly record: LeaseRecord;
}

/** The Lease of a seat. */
export function seatName(name: string, seat: number): string {
  return `${name}-shard-${seat}`;
}

/** Reads the Lease of a seat; undefined: it is another Lease of the operator. */
export function readSeat(body: LeaseBody, times: Pick<LeaseClaim, "durationMs">): Seat | undefined {
  const label = body.metadata?.labels?.[SEAT_LABEL];
  if (label === undefined || !/^\d{1,4}$/.test(label)) return undefined;
  const record = readLease(body, times);
  const annotations = body.metadata?.annotations ?? {};
  const { holder, writer, version, durationMs } = record;
  return {
    seat: Number(label),
    uid: body.metadata?.uid ?? "",
    holder,
    writer,
    version,
    durationMs,
    epoch: Number(annotations[EPOCH_ANNOTATION] ?? 0) || 0,
    view: holder === undefined ? [] : readView(annotations[MEMBERS_ANNOTATION]),
    joining: holder !== undefined && annotations[JOINING_ANNOTATION] === "true",
    rule: annotations[RULE_ANNOTATION] ?? "",
    record,
  };
}

function readView(text: string | undefined): View | undefined {
  if (text === undefined || !/^(?:\d{1,4}(?:,\d{1,4})*)?$/.test(text)) return undefined;
  const seats = text === "" ? [] : text.split(",").map(Number);
  return [...new Set(seats)].sort((a, b) => a - b);
}

/** What is written beside the Lease's own fields. */
export interface SeatWriting {
  readonly operator: string;
  readonly rule: string;
  /** Who writes; its name is that of the seat's Lease. */
  readonly claim: LeaseClaim;
  readonly seat: number;
  readonly said: Claim;
}

/** The Lease of a seat that is taken. */
export function takenSeat(before: Seat | undefined, writing: SeatWriting, now: number): LeaseBody {
  const { claim } = writing;
  return annotated(before ? takenLease(before.record, claim, now) : newLease(claim, now), writing);
}

/** The Lease of the member's own seat, held on. */
export function renewedSeat(before: Seat, writing: SeatWriting, now: number): LeaseBody {
  return annotated(renewedLease(before.record, writing.claim, now), writing);
}

/** The Lease of a seat that nobody sits on from now on: given back, or of one who was not seen for too long. */
export function emptiedSeat(before: Seat, writing: Omit<SeatWriting, "said">, now: number): LeaseBody {
  const said: Claim = { epoch: before.epoch, view: [], joining: false };
  return annotated(releasedLease(before.record, writing.claim, now), { ...writing, rule: before.rule, said });
}

function annotated(body: LeaseBody, { operator, rule, seat, said }: SeatWriting): LeaseBody {
  const { metadata = {} } = body;
  const { [JOINING_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  return {
    ...body,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [OPERATOR_LABEL]: operator, [SEAT_LABEL]: String(seat) },
      annotations: {
        ...annotations,
        ...(said.joining && { [JOINING_ANNOTATION]: "true" }),
        [MEMBERS_ANNOTATION]: said.view.join(","),
        [EPOCH_ANNOTATION]: String(said.epoch),
        [RULE_ANNOTATION]: rule,
      },
    },
  };
}
