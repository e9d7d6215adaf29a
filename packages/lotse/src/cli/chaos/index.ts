/** Harm to an operator, on purpose. */

export { type ChaosOptions, chaos } from "./chaos.ts";
