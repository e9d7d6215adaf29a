/**
 * `lotse/conversions`: tries the conversions of a kind with objects that are made from its schemas, for tests. Never part
 * of an operator that runs.
 *
 * @module
 */
export {
  type AnyConversion,
  type ConversionFault,
  type ConversionMistake,
  type ConversionProof,
  type ConversionTrial,
  type ConvertedKind,
  checkConversions,
  faultText,
  type KeptNote,
  type ProvableKind,
  type VersionedClass,
} from "./admission/index.ts";
