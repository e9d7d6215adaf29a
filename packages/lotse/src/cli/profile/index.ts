/** `lotse profile`: gets a profile out of a process of this machine, or out of a pod. */
export { type ProfileOptions, profile } from "./profile.ts";
