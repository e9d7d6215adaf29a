import type { AccessCheck, CelSlot, Expressions, HookClient } from "../registry/index.ts";
import { type AdmissionPlugin, lazily } from "./chain.ts";
import { nodeTaints } from "./node-taints.ts";
import type { AdmissionPluginName } from "./plugin-names.ts";
import { concernsPodSecurity } from "./pod-levels.ts";
import { podPriority } from "./pod-priority.ts";
import { podResize } from "./pod-resize.ts";
import type { AdmissionBackend } from "./request.ts";
import { runtimeClass } from "./runtime-class.ts";
import { defaultStorageClass } from "./storage-class.ts";

/** What the admission plugins of a cluster are made from, and which of them are on. */
export interface AdmissionOptions {
  readonly backend: AdmissionBackend;
  readonly hooks: HookClient;
  readonly cel: CelSlot;
  /** What users may do, for expressions that ask. */
  readonly access: AccessCheck;
  /** Which of those with a name are there. */
  readonly isOn?: (name: AdmissionPluginName) => boolean;
}

const REGISTRATION = "admissionregistration.k8s.io";

/**
 * What looks at every write after its namespace is known to be there, in the order of a real server. Most of it is
 * loaded when the cluster first has something for it to do.
 */
export function admissionPlugins({
  backend,
  hooks,
  cel,
  access,
  isOn = () => true,
}: AdmissionOptions): AdmissionPlugin[] {
  const { store } = backend;
  const any = (...tables: string[]) => {
    return () => tables.some((table) => store.count(table) > 0);
  };
  let loading: Promise<Expressions> | undefined;
  const expressions = (): Promise<Expressions> => {
    loading ??= import("./conditions.ts").then(({ loadExpressions }) => loadExpressions({ cel, access }));
    return loading;
  };
  const options = { backend, client: hooks, expressions };
  const hooked = lazily(
    any(`mutatingwebhookconfigurations.${REGISTRATION}`, `validatingwebhookconfigurations.${REGISTRATION}`),
    async () => (await import("./webhooks.ts")).webhooks(options),
  );
  const plugins: readonly (readonly [AdmissionPluginName, AdmissionPlugin])[] = [
    ["LimitRanger", lazily(any("limitranges"), async () => (await import("./limit-ranges.ts")).limitRanges(backend))],
    [
      "PodSecurity",
      lazily(concernsPodSecurity(backend), async () => (await import("./pod-security/index.ts")).podSecurity(backend)),
    ],
    ["Priority", podPriority(backend)],
    ["DefaultStorageClass", defaultStorageClass(backend)],
    ["RuntimeClass", runtimeClass(backend)],
    ["TaintNodesByCondition", nodeTaints()],
    ["PodResizeValidator", podResize(backend)],
    [
      "MutatingAdmissionPolicy",
      lazily(any(`mutatingadmissionpolicybindings.${REGISTRATION}`), async () =>
        (await import("./mutating-policies.ts")).mutatingPolicies(options),
      ),
    ],
    [
      "ValidatingAdmissionPolicy",
      lazily(any(`validatingadmissionpolicybindings.${REGISTRATION}`), async () =>
        (await import("./validating-policies.ts")).validatingPolicies(options),
      ),
    ],
    ["MutatingAdmissionWebhook", { ...(hooked.mutate && { mutate: hooked.mutate }) }],
    ["ValidatingAdmissionWebhook", { ...(hooked.validate && { validate: hooked.validate }) }],
    [
      "ResourceQuota",
      lazily(any("resourcequotas"), async () => (await import("./quota/index.ts")).resourceQuotas(backend)),
    ],
  ];
  return plugins.filter(([name]) => isOn(name)).map(([, plugin]) => plugin);
}
