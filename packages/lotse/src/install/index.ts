export { installCrd, installCrds } from "./crds.ts";
export { type UninstallRequest, type UninstallResult, uninstallOperator } from "./uninstall.ts";
