import {
  type AdmissionAttributes,
  type ApiObject,
  describeError,
  type FieldError,
  forbidden,
  fromStore,
  invalid,
  isRecord,
  listAt,
  objectAt,
} from "../../registry/index.ts";
import type { AdmissionPlugin } from "../chain.ts";
import { TEMPLATES } from "../pod-levels.ts";
import { type AdmissionBackend, isNamespaces, storedNamespace } from "../request.ts";
import { objections } from "./checks.ts";
import {
  allowsAnything,
  compareLevels,
  type LevelVersion,
  type Policy,
  policyOf,
  sameMistakes,
  shownLevel,
} from "./policy.ts";
import { type Objection, type Subject, subjectOf } from "./subject.ts";

/** What is posted below a pod and says nothing about its spec. */
const OTHER_SUBRESOURCES: ReadonlySet<string> = new Set(
  "exec attach binding eviction log portforward proxy status".split(" "),
);

/** How many pods are looked at when a namespace gets another level. */
const MOST_PODS = 3_000;

/** Holds pods to the level that the labels of their namespace name, and warns who writes templates of them. */
export function podSecurity(backend: AdmissionBackend): AdmissionPlugin {
  return {
    validate(attributes) {
      const { endpoint, subresource, namespace } = attributes;
      if (isNamespaces(endpoint)) {
        if (subresource === undefined) checkNamespace(backend, attributes);
        return;
      }
      const isPod = endpoint.resource.table === "pods";
      if (!concerned(attributes, isPod)) return;
      const { policy, errors } = policyOf(storedNamespace(backend, namespace ?? "")?.metadata.labels);
      if (errors.length === 0 && allowsAnything(policy)) {
        note(attributes, "enforce-policy", shownLevel(policy.enforce));
        return;
      }
      const why = errors.length === 0 ? undefined : `Failed to parse policy: ${described(errors)}`;
      if (isPod) checkPod(attributes, policy, why);
      else checkTemplate(attributes, policy, why);
    },
  };
}

/** Whether a write is about pods: about one itself, or about a template of them. */
function concerned({ endpoint, subresource, operation, object }: AdmissionAttributes, isPod: boolean): boolean {
  if (!object || operation === "DELETE" || operation === "CONNECT") return false;
  if (isPod) return subresource === undefined || !OTHER_SUBRESOURCES.has(subresource);
  return subresource === undefined && TEMPLATES.has(endpoint.resource.table);
}

/** Notes something for those who audit the request. */
function note({ annotate }: AdmissionAttributes, key: string, value: string): void {
  annotate?.(`pod-security.kubernetes.io/${key}`, value);
}

/** Mistakes in one sentence; several stand in brackets. */
function described(errors: readonly FieldError[]): string {
  const texts = errors.map((error) => `${error.field}: ${describeError(error)}`);
  return texts.length === 1 ? String(texts[0]) : `[${texts.join(", ")}]`;
}

function checkPod(attributes: AdmissionAttributes, policy: Policy, why: string | undefined): void {
  const { operation, object, oldObject, endpoint, name } = attributes;
  if (!object || (operation === "UPDATE" && oldObject && !isOtherProgram(object, oldObject))) return;
  const subject = subjectOf(object.metadata, objectAt(object, "spec"));
  if (why !== undefined) note(attributes, "error", why);
  note(attributes, "enforce-policy", shownLevel(policy.enforce));
  audit(attributes, policy.audit, subject);
  const found = objections(policy.enforce, subject);
  if (found.length > 0) {
    const text = `violates PodSecurity "${shownLevel(policy.enforce)}": ${inDetail(found)}`;
    throw forbidden(endpoint.resource, name, text);
  }
  warn(attributes, policy.warn, subject);
}

function checkTemplate(attributes: AdmissionAttributes, policy: Policy, why: string | undefined): void {
  let here: unknown = attributes.object;
  for (const key of TEMPLATES.get(attributes.endpoint.resource.table) ?? [])
    here = isRecord(here) ? here[key] : undefined;
  if (!isRecord(here)) return;
  if (why !== undefined) note(attributes, "error", why);
  const subject = subjectOf(objectAt(here, "metadata"), objectAt(here, "spec"));
  audit(attributes, policy.audit, subject);
  warn(attributes, policy.warn, subject);
}

