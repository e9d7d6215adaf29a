export { installCrd, installCrds } from "./crds.ts";
export { type FormerParts, findFormer, removeFormer, unwanted } from "./former.ts";
export {
  MigrationError,
  type MigrationRequest,
  type MigrationStep,
  migrateKind,
  readableKind,
  type StoredVersions,
  storedVersionsOf,
} from "./migrate.ts";
export { forgetNote, type Noted, writeNote } from "./noted.ts";
export { type UninstallRequest, type UninstallResult, uninstallOperator } from "./uninstall.ts";
