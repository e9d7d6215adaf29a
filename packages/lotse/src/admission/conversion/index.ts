/** How does an object become another version of itself? */
export { KEPT_ANNOTATION } from "./carry.ts";
export { convertBody } from "./convert.ts";
export { type ConversionTarget, conversionPath, withConversion } from "./definition.ts";
export { type ConversionAbout, ConversionError } from "./errors.ts";
export { type AnyConversion, type ConvertedKind, convertedKind, type VersionedClass } from "./kind.ts";
export {
  type ConversionFault,
  type ConversionMistake,
  type ConversionProof,
  type ConversionTrial,
  checkConversions,
  faultText,
  type KeptNote,
  type ProvableKind,
} from "./prove.ts";
export { answerConversion, type ConversionAnswer, type ConversionReport } from "./review.ts";
