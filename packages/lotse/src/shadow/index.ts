export type { Bookkeeping } from "./normal-form.ts";
export { ShadowError, type Untried } from "./refusal.ts";
export type { ShadowDifference, ShadowField, ShadowReport, ShadowVerdict } from "./report.ts";
export { Shadow, type ShadowOptions, type ShadowParts } from "./shadow.ts";
