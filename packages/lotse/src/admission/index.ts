export * from "./certificates/index.ts";
export * from "./server/index.ts";
