import type { Script } from "../script.ts";
import { everywhere, type Fields, type Specimen, spoil } from "./mutations.ts";

const API = "flowcontrol.apiserver.k8s.io/v1";
const subjects = [
  { kind: "User", user: { name: "u" } },
  { kind: "Group", group: { name: "g" } },
  { kind: "ServiceAccount", serviceAccount: { name: "sa", namespace: "default" } },
];
const resourceRule = {
  verbs: ["get"],
  apiGroups: ["a"],
  resources: ["things"],
  namespaces: ["default"],
  clusterScope: true,
};
const pathRule = { verbs: ["get"], nonResourceURLs: ["/x"] };
const schema = (more: Fields = {}): Fields => ({
  spec: {
    matchingPrecedence: 9_000,
    priorityLevelConfiguration: { name: "workload-low" },
    distinguisherMethod: { type: "ByUser" },
    rules: [{ subjects, resourceRules: [resourceRule], nonResourceRules: [pathRule] }],
    ...more,
  },
});
const ruled = (more: Fields): Fields => schema({ rules: [{ subjects, resourceRules: [resourceRule], ...more }] });
const resources = (more: Fields): Fields => ruled({ resourceRules: [{ ...resourceRule, ...more }] });
const paths = (more: Fields): Fields => ruled({ nonResourceRules: [{ ...pathRule, ...more }] });
const who = (...list: Fields[]): Fields => ruled({ subjects: list });
const level = (spec: Fields): Fields => ({ spec: { type: "Limited", ...spec } });
const limited = (more: Fields): Fields =>
  level({ limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, ...more } });
const queued = (queuing: Fields): Fields => limited({ limitResponse: { type: "Queue", queuing } });

const specimens: readonly Specimen[] = [
  {
    ...everywhere(API, "flowschemas", "FlowSchema"),
    good: schema(),
    // Each server looks after the conditions in its own time.
    chosen: ["status"],
    also: {
      "the precedence of the first": schema({ matchingPrecedence: 1 }),
      "too high a precedence": schema({ matchingPrecedence: 10_001 }),
      "a level with a bad name": schema({ priorityLevelConfiguration: { name: "A_b" } }),
      "an unknown distinction": schema({ distinguisherMethod: { type: "ByShoes" } }),
      "no rules": schema({ rules: [] }),
      "a rule about nothing": schema({ rules: [{ subjects }] }),
      "a user who is a group": who({ kind: "User", group: { name: "g" } }),
      "a user and a group": who({ kind: "User", user: { name: "u" }, group: { name: "g" } }),
      "an account and a user": who({
        kind: "ServiceAccount",
        serviceAccount: { name: "*", namespace: "n" },
        user: { name: "u" },
      }),
      "an account with a bad name": who({ kind: "ServiceAccount", serviceAccount: { name: "A_b", namespace: "C_d" } }),
      "an account everywhere": who({ kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "*" } }),
      "somebody unknown": who({ kind: "Robot" }),
      "all verbs and one": resources({ verbs: ["*", "get"] }),
      "a verb that there is not": resources({ verbs: ["walk", "get"] }),
      "all groups and one": resources({ apiGroups: ["*", "a"] }),
      "a group with a bad name": resources({ apiGroups: ["A_b"] }),
      "all resources and one": resources({ resources: ["*", "a"] }),
      "a resource with a bad name": resources({ resources: ["A_b"] }),
      "a resource below one": resources({ resources: ["pods/status"] }),
      "all namespaces and one": resources({ namespaces: ["*", "a"] }),
      "a namespace with a bad name": resources({ namespaces: ["A_b"] }),
      "neither a namespace nor the cluster": resources({ namespaces: [], clusterScope: false }),
      "all paths": paths({ nonResourceURLs: ["*"] }),
      "all paths and one": paths({ nonResourceURLs: ["*", "/a"] }),
      "a path that is none": paths({ nonResourceURLs: ["a"] }),
      "the root": paths({ nonResourceURLs: ["/"] }),
      "a path with a star in it": paths({ nonResourceURLs: ["/a*b", "/a/*", "//a", "/ a"] }),
      "a path with a verb that there is not": paths({ verbs: ["list"] }),
      "a path with all verbs and one": paths({ verbs: ["*", "get"] }),
    },
    changes: { "another level": { spec: { priorityLevelConfiguration: { name: "nowhere" } } } },
  },
  ...["exempt", "catch-all"].map((name) => ({
    ...everywhere(API, "flowschemas", "FlowSchema"),
    label: `FlowSchema ${name}`,
    name,
    good: schema(),
    onlyNew: true,
  })),
  {
    ...everywhere(API, "prioritylevelconfigurations", "PriorityLevelConfiguration"),
    good: level({
      limited: {
        nominalConcurrencyShares: 5,
        lendablePercent: 10,
        borrowingLimitPercent: 20,
        limitResponse: { type: "Queue", queuing: { queues: 16, handSize: 4, queueLengthLimit: 10 } },
      },
    }),
    chosen: ["status"],
    also: {
      "no queues": limited({ limitResponse: { type: "Queue" } }),
      "queues and refusal": limited({
        limitResponse: { type: "Reject", queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } },
      }),
      refusal: limited({}),
      "no shares": limited({ nominalConcurrencyShares: 0 }),
      "too much lent": limited({ lendablePercent: 101 }),
      "nothing borrowed": limited({ borrowingLimitPercent: 0 }),
      "a hand with more cards than the game": queued({ queues: 2, handSize: 4, queueLengthLimit: 1 }),
      "too many queues": queued({ queues: 20_000_000, handSize: 8, queueLengthLimit: 1 }),
      "too large a hand": queued({ queues: 1_000, handSize: 12, queueLengthLimit: 1 }),
      "an exemption": { spec: { type: "Exempt" } },
      "an exemption with limits": { spec: { type: "Exempt", limited: { nominalConcurrencyShares: 1 } } },
      "an exemption of a sort": {
        spec: { type: "Exempt", exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 } },
      },
      "limits with an exemption": level({
        exempt: { nominalConcurrencyShares: 1 },
        limited: { limitResponse: { type: "Reject" } },
      }),
    },
    changes: {
      refusal: { spec: { limited: { limitResponse: { type: "Reject", queuing: null } } } },
      "an exemption": { spec: { type: "Exempt", limited: null } },
    },
  },
  ...["exempt", "catch-all"].map((name) => ({
    ...everywhere(API, "prioritylevelconfigurations", "PriorityLevelConfiguration"),
    label: `PriorityLevelConfiguration ${name}`,
    name,
    good: { spec: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 50 } } },
    also: { limits: level({ limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } }) },
    onlyNew: true,
  })),
];

/** Fairness between clients with each field wrong once, and changed once. */
export const spoiltFlow: Script = {
  title: "fields of flow control",
  steps: specimens.flatMap(spoil),
};
