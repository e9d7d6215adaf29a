export { type AdmissionPlugin, createAdmission } from "./chain.ts";
export { namespaceLifecycle } from "./namespace-lifecycle.ts";
