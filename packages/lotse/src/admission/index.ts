/** May it be written, and how does it read in another version? What the API server asks an operator. */
export * from "./conversion/index.ts";
