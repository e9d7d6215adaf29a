/** Where the user's source declares something. Helpers of schemas, which stand below this room, tell it as well. */
export { type CallerFrame, callerFrame, callerLocation } from "../schema/index.ts";
