/** Whose an object is among members that share objects by their uids: for witnesses that believe no member. */
import { sliceOfUid, winners } from "./rendezvous.ts";

/** Which of the seats has the object. */
export function seatOfUid(uid: string, view: readonly number[]): number | undefined {
  return winners(view)[sliceOfUid(uid)];
}
