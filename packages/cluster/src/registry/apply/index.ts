export {
  ApplyError,
  type ApplyInput,
  type ApplyResult,
  applyConfiguration,
  trackUpdate,
  type UpdateInput,
} from "./apply.ts";
export { type Conflict, type ConflictReport, formatConflicts } from "./conflicts.ts";
export { FieldSet, type FieldsV1, formatPath, type Path, type PathElement } from "./field-set.ts";
export {
  decodeManagers,
  encodeManagers,
  identityKey,
  type ManagedFieldsEntry,
  type ManagedSet,
  type ManagerIdentity,
  type Managers,
} from "./managers.ts";
export { overlayConfiguration } from "./overlay.ts";
