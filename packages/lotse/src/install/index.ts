export { installCrd } from "./crds.ts";
export { type UninstallRequest, type Unmarked, uninstallOperator } from "./uninstall.ts";
