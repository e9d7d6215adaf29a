export * from "./configurations/index.ts";
export * from "./policies/index.ts";
export * from "./registration/index.ts";
export * from "./review/index.ts";
