export { type AdmissionPlugin, createAdmission, type MutationRound } from "./chain.ts";
export { namespaceLifecycle } from "./namespace-lifecycle.ts";
export { ADMISSION_PLUGINS, type AdmissionPluginName } from "./plugin-names.ts";
export { type AdmissionOptions, admissionPlugins } from "./plugins.ts";
export { QUOTAS, usageIn, writeAmounts } from "./quota/index.ts";
export { type ServiceAddress, ServiceRoutes } from "./services.ts";
