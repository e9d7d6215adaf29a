/**
 * `@lotse/console`: the web page that `lotse dev` serves.
 *
 * @packageDocumentation
 */

export { type ConsoleOptions, type RunningConsole, startConsole } from "./console.ts";
export type { ConsoleObjectReference, ConsoleRecord } from "./feed.ts";
