import { type ApiObject, type Backend, fromStore, storeKey, timestamp, toStore } from "../registry/index.ts";
import { AGGREGATOR, aggregatedRules } from "./aggregation.ts";
import { policyLines } from "./policy-table.ts";
import { RBAC_GROUP } from "./rbac.ts";

const LABELS = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const ANNOTATIONS = { "rbac.authorization.kubernetes.io/autoupdate": "true" };
const AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-";

type Fields = Record<string, unknown>;

/**
 * Writes the roles and bindings that every cluster has, as far as they are not there. They go into the store as they
 * are, without the way that a request takes: there are almost two hundred, and a cluster starts in milliseconds.
 * Where no controller aggregates roles, those that collect others (`admin`, `edit`, `view`) stay empty, as on a server
 * without its controllers.
 */
export function bootstrapPolicy(
  { store, clock, uuid }: Pick<Backend, "store" | "clock" | "uuid">,
  aggregates = true,
): void {
  const now = timestamp(clock.now());
  const write = ({ plural, object }: PolicyObject): void => {
    const { name, namespace, labels = {}, annotations = {} } = object.metadata;
    const table = `${plural}.${RBAC_GROUP}`;
    const key = storeKey(namespace, name);
    if (store.get(table, key)) return;
    const managedFields = managersOf(object, now);
    const place = namespace === undefined ? { name } : { name, namespace };
    const born = { uid: uuid(), resourceVersion: "", creationTimestamp: now };
    const meta = { ...place, ...born, labels, annotations, managedFields };
    const { roleRef, ...rest } = object;
    store.create(table, key, toStore({ ...rest, metadata: meta, ...(roleRef ? { roleRef } : {}) }));
  };
  const policy = defaultPolicy();
  for (const one of policy) if (!one.object.aggregationRule) write(one);
  // Those that collect others come last, the largest at the end, so that nothing is left to collect for a controller.
  for (const wanted of ["view", "edit", "admin"]) {
    const found = policy.find(({ object }) => object.aggregationRule && object.metadata.name === wanted);
    if (!found) continue;
    const all = store.list(`clusterroles.${RBAC_GROUP}`).map((entry) => fromStore(entry.object));
    const rules = aggregates ? aggregatedRules(found.object, all) : null;
    const { aggregationRule, ...role } = found.object;
    write({ ...found, object: { ...role, rules, aggregationRule } });
  }
}

/** What a server would record if these were ordinary writes. */
function managersOf({ metadata, rules, aggregationRule, roleRef, subjects }: ApiObject, time: string): Fields[] {
  const keys = (map: object = {}) => ({
    ".": {},
    ...Object.fromEntries(
      Object.keys(map)
        .sort()
        .map((key) => [`f:${key}`, {}]),
    ),
  });
  const entry = (manager: string, operation: string, fieldsV1: Fields): Fields => ({
    manager,
    operation,
    apiVersion: `${RBAC_GROUP}/v1`,
    time,
    fieldsType: "FieldsV1",
    fieldsV1,
  });
  const own = {
    ...(aggregationRule ? { "f:aggregationRule": { ".": {}, "f:clusterRoleSelectors": {} } } : {}),
    "f:metadata": { "f:annotations": keys(metadata.annotations), "f:labels": keys(metadata.labels) },
    ...(roleRef ? { "f:roleRef": {} } : {}),
    ...(rules && !aggregationRule ? { "f:rules": {} } : {}),
    ...(subjects ? { "f:subjects": {} } : {}),
  };
  const written = entry("kube-apiserver", "Update", own);
  return aggregationRule && rules ? [entry(AGGREGATOR, "Apply", { "f:rules": {} }), written] : [written];
}

/** A role or binding with the resource that it belongs to. */
export interface PolicyObject {
  readonly plural: "clusterroles" | "clusterrolebindings" | "roles" | "rolebindings";
  readonly object: ApiObject;
}

const WORDS = ["ClusterRoleBinding", "ClusterRole", "RoleBinding", "Role"] as const;

/** Reads the table, whose form it describes itself. */
export function defaultPolicy(): PolicyObject[] {
  const objects: PolicyObject[] = [];
  for (const line of policyLines.trim().split("\n")) {
    const [word = "", ...rest] = line.trim().split(" ");
    const kind = WORDS.find((known) => known === word);
    const last = objects.at(-1)?.object;
    if (kind) objects.push(startObject(kind, rest));
    else if (last) addTo(last, word, rest);
  }
  return objects;
}

function startObject(kind: (typeof WORDS)[number], [place = "", ...marks]: readonly string[]): PolicyObject {
  const slash = place.indexOf("/");
  const labels: Record<string, string> = { ...LABELS };
  for (const mark of marks) labels[`${AGGREGATE}${mark}`] = "true";
  const metadata = {
    name: place.slice(slash + 1),
    ...(slash < 0 ? {} : { namespace: place.slice(0, slash) }),
    labels,
    annotations: { ...ANNOTATIONS },
  };
  const object = { kind, apiVersion: `${RBAC_GROUP}/v1`, metadata } as unknown as ApiObject;
  if (kind.endsWith("Role")) object.rules = [];
  return { plural: `${kind.toLowerCase()}s` as PolicyObject["plural"], object };
}

const items = (text: string): string[] => text.split(",").map((item) => (item === "core" ? "" : item));

function addTo(object: Fields, word: string, [first = "", ...rest]: readonly string[]): void {
  switch (word) {
    case "collects":
      object.aggregationRule = {
        clusterRoleSelectors: [first, ...rest].map((mark) => ({ matchLabels: { [`${AGGREGATE}${mark}`]: "true" } })),
      };
      delete object.rules;
      return;
    case "to":
      object.subjects = [first, ...rest].map(subjectOf);
      return;
    case "of": {
      const [kind, name] = [first, rest.join(" ")];
      object.roleRef = { apiGroup: RBAC_GROUP, kind, name };
      return;
    }
    default:
      (object.rules as Fields[]).push(ruleOf(word, first, rest));
  }
}

/** `get,list urls /version`, or `get,list apps,batch deployments,jobs named a,b` */
function ruleOf(verbs: string, first: string, [resources = "", , names]: readonly string[]): Fields {
  if (first === "urls") {
    return { verbs: items(verbs), nonResourceURLs: items(resources) };
  }
  return {
    verbs: items(verbs),
    apiGroups: items(first),
    resources: items(resources),
    ...(names === undefined ? {} : { resourceNames: items(names) }),
  };
}

/** `User:name`, `Group:name` or `ServiceAccount:namespace/name` */
function subjectOf(text: string): Fields {
  const colon = text.indexOf(":");
  const [kind, name] = [text.slice(0, colon), text.slice(colon + 1)];
  if (kind !== "ServiceAccount") return { kind, apiGroup: RBAC_GROUP, name };
  const [namespace, account] = name.split("/");
  return { kind, name: account, namespace };
}
