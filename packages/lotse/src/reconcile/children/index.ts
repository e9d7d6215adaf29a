export { shows } from "./compare.ts";
export { cleanUpChildren, keepChildren } from "./keep.ts";
export type { Keeping } from "./objects.ts";
