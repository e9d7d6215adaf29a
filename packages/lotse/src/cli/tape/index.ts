/** What an operator sees, into a file. */

export { openTape, type TapeFlags, type TapePlan, tapePlanOf } from "./tape.ts";
