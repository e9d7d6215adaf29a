/** Nodes and pods that a pod wants to be near to, or far from. */
import { forbiddenField, invalidValue, required } from "../../fields.ts";
import { nodeTermErrors } from "../node-selector.ts";
import {
  checkLabel,
  checkQualifiedName,
  type Errors,
  type Fields,
  number,
  struct,
  structs,
  text,
  texts,
} from "./check.ts";
import { checkSelector } from "./selectors.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** All wishes of a pod about its place. */
export function checkAffinity(affinity: Fields | undefined, path: string, errors: Errors): void {
  if (affinity === undefined) return;
  const node = struct(affinity.nodeAffinity);
  if (node !== undefined) checkNodeAffinity(node, `${path}.nodeAffinity`, errors);
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    const pods = struct(affinity[name]);
    if (pods === undefined) continue;
    const here = `${path}.${name}`;
    for (const [i, term] of structs(pods[REQUIRED]).entries()) checkPodTerm(term, `${here}.${REQUIRED}[${i}]`, errors);
    for (const [i, weighted] of structs(pods[PREFERRED]).entries()) {
      checkWeight(weighted, `${here}.${PREFERRED}[${i}]`, errors);
      checkPodTerm(struct(weighted.podAffinityTerm) ?? {}, `${here}.${PREFERRED}[${i}].podAffinityTerm`, errors);
    }
  }
}

function checkWeight(term: Fields, path: string, errors: Errors): void {
  const weight = number(term.weight);
  if (weight <= 0 || weight > 100) errors.push(invalidValue(`${path}.weight`, weight, "must be in the range 1-100"));
}

function checkNodeAffinity(affinity: Fields, path: string, errors: Errors): void {
  const needed = struct(affinity[REQUIRED]);
  if (needed !== undefined) {
    const here = `${path}.${REQUIRED}.nodeSelectorTerms`;
    const terms = structs(needed.nodeSelectorTerms);
    if (terms.length === 0) errors.push(required(here, "must have at least one node selector term"));
    for (const [i, term] of terms.entries()) checkNodeTerm(term, true, `${here}[${i}]`, errors);
  }
  for (const [i, term] of structs(affinity[PREFERRED]).entries()) {
    const here = `${path}.${PREFERRED}[${i}]`;
    checkWeight(term, here, errors);
    // Values of a mere wish are not looked at.
    checkNodeTerm(struct(term.preference) ?? {}, false, `${here}.preference`, errors);
  }
}

/** One alternative; `strict` when its values must be such as labels can have. */
export function checkNodeTerm(term: Fields, strict: boolean, path: string, errors: Errors): void {
  errors.push(...nodeTermErrors(term, path, !strict));
}

function checkPodTerm(term: Fields, path: string, errors: Errors): void {
  const selector = struct(term.labelSelector);
  checkSelector(selector, `${path}.labelSelector`, errors);
  checkSelector(struct(term.namespaceSelector), `${path}.namespaceSelector`, errors);
  for (const name of texts(term.namespaces)) checkLabel(name, `${path}.namespace`, errors);
  checkLabelKeys(texts(term.matchLabelKeys), texts(term.mismatchLabelKeys), selector, path, errors);
  const key = text(term.topologyKey);
  if (key === "") errors.push(required(`${path}.topologyKey`, "can not be empty"));
  checkQualifiedName(key, `${path}.topologyKey`, errors);
}

/** Labels whose values are taken from the pod itself. */
export function checkLabelKeys(
  match: readonly string[],
  mismatch: readonly string[],
  selector: Fields | undefined,
  path: string,
  errors: Errors,
): void {
  for (const [field, keys] of [
    ["matchLabelKeys", match],
    ["mismatchLabelKeys", mismatch],
  ] as const) {
    if (keys.length === 0) continue;
    const here = `${path}.${field}`;
    if (selector === undefined) {
      errors.push(forbiddenField(here, "must not be specified when labelSelector is not set"));
    } else for (const [i, key] of keys.entries()) checkQualifiedName(key, `${here}[${i}]`, errors);
  }
  if (match.length === 0) return;
  if (selector !== undefined) {
    // The server has added what the keys mean to the selector: who finds a key there twice has written it himself.
    const seen = new Set(Object.keys((selector.matchLabels ?? {}) as object));
    for (const expression of structs(selector.matchExpressions)) {
      const key = text(expression.key);
      const i = match.lastIndexOf(key);
      if (i >= 0 && seen.has(key)) {
        errors.push(invalidValue(`${path}[${i}]`, key, "exists in both matchLabelKeys and labelSelector"));
      }
      seen.add(key);
    }
  }
  for (const [i, key] of match.entries()) {
    if (!mismatch.includes(key)) continue;
    const detail = "exists in both matchLabelKeys and mismatchLabelKeys";
    errors.push(invalidValue(`${path}.matchLabelKeys[${i}]`, key, detail));
  }
}
