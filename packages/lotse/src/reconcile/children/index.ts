export { cleanUpChildren, letChildrenGo } from "./clean-up.ts";
export { shows } from "./compare.ts";
export { hasChildren } from "./existing.ts";
export { keepChildren } from "./keep.ts";
export type { Keeping } from "./keeping.ts";
export type { OperatorNames } from "./marks.ts";
