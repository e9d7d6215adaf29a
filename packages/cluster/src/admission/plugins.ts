import type { AccessCheck, CelSlot, Expressions, HookClient } from "../registry/index.ts";
import { type AdmissionPlugin, lazily } from "./chain.ts";
import { podPriority } from "./pod-priority.ts";
import type { AdmissionWorld } from "./request.ts";
import { defaultStorageClass } from "./storage-class.ts";

export interface AdmissionOptions {
  readonly world: AdmissionWorld;
  readonly hooks: HookClient;
  readonly cel: CelSlot;
  /** What users may do, for expressions that ask. */
  readonly access: AccessCheck;
}

const REGISTRATION = "admissionregistration.k8s.io";

/**
 * What looks at every write after its namespace is known to be there, in the order of a real server. Most of it is
 * loaded when the cluster first has something for it to do.
 */
export function admissionPlugins({ world, hooks, cel, access }: AdmissionOptions): AdmissionPlugin[] {
  const { store } = world;
  const any = (...tables: string[]) => {
    return () => tables.some((table) => store.count(table) > 0);
  };
  let loading: Promise<Expressions> | undefined;
  const expressions = (): Promise<Expressions> => {
    loading ??= import("./conditions.ts").then(({ loadExpressions }) => loadExpressions({ cel, access }));
    return loading;
  };
  const options = { world, client: hooks, expressions };
  return [
    lazily(any("limitranges"), async () => (await import("./limit-ranges.ts")).limitRanges(world)),
    podPriority(world),
    defaultStorageClass(world),
    lazily(any(`mutatingadmissionpolicybindings.${REGISTRATION}`), async () =>
      (await import("./mutating-policies.ts")).mutatingPolicies(options),
    ),
    lazily(any(`validatingadmissionpolicybindings.${REGISTRATION}`), async () =>
      (await import("./validating-policies.ts")).validatingPolicies(options),
    ),
    lazily(
      any(`mutatingwebhookconfigurations.${REGISTRATION}`, `validatingwebhookconfigurations.${REGISTRATION}`),
      async () => (await import("./webhooks.ts")).webhooks(options),
    ),
    lazily(any("resourcequotas"), async () => (await import("./quota/index.ts")).resourceQuotas(world)),
  ];
}
