export {
  createMessageTable,
  type MessageField,
  type MessageFields,
  type MessageTable,
  type ScalarType,
} from "./message-table.ts";
export { podStructs } from "./pod-structs.ts";
export { createSchemaTable, type SchemaTable } from "./schema-table.ts";
