export type { HandlerWrite, KindStore } from "./kind-store.ts";
export type { Runtime } from "./runtime.ts";
