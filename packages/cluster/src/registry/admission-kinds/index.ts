import { lookup } from "@lotse/client/meta";
import type { CelSlot } from "../cel.ts";
import { Expressions } from "../expressions/index.ts";
import type { FieldError } from "../fields.ts";
import { type ApiObject, listAt } from "../object.ts";
import type { Strategy } from "../strategy.ts";
import { validateBinding, validateMutatingPolicy, validateValidatingPolicy } from "./policies.ts";
import { policyStatusErrors } from "./status.ts";
import { validateWebhooks } from "./webhooks.ts";

export { clientErrors } from "./webhooks.ts";

/** Kinds whose content is checked here, with the group that they have in common. */
const CHECKS: Readonly<Record<string, (object: ApiObject, expressions: Expressions | undefined) => FieldError[]>> = {
  mutatingwebhookconfigurations: validateWebhooks,
  validatingwebhookconfigurations: validateWebhooks,
  validatingadmissionpolicies: validateValidatingPolicy,
  mutatingadmissionpolicies: validateMutatingPolicy,
  validatingadmissionpolicybindings: (object) => validateBinding(object, false),
  mutatingadmissionpolicybindings: (object) => validateBinding(object, true),
};

/** What is not written anywhere cannot be loaded for nothing: bindings and most webhooks have no expressions. */
function hasExpressions(object: ApiObject): boolean {
  if (/AdmissionPolicy$/.test(object.kind)) return true;
  return listAt(object, "webhooks").some((hook) => listAt(hook, "matchConditions").length > 0);
}

/** How the kinds that configure admission are checked; undefined for other kinds. */
export function admissionKind(group: string, plural: string, cel: CelSlot): Partial<Strategy> | undefined {
  const check = group === "admissionregistration.k8s.io" ? lookup(CHECKS, plural) : undefined;
  if (!check) return undefined;
  let expressions: Expressions | undefined;
  return {
    prepareValidation: async (object) => {
      if (!hasExpressions(object)) return;
      // Expressions are only compiled here, so that it is never asked what a user may do.
      expressions ??= await Expressions.load({ cel, access: () => ({ allowed: false, reason: "" }) });
    },
    // A write to the status is not to blame for the rest.
    validate: (object, subresource) =>
      subresource === "status" ? policyStatusErrors(object) : check(object, expressions),
    warnings: ({ metadata }) => reservedName(metadata.name ?? ""),
  };
}

/** Configurations that a server reads from its files have names of their own. */
const OF_FILES = ".static.k8s.io";

function reservedName(name: string): string[] {
  if (!name.endsWith(OF_FILES)) return [];
  return [
    `metadata.name: names ending with "${OF_FILES}" are reserved for static manifest-based configurations and cannot be managed via the API`,
  ];
}
