/** Whose an object was when it was written, by the Leases of members that share the objects. Pure. */
import { isOlderVersion } from "@lotse/client/meta";
import { seatOfUid } from "../../../packages/lotse/src/coordination/shards/test-slices.ts";
import type { Right, SeenVersion } from "./verdict.ts";

/** A version of the Lease of a seat. */
export interface SeenSeat {
  readonly version: string;
  readonly seat: number;
  /** Empty: nobody sits here. */
  readonly holder: string;
  /** The seats that the holder believes to be taken. */
  readonly view: readonly number[];
}

/** Of processes that share the objects: whoever writes must have claimed the object, and nobody who works but it. */
export function claimsObject(seats: readonly SeenSeat[], orders: readonly SeenVersion[]): Right {
  const uids = new Map(orders.map(({ name, uid }) => [name, uid]));
  const histories = new Map<number, SeenSeat[]>();
  for (const seat of seats) histories.set(seat.seat, [...(histories.get(seat.seat) ?? []), seat]);
  return ({ name, version, by }) => {
    const uid = uids.get(name) ?? "";
    const claims = [...histories].flatMap(([number, history]) => {
      const newest = history.findLast((one) => isOlderVersion(one.version, version));
      return newest && newest.holder !== "" && seatOfUid(uid, newest.view) === number ? [newest] : [];
    });
    if (claims.some(({ holder }) => holder === by)) return true;
    return claims.length === 0 ? "nobody claimed it" : `${claims.map(({ holder }) => holder).join(" and ")} claimed it`;
  };
}
