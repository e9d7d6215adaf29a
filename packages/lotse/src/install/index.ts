export { installCrd, installCrds } from "./crds.ts";
export { type UninstallRequest, type Unmarked, uninstallOperator } from "./uninstall.ts";
