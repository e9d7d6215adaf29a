export { type Column, crdOf, RECORD_FIELD } from "./crd.ts";
