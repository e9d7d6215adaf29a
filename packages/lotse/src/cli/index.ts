export { mainBundled } from "./bundled.ts";
export { processIo } from "./io.ts";
