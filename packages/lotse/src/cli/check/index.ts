/** `lotse check`: types, schemas, definitions and permissions before anything runs. */
export { type CheckOptions, check } from "./check.ts";
