/** What does every operator promise, whatever a test is about, and was it kept? */
export { Court, type Evidence } from "./court.ts";
export type { Judged } from "./judge-generations.ts";
export { activeOracles, type Off, type OracleName, type OracleOptions } from "./options.ts";
export { hasSecondPass } from "./second-pass.ts";
export { OracleError, type Violation } from "./violation.ts";
export type { Witness } from "./witness.ts";
