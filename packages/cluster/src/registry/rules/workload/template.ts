/** What every kind that makes pods of a template has in common. */

import { forbiddenField, invalidValue, notSupported } from "../../fields.ts";
import {
  checkPodTemplate,
  checkSelector,
  type Errors,
  type Fields,
  isEmptySelector,
  isSet,
  selectorText,
  selects,
  struct,
  text,
} from "../pod/index.ts";

/** The template in a spec; an empty one when there is none. */
export const templateOf = (spec: Fields): Fields => struct(spec.template) ?? {};

/** Labels of a template as errors print them. */
export function labelsOf(template: Fields): Record<string, string> | null {
  const labels = struct(template.metadata)?.labels;
  return isSet(labels) ? (labels as Record<string, string>) : null;
}

/** The sentence about a selector that its own template does not fit. */
export const NO_MATCH = "`selector` does not match template `labels`";

/** That a selector is there, can be read, and asks for something; `who` names the kind in the sentence. */
export function checkOwnSelector(selector: Fields, who: string, path: string, errors: Errors): void {
  checkSelector(selector, path, errors);
  if (isEmptySelector(selector)) {
    errors.push(invalidValue(path, selectorText(selector), `empty selector is invalid for ${who}`));
  }
}

/** That the pods of the template are found by the selector. False when the selector cannot be read. */
export function checkMatch(selector: Fields | undefined, template: Fields, path: string, errors: Errors): boolean {
  const matches = selects(selector, labelsOf(template));
  if (matches === undefined) return false;
  // One that asks for nothing was told before.
  const asks = selector === undefined || !isEmptySelector(selector);
  if (!matches && asks) errors.push(invalidValue(`${path}.metadata.labels`, labelsOf(template), NO_MATCH));
  return true;
}

/** Pods that a workload keeps alive may not end by themselves. */
export function checkLasting(template: Fields, kind: string, path: string, errors: Errors): void {
  const spec = struct(template.spec) ?? {};
  if (spec.restartPolicy !== "Always") {
    errors.push(notSupported(`${path}.spec.restartPolicy`, text(spec.restartPolicy), ["Always"]));
  }
  if (isSet(spec.activeDeadlineSeconds)) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbiddenField(`${path}.spec.activeDeadlineSeconds`, detail));
  }
}

/** A template of pods that are kept alive. */
export function checkLastingTemplate(template: Fields, kind: string, path: string, errors: Errors): void {
  checkPodTemplate(template, path, errors);
  checkLasting(template, kind, path, errors);
}
