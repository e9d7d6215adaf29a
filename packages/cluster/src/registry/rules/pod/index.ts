/** The rules of pods and of their templates. */

import { qosClass } from "../../builtin/pod-subresources.ts";
import type { FieldError } from "../../fields.ts";
import { forbiddenField } from "../../fields.ts";
import type { ApiObject } from "../../object.ts";
import { checkAgreement } from "./annotations.ts";
import { type Fields, struct, structs, text } from "./check.ts";
import { checkResize } from "./resize.ts";
import { checkPod, checkPodTemplate } from "./spec.ts";
import { checkPodStatus } from "./status.ts";
import { checkPodUpdate, checkVisitors } from "./update.ts";

export { checkPodAnnotations } from "./annotations.ts";
export * from "./check.ts";
export { everyContainer } from "./containers.ts";
export { roundResources, totals } from "./resources.ts";
export { checkSelector, isEmptySelector, selectorText, selects } from "./selectors.ts";
export { checkPodTemplate } from "./spec.ts";
export { checkAnnotations, checkClaimSpec } from "./volume-claims.ts";

/** What is wrong with a new pod. */
export function pod(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  checkPod(object, errors);
  const spec = struct(object.spec) ?? {};
  if (structs(spec.ephemeralContainers).length > 0) {
    errors.push(forbiddenField("spec.ephemeralContainers", "cannot be set on create"));
  }
  if (text(spec.nodeName) !== "" && structs(spec.schedulingGates).length > 0) {
    errors.push(forbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  checkAgreement((object.metadata.annotations ?? {}) as Fields, spec, "spec", errors);
  return errors;
}

/** What is wrong with a change of a pod, made through one of its endpoints. */
export function podUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  const errors: FieldError[] = [];
  if (subresource === "status") checkPodStatus(object, old, errors);
  else if (subresource === "ephemeralcontainers") checkVisitors(object, old, errors);
  else if (subresource === "resize") {
    checkResize(object, old, (changed) => qosClass(changed as unknown as ApiObject), errors);
  } else checkPodUpdate(object, old, subresource === "binding", errors);
  return errors;
}

/** What is wrong with a PodTemplate, new or changed. */
export function podTemplate(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  checkPodTemplate(struct(object.template) ?? {}, "template", errors);
  return errors;
}
