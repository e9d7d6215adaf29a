export { installCrd, installCrds } from "./crds.ts";
export {
  MigrationError,
  type MigrationRequest,
  type MigrationStep,
  migrateKind,
  readableKind,
  type StoredVersions,
  storedVersionsOf,
} from "./migrate.ts";
export { type UninstallRequest, type UninstallResult, uninstallOperator } from "./uninstall.ts";
