/** `lotse generate`: manifests, charts, images and types. */
export { type GenerateOptions, generate } from "./generate.ts";
