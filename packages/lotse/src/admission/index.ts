export * from "./certificates/index.ts";
export * from "./reach/index.ts";
export * from "./server/index.ts";
