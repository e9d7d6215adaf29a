/** `lotse dev`: an operator that starts again at every save, on a cluster of its own. */
export { type DevOptions, dev } from "./dev.ts";
