/** What no thread can load. */
import { isMainThread } from "node:worker_threads";

if (!isMainThread) throw new Error("only the main thread knows it");

export { default, scenario } from "./module.ts";
