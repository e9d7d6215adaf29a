import type { Json, Script, Step } from "../script.ts";
import { get, patch, post, type Rest, remove } from "./requests.ts";

type Fields = { readonly [key: string]: Json };
const pods = "/api/v1/namespaces/{{ns}}/pods";
const budgets = "/apis/policy/v1/namespaces/{{ns}}/poddisruptionbudgets";
const ready = [{ type: "Ready", status: "True", lastTransitionTime: "2024-01-02T03:04:05Z" }];

/** A pod in a state of its own; it is on a node, so that it takes time to go. */
const pod = (name: string, app: string, status: Fields): Step[] => [
  post(
    `creates the pod ${name}`,
    pods,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { app } },
      spec: { nodeName: "n", automountServiceAccountToken: false, containers: [{ name: "c", image: "i:1" }] },
    },
    { view: () => null, capture: { [name.replace("-", "")]: "metadata.uid" } },
  ),
  patch("merge", `sets the state of the pod ${name}`, `${pods}/${name}/status`, { status }, { view: versionOf }),
];

const budget = (name: string, app: string, spec: Fields, status: Fields): Step[] => [
  post(
    `creates the budget ${name}`,
    budgets,
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name },
      spec: { selector: { matchLabels: { app } }, ...spec },
    },
    { view: () => null },
  ),
  patch("merge", `counts for the budget ${name}`, `${budgets}/${name}/status`, { status }, { view: () => null }),
];

const counted = (more: Fields): Fields => ({
  observedGeneration: 1,
  disruptionsAllowed: 1,
  currentHealthy: 2,
  desiredHealthy: 1,
  expectedPods: 2,
  ...more,
});

const evict = (what: string, name: string, more: Fields = {}, rest: Rest = {}): Step =>
  post(
    `evicts ${what}`,
    `${pods}/${name}/eviction`,
    { apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, ...more },
    rest,
  );

const dry = { query: { dryRun: "All" } };