function warn(attributes: AdmissionAttributes, level: LevelVersion, subject: Subject): void {
  const text = wouldViolate(level, subject);
  if (text !== undefined) attributes.warn(text);
}

function audit(attributes: AdmissionAttributes, level: LevelVersion, subject: Subject): void {
  const text = wouldViolate(level, subject);
  if (text !== undefined) note(attributes, "audit-violations", text);
}

/** What a level that only watches has against a pod; undefined when it has nothing. */
function wouldViolate(level: LevelVersion, subject: Subject): string | undefined {
  const found = objections(level, subject);
  return found.length === 0 ? undefined : `would violate PodSecurity "${shownLevel(level)}": ${inDetail(found)}`;
}

const inDetail = (found: readonly Objection[]): string =>
  found.map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`)).join(", ");

/** Of what a pod is, only its images can change, and it may get ephemeral containers. */
function isOtherProgram(pod: ApiObject, old: ApiObject): boolean {
  for (const key of ["containers", "initContainers"]) {
    const [now, before] = [listAt(pod, "spec", key), listAt(old, "spec", key)];
    if (now.length !== before.length || now.some(({ image }, i) => image !== before[i]?.image)) return true;
  }
  const before = listAt(old, "spec", "ephemeralContainers");
  return listAt(pod, "spec", "ephemeralContainers").some(({ name, image }) => {
    const known = before.find((candidate) => candidate.name === name);
    return !known || known.image !== image;
  });
}

function checkNamespace(backend: AdmissionBackend, attributes: AdmissionAttributes): void {
  const { operation, object, oldObject, name, endpoint } = attributes;
  const { policy, errors } = policyOf(object?.metadata.labels);
  const before = operation === "UPDATE" ? policyOf(oldObject?.metadata.labels) : undefined;
  if (errors.length > 0 && !(before && sameMistakes(errors, before.errors))) {
    throw invalid({ group: "", kind: endpoint.resource.kind }, name, errors);
  }
  if (!before || policy.enforce.level === "privileged") return;
  const [now, then] = [policy.enforce, before.policy.enforce];
  // The same level of another version may still object to what is there.
  if (now.minor === then.minor && compareLevels(now.level, then.level) <= 0) return;
  for (const text of existingPods(backend, name, now)) attributes.warn(text);
}

/** What a new level has against the pods that are there: each objection once, with the pods that it is about. */
function existingPods(backend: AdmissionBackend, namespace: string, level: LevelVersion): string[] {
  const entries = backend.store.list("pods", `${namespace}/`);
  const pods = prioritised(entries.map((entry) => fromStore(entry.object)));
  const found = new Map<string, string[]>();
  for (const pod of pods.slice(0, MOST_PODS)) {
    const text = objections(level, subjectOf(pod.metadata, objectAt(pod, "spec")))
      .map(({ reason }) => reason)
      .join(", ");
    if (text !== "") found.set(text, [...(found.get(text) ?? []), pod.metadata.name]);
  }
  const warnings: string[] = [];
  if (pods.length > MOST_PODS) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${MOST_PODS} of ${pods.length} existing pods`,
    );
  }
  if (found.size > 0) {
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${shownLevel(level)}"`,
    );
  }
  const each = [...found].map(([text, names]) => `${counted(names)}: ${text}`);
  return [...warnings, ...each.sort()];
}

function counted(names: string[]): string {
  const [first] = names.sort();
  if (names.length === 1) return String(first);
  return `${first} (and ${names.length - 1} other ${names.length === 2 ? "pod" : "pods"})`;
}

/** Pods that are copies of one another come last: of a large namespace the different ones are looked at. */
function prioritised(pods: readonly ApiObject[]): ApiObject[] {
  const seen = new Set<string>();
  const copies: ApiObject[] = [];
  const first = pods.filter((pod) => {
    const uid = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    if (uid === undefined) return true;
    if (!seen.has(uid)) return Boolean(seen.add(uid));
    copies.push(pod);
    return false;
  });
  return [...first, ...copies];
}
