export { bootstrap } from "./bootstrap.ts";
export type { Controller, ControllerContext } from "./controller.ts";
export { DefinitionController } from "./definitions.ts";
export { GarbageCollector } from "./garbage-collector.ts";
export { NamespaceController } from "./namespaces.ts";