/** Pods that are asked to go, and budgets that say whether they may. */
export const evictions: Script = {
  title: "evictions",
  namespace: "diff-evictions",
  steps: [
    ...pod("free", "free", { phase: "Running", conditions: ready }),
    evict("with nothing in it", "free", { metadata: {} }),
    evict("with another name", "free", { metadata: { name: "other" } }),
    evict("in another namespace", "free", { metadata: { name: "free", namespace: "other" } }),
    evict("with another kind", "free", { kind: "Pod" }),
    evict("with another group", "free", { apiVersion: "apps/v1" }),
    evict("in the older version", "free", { apiVersion: "policy/v1beta1" }, dry),
    evict("in a version that there is not", "free", { apiVersion: "policy/v7" }),
    post("evicts with a body that is empty", `${pods}/free/eviction`, {}),
    post("evicts with a list", `${pods}/free/eviction`, []),
    post("evicts with a text", `${pods}/free/eviction`, "{"),
    evict("with a field that is unknown", "free", { bogus: 1 }, dry),
    evict(
      "with a field that is unknown, strictly",
      "free",
      { bogus: 1 },
      { query: { fieldValidation: "Strict", dryRun: "All" } },
    ),
    evict("with options that are none", "free", { deleteOptions: "now" }),
    evict("with a negative time", "free", { deleteOptions: { gracePeriodSeconds: -1 } }, dry),
    evict("with a time that is none", "free", { deleteOptions: { gracePeriodSeconds: "x" } }, dry),
    evict("with an unknown propagation", "free", { deleteOptions: { propagationPolicy: "Magic" } }, dry),
    evict(
      "with two propagations",
      "free",
      { deleteOptions: { propagationPolicy: "Orphan", orphanDependents: true } },
      dry,
    ),
    evict("with a danger", "free", { deleteOptions: { ignoreStoreReadErrorWithClusterBreakingPotential: true } }, dry),
    evict("with an unknown dry run", "free", { deleteOptions: { dryRun: ["Some"] } }),
    evict("with two dry runs", "free", { deleteOptions: { dryRun: ["All"] } }, dry),
    evict("with two dry runs that differ", "free", { deleteOptions: { dryRun: ["All", "All"] } }, dry),
    evict("with an unknown dry run of the request", "free", {}, { query: { dryRun: "Some" } }),
    evict("for a dry run of its own", "free", { deleteOptions: { dryRun: ["All"] } }),
    evict("for a dry run", "free", {}, dry),
    evict("one with another uid", "free", { deleteOptions: { preconditions: { uid: "other" } } }),
    evict("one with another uid for a dry run", "free", { deleteOptions: { preconditions: { uid: "other" } } }, dry),
    evict("one with another version", "free", { deleteOptions: { preconditions: { resourceVersion: "1" } } }),
    evict("one with its uid", "free", { deleteOptions: { preconditions: { uid: "{{free}}" } } }, dry),
    get("reads the pod that nobody took", `${pods}/free`, {}, { view: stateOf }),
    evict("one that nothing guards", "free"),
    get("reads the pod that goes", `${pods}/free`, {}, { view: stateOf }),
    evict("one that goes already", "free"),
    evict("one that goes already at once", "free", { deleteOptions: { gracePeriodSeconds: 0 } }),
    evict("one that is gone", "free"),
    get("gets an eviction", `${pods}/free/eviction`),
    remove("deletes an eviction", `${pods}/free/eviction`),
    { name: "puts an eviction", method: "PUT", path: `${pods}/free/eviction`, body: {} },

    ...pod("first", "guarded", { phase: "Running", conditions: ready }),
    ...pod("second", "guarded", { phase: "Running", conditions: ready }),
    ...pod("unready", "guarded", { phase: "Running" }),
    ...pod("pending", "guarded", { phase: "Pending" }),
    ...pod("done", "guarded", { phase: "Succeeded" }),
    ...budget("guard", "guarded", { minAvailable: 1 }, counted({})),
    evict("one that is guarded for a dry run", "first", {}, dry),
    get("reads the budget after a dry run", `${budgets}/guard`, {}, { view: statusOf }),
    evict("one that is guarded", "first"),
    get("reads the budget that is spent", `${budgets}/guard`, {}, { view: statusOf }),
    evict("one too many", "second"),
    evict("one too many for a dry run", "second", {}, dry),
    evict("one that is not ready", "unready"),
    evict("one that is pending", "pending"),
    evict("one that is done", "done"),
    patch(
      "merge",
      "counts too few",
      `${budgets}/guard/status`,
      { status: { currentHealthy: 1, desiredHealthy: 1 } },
      { view: statusOf },
    ),
    evict("one too many of too few", "second"),
    patch(
      "merge",
      "counts none",
      `${budgets}/guard/status`,
      { status: { currentHealthy: 0, desiredHealthy: 1 } },
      { view: statusOf },
    ),
    ...pod("sick", "guarded", { phase: "Running" }),
    evict("one that is not ready while too few are", "sick"),
    patch(
      "merge",
      "always allows the unready",
      `${budgets}/guard`,
      { spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } },
      { view: () => null },
    ),
    evict("one that is not ready and may always go", "sick"),
    evict("one before the budget is counted again", "second"),
    patch(
      "merge",
      "counts again",
      `${budgets}/guard/status`,
      { status: { observedGeneration: 2, disruptionsAllowed: 0 } },
      { view: statusOf },
    ),
    evict("one when none is allowed", "second"),
    ...budget("other", "guarded", { maxUnavailable: 1 }, counted({})),
    evict("one with two budgets", "second"),
    evict("one with two budgets for a dry run", "second", {}, dry),
    remove("takes the other budget away", `${budgets}/other`, undefined, { view: () => null }),
    remove("takes the budget away", `${budgets}/guard`, undefined, { view: () => null }),
    evict("one when no budget is left", "second", { deleteOptions: { gracePeriodSeconds: 0 } }),
    get("reads what is left", pods, {}, { view: namesOf }),
  ],
};

/** Errors name it. */
function versionOf(body: Json): Json {
  return { resourceVersion: (body as { metadata: Fields }).metadata.resourceVersion ?? null };
}

function stateOf(body: Json): Json {
  const { metadata, status } = body as { metadata: Fields; status: Fields };
  const { deletionGracePeriodSeconds = null, generation = null } = metadata;
  return { deletionGracePeriodSeconds, generation, deleted: metadata.deletionTimestamp !== undefined, status };
}

function statusOf(body: Json): Json {
  return (body as { status?: Json }).status ?? null;
}

function namesOf(body: Json): Json {
  return (body as { items: { metadata: { name: Json } }[] }).items.map(({ metadata }) => metadata.name);
}
