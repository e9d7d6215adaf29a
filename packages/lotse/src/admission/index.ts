/** May it be written, and how does it read in another version? What the API server asks an operator. */
export * from "./certificates/index.ts";
export * from "./configurations/index.ts";
export * from "./conversion/index.ts";
export * from "./policies/index.ts";
export * from "./reach/index.ts";
export * from "./registration/index.ts";
export * from "./review/index.ts";
export * from "./server/index.ts";
