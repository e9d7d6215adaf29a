import { type LabelSelector, type LabelSelectorInput, matchesLabels, parseLabelSelector } from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type ApiObject,
  type Endpoint,
  isRecord,
  listAt,
  notFound,
  type StatusError,
} from "../registry/index.ts";
import { type AdmissionBackend, isNamespaces, namespaceOf, storedNamespace } from "./request.ts";

/** Which requests a webhook or a policy is about. */
export interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
  /** Empty for all names. */
  readonly resourceNames: readonly string[];
}

/** Everything that decides about a match, read once. */
export interface Criteria {
  /** Without any rule every request matches when `matchAll`, else none. */
  readonly rules: readonly Rule[];
  readonly excluded: readonly Rule[];
  readonly matchAll: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** Rules for other versions of the same resource count, too; the object is shown in theirs. */
  readonly equivalent: boolean;
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function readRules(from: unknown, key: string): Rule[] {
  return listAt(from, key).map((rule) => ({
    operations: texts(rule.operations),
    apiGroups: texts(rule.apiGroups),
    apiVersions: texts(rule.apiVersions),
    resources: texts(rule.resources),
    scope: typeof rule.scope === "string" ? rule.scope : "*",
    resourceNames: texts(rule.resourceNames),
  }));
}

function readSelector(value: unknown): LabelSelector {
  return isRecord(value) ? parseLabelSelector(value as LabelSelectorInput) : [];
}

/** The criteria of a webhook (`rules`) or of a policy or binding (`resourceRules`). */
export function readCriteria(from: unknown, key: "rules" | "resourceRules"): Criteria {
  const source = isRecord(from) ? from : {};
  return {
    rules: readRules(source, key),
    excluded: readRules(source, "excludeResourceRules"),
    matchAll: key === "resourceRules",
    namespaceSelector: readSelector(source.namespaceSelector),
    objectSelector: readSelector(source.objectSelector),
    equivalent: source.matchPolicy !== "Exact",
  };
}

/**
 * The version in which the matching rule wants the object, which is that of the request where it can be; undefined when
 * the request does not match. Throws when only the namespace could tell and it is not there.
 */
export function matchRequest(
  attributes: AdmissionAttributes,
  criteria: Criteria,
  backend: AdmissionBackend,
): Endpoint | undefined {
  const inNamespace = matchNamespace(attributes, criteria.namespaceSelector, backend);
  if (inNamespace === false) return undefined;
  if (!matchObjects(attributes, criteria.objectSelector)) return undefined;
  if (criteria.excluded.length > 0 && matchRules(attributes, criteria.excluded, criteria.equivalent, backend)) {
    return undefined;
  }
  const everything = criteria.matchAll && criteria.rules.length === 0;
  const matched = everything
    ? attributes.endpoint
    : matchRules(attributes, criteria.rules, criteria.equivalent, backend);
  // Whether the namespace matters is only known now that everything else says yes.
  if (matched && inNamespace !== true) throw inNamespace;
  return matched;
}

function matchNamespace(
  attributes: AdmissionAttributes,
  selector: LabelSelector,
  backend: AdmissionBackend,
): boolean | StatusError {
  const name = namespaceOf(attributes);
  if (selector.length === 0 || (name === "" && !isNamespaces(attributes.endpoint))) return true;
  const { operation, object, subresource } = attributes;
  // A namespace that is being written is judged by the labels that it is about to have.
  const own = isNamespaces(attributes.endpoint) && subresource === undefined && operation !== "DELETE";
  const namespace = own ? object : storedNamespace(backend, name);
  if (!namespace) return notFound({ group: "", plural: "namespaces" }, name);
  return matchesLabels(selector, namespace.metadata.labels);
}

function matchObjects({ object, oldObject }: AdmissionAttributes, selector: LabelSelector): boolean {
  if (selector.length === 0) return true;
  const matches = (candidate: ApiObject | undefined) =>
    // What only describes a connection has no labels, and matches no selector.
    candidate?.metadata !== undefined && matchesLabels(selector, candidate.metadata.labels);
  return matches(object) || matches(oldObject);
}

function matchRules(
  attributes: AdmissionAttributes,
  rules: readonly Rule[],
  equivalent: boolean,
  { catalog }: AdmissionBackend,
): Endpoint | undefined {
  const { endpoint } = attributes;
  if (rules.some((rule) => matchRule(rule, attributes, endpoint))) return endpoint;
  if (!equivalent) return undefined;
  const others: Endpoint[] = [];
  for (const resource of catalog.all()) {
    if (resource.table === "" || resource.table !== endpoint.resource.table) continue;
    for (const version of resource.versions.values()) {
      if (version !== endpoint.version) others.push({ resource, version });
    }
  }
  for (const rule of rules) {
    const found = others.find((other) => matchRule(rule, attributes, other));
    if (found) return found;
  }
  return undefined;
}

const includes = (items: readonly string[], wanted: string): boolean => items.includes("*") || items.includes(wanted);

function matchRule(rule: Rule, attributes: AdmissionAttributes, { resource, version }: Endpoint): boolean {
  return (
    matchScope(rule.scope, attributes) &&
    includes(rule.operations, attributes.operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, version.version) &&
    rule.resources.some((pattern) => matchResource(pattern, resource.plural, attributes.subresource ?? "")) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name))
  );
}

/** `pods`, `pods/log`, or a star for either part; a star alone does not stand for subresources. */
function matchResource(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf("/");
  const resource = slash < 0 ? pattern : pattern.slice(0, slash);
  const below = slash < 0 ? "" : pattern.slice(slash + 1);
  return (resource === "*" || resource === plural) && (below === "*" || below === subresource);
}

function matchScope(scope: string, attributes: AdmissionAttributes): boolean {
  if (scope === "*") return true;
  const clusterWide = isNamespaces(attributes.endpoint) || namespaceOf(attributes) === "";
  return clusterWide === (scope === "Cluster");
}
