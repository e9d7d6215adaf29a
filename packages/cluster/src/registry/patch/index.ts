export { applyStrategicMergePatch, StrategicPatchError } from "./strategic.ts";
