/** For tests of other packages: strategic merges without a server around them. */
export { createSchemaTable } from "../tables/index.ts";
export { applyStrategicMergePatch } from "./strategic.ts";
