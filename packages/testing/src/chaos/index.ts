/** A proxy that does harm, in front of any API server and for operators in any language. */

export { Cable } from "./cable.ts";
export type { ChaosFault, LineFault } from "./faults.ts";
export { type ChaosEvent, ChaosProxy, type ChaosProxyOptions } from "./proxy.ts";
export type { ChaosRequest, ChaosVerb } from "./request.ts";
export { type ChaosDecision, type ChaosRule, decideBy } from "./rules.ts";
