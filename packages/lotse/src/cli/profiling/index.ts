/** Profiles that a process makes of itself, and how it is asked for them. */
export { OPEN, Profiling } from "./profiling.ts";
export { type ProfileWish, profileName, questionFor, recordedMs, USUAL_WISH } from "./wish.ts";
