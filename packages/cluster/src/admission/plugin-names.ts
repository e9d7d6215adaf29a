/** The admission plugins of this server that can be switched, by the names that a real server gives them. */
export const ADMISSION_PLUGINS = [
  "NamespaceLifecycle",
  "LimitRanger",
  "ServiceAccount",
  "PodSecurity",
  "Priority",
  "DefaultStorageClass",
  "RuntimeClass",
  "TaintNodesByCondition",
  "PodResizeValidator",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
  "ResourceQuota",
] as const;

/** One of {@link ADMISSION_PLUGINS}. */
export type AdmissionPluginName = (typeof ADMISSION_PLUGINS)[number];
