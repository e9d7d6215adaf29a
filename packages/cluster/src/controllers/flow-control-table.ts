/** The levels and schemas of fairness that every server begins with. */

type Fields = Readonly<Record<string, unknown>>;

const EVERYTHING = ["*"];

const limited = (shares: number, lendable: number, queues?: number, hand = 6): Fields => ({
  type: "Limited",
  limited: {
    nominalConcurrencyShares: shares,
    lendablePercent: lendable,
    limitResponse:
      queues === undefined
        ? { type: "Reject" }
        : { type: "Queue", queuing: { queues, handSize: hand, queueLengthLimit: 50 } },
  },
});

/** Specs of PriorityLevelConfigurations by their names. */
export const LEVELS: Readonly<Record<string, Fields>> = {
  exempt: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  "catch-all": limited(5, 0),
  system: limited(30, 33, 64),
  "node-high": limited(40, 25, 64),
  "leader-election": limited(10, 0, 16, 4),
  "workload-high": limited(40, 50, 128),
  "workload-low": limited(100, 90, 128),
  "global-default": limited(20, 50, 128),
};

const groups = (...names: string[]): Fields[] => names.map((name) => ({ kind: "Group", group: { name } }));
const users = (...names: string[]): Fields[] => names.map((name) => ({ kind: "User", user: { name } }));
const kubeSystem: Fields = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };
const EVERYBODY = groups("system:unauthenticated", "system:authenticated");

const resources = (verbs: string[], apiGroups: string[], names: string[], clusterScope: boolean): Fields => ({
  verbs,
  apiGroups,
  resources: names,
  ...(clusterScope ? { clusterScope } : {}),
  namespaces: EVERYTHING,
});
const ALL_RESOURCES = { resourceRules: [resources(EVERYTHING, EVERYTHING, EVERYTHING, true)] };
const ALL = { ...ALL_RESOURCES, nonResourceRules: [{ verbs: EVERYTHING, nonResourceURLs: EVERYTHING }] };
const LEASES = (verbs: string[]) => resources(verbs, ["coordination.k8s.io"], ["leases"], false);

interface FlowSchemaRow {
  readonly name: string;
  readonly level: string;
  readonly precedence: number;
  readonly by?: "ByUser" | "ByNamespace";
  readonly subjects: readonly Fields[];
  readonly rules: Fields;
}

const ROWS: readonly FlowSchemaRow[] = [
  { name: "exempt", level: "exempt", precedence: 1, subjects: groups("system:masters"), rules: ALL },
  { name: "catch-all", level: "catch-all", precedence: 10_000, by: "ByUser", subjects: EVERYBODY, rules: ALL },
  {
    name: "system-nodes",
    level: "system",
    precedence: 500,
    by: "ByUser",
    subjects: groups("system:nodes"),
    rules: ALL,
  },
  {
    name: "system-node-high",
    level: "node-high",
    precedence: 400,
    by: "ByUser",
    subjects: groups("system:nodes"),
    rules: { resourceRules: [resources(EVERYTHING, [""], ["nodes", "nodes/status"], true), LEASES(EVERYTHING)] },
  },
  {
    name: "probes",
    level: "exempt",
    precedence: 2,
    subjects: EVERYBODY,
    rules: { nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }] },
  },
  {
    name: "system-leader-election",
    level: "leader-election",
    precedence: 100,
    by: "ByUser",
    subjects: [...users("system:kube-controller-manager", "system:kube-scheduler"), kubeSystem],
    rules: { resourceRules: [LEASES(["get", "create", "update"])] },
  },
  {
    name: "kube-controller-manager",
    level: "workload-high",
    precedence: 800,
    by: "ByNamespace",
    subjects: users("system:kube-controller-manager"),
    rules: ALL,
  },
  {
    name: "kube-scheduler",
    level: "workload-high",
    precedence: 800,
    by: "ByNamespace",
    subjects: users("system:kube-scheduler"),
    rules: ALL,
  },
  {
    name: "kube-system-service-accounts",
    level: "workload-high",
    precedence: 900,
    by: "ByNamespace",
    subjects: [kubeSystem],
    rules: ALL,
  },
  {
    name: "service-accounts",
    level: "workload-low",
    precedence: 9_000,
    by: "ByUser",
    subjects: groups("system:serviceaccounts"),
    rules: ALL,
  },
  { name: "global-default", level: "global-default", precedence: 9_900, by: "ByUser", subjects: EVERYBODY, rules: ALL },
];

/** Specs of FlowSchemas by their names. */
export const SCHEMAS: Readonly<Record<string, Fields>> = Object.fromEntries(
  ROWS.map(({ name, level, precedence, by, subjects, rules }) => [
    name,
    {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
      rules: [{ subjects, ...rules }],
    },
  ]),
);
