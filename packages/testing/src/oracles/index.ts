/** What does every operator promise, whatever a test is about, and was it kept? */
export { type Judged, oldGenerations } from "./judge-generations.ts";
export { abandoned, hotLoops, mutatedInputs } from "./judge-log.ts";
export { type SecretValue, secretValues, toldSecrets } from "./judge-secrets.ts";
export { by, orphans, otherUids } from "./judge-writes.ts";
export { activeOracles, type Off, ORACLES, type OracleName, type OracleOptions } from "./options.ts";
export { changesOfSecondPass, hasSecondPass } from "./second-pass.ts";
export { OracleError, type Violation } from "./violation.ts";
export { type LateRequest, type SeenObject, type SeenWrite, Witness } from "./witness.ts";
