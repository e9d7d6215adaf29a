export { type Column, type CrdInput, crdOf, RECORD_FIELD } from "./crd.ts";
export { SchemaError, type SchemaNode, toStructural } from "./structural.ts";
