/** Conversion without the operator that serves it, for whole-product tests that have a webhook of their own. */
export { KEPT_ANNOTATION } from "./carry.ts";
export { conversionPath, withConversion } from "./definition.ts";
export { convertedKind } from "./kind.ts";
export { answerConversion } from "./review.ts";
