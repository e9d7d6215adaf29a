import type { Json, Script, Step } from "../script.ts";
import { patch, post } from "./requests.ts";
import { over, verdict, type WrongValue, wrongValues } from "./wrong-values.ts";

type Fields = { readonly [key: string]: Json };

const dryRun = { dryRun: "All" };
const labels = { app: "x" };
const container = { name: "c", image: "i:1" };
const template = (spec: Fields = {}): Fields => ({ metadata: { labels }, spec: { containers: [container], ...spec } });
const finite = template({ restartPolicy: "Never" });
const claim = {
  metadata: { name: "d" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } },
};

interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly component: string;
  /** The spec of one that is right. */
  readonly good: Fields;
  /** Fields that have a script of their own, or that the schema cannot say anything about. */
  readonly skip: readonly string[];
  /** Mistakes between fields, each by its words: over the good one. */
  readonly wrong: Readonly<Record<string, Fields>>;
}

const groupPath = (apiVersion: string): string => (apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`);
const collection = ({ apiVersion, plural }: Kind): string => `${groupPath(apiVersion)}/namespaces/{{ns}}/${plural}`;

/** Every field of the spec wrong once, every mistake between fields, and every field changed once. */
function scriptOf(kind: Kind): Script {
  const object = (spec: Json, name = "one"): Json => ({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name },
    spec,
  });
  const values = wrongValues(kind.component, kind.skip);
  const create = (name: string, spec: Json): Step =>
    post(name, collection(kind), object(spec), { query: dryRun, view: verdict, verdictOnly: true });
  const change = ({ name, fields }: WrongValue): Step =>
    patch(
      "merge",
      `changes ${name}`,
      `${collection(kind)}/kept`,
      { spec: fields },
      { query: dryRun, view: verdict, verdictOnly: true },
    );
  return {
    title: `the rules of ${kind.plural}`,
    namespace: `rules-${kind.plural}`,
    steps: [
      post("creates the one that is changed", collection(kind), object(kind.good, "kept"), {
        view: verdict,
        verdictOnly: true,
      }),
      ...values.map(({ name, fields }) => create(`creates with ${name}`, over(kind.good, fields))),
      ...Object.entries(kind.wrong).map(([name, spec]) => create(`creates ${name}`, { ...kind.good, ...spec })),
      ...values.map(change),
      ...Object.entries(kind.wrong).map(([name, spec]) => change({ name: `to ${name}`, fields: spec })),
    ],
  };
}

const selector = { matchLabels: labels };
const expressions = (expression: Fields): Fields => ({
  selector: { matchLabels: labels, matchExpressions: [expression] },
});
const selectors: Readonly<Record<string, Fields>> = {
  "with an empty selector": { selector: {} },
  "with another selector": { selector: { matchLabels: { app: "y" } } },
  "with an unknown operator": expressions({ key: "app", operator: "Like", values: ["x"] }),
  "with an operator without values": expressions({ key: "app", operator: "In" }),
  "with an operator with too many values": expressions({ key: "app", operator: "Exists", values: ["x"] }),
  "with a bad value of a selector": expressions({ key: "app", operator: "In", values: ["x", "!"] }),
  "with pods that end": { template: template({ restartPolicy: "OnFailure" }) },
  "with pods that have a deadline": { template: template({ activeDeadlineSeconds: 5 }) },
  "with ephemeral containers": { template: template({ ephemeralContainers: [{ name: "e", image: "i" }] }) },
  "with spaces around the image": { template: template({ containers: [{ name: "c", image: " i " }] }) },
  "with a port of the node": {
    template: template({
      hostNetwork: true,
      containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 2 }] }],
    }),
  },
  "with bad labels of its pods": {
    template: { ...template(), metadata: { labels: { ...labels, a: "!" }, annotations: { "!": "" } } },
  },
};
const rolling = (rollingUpdate: Fields, field: string): Fields => ({
  [field]: { type: "RollingUpdate", rollingUpdate },
});
const surges = (field: string): Readonly<Record<string, Fields>> => ({
  "with neither more nor fewer pods": rolling({ maxSurge: 0, maxUnavailable: 0 }, field),
  "with no part of its pods more or fewer": rolling({ maxSurge: "0%", maxUnavailable: "0%" }, field),
  "with more than all pods missing": rolling({ maxSurge: 0, maxUnavailable: "101%" }, field),
  "with more and fewer pods": rolling({ maxSurge: 1, maxUnavailable: 1 }, field),
  "with a word for a number": rolling({ maxSurge: "many", maxUnavailable: 1 }, field),
  "with another strategy that rolls": { [field]: { type: "Magic", rollingUpdate: { maxSurge: 1 } } },
});
const pods = (plural: string, kind: string, more: Partial<Kind> = {}): Kind => ({
  kind,
  apiVersion: "apps/v1",
  plural,
  component: `${kind}Spec`,
  good: { selector, template: template() },
  skip: ["template.spec", "template.metadata", "selector.matchExpressions"],
  wrong: selectors,
  ...more,
});

const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3 };
const work: Readonly<Record<string, Fields>> = {
  "indexed without completions": { completionMode: "Indexed" },
  "indexed with too many at once": { ...indexed, parallelism: 100_001 },
  "indexed with more failures than indexes": { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 4 },
  "with very many indexes": {
    completionMode: "Indexed",
    completions: 100_001,
    parallelism: 10_001,
    backoffLimitPerIndex: 1,
  },
  "with failures of no index": { maxFailedIndexes: 1 },
  "with pods that are restarted for ever": { template: template() },
  "with pods that are restarted, and a policy": {
    template: template({ restartPolicy: "OnFailure" }),
    podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [1] } }] },
  },
  "with a policy of both": {
    podFailurePolicy: {
      rules: [{ action: "Count", onExitCodes: { operator: "In", values: [1] }, onPodConditions: [{ type: "A" }] }],
    },
  },
  "with exit codes in disorder": {
    podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [2, 1, 1, 0] } }] },
  },
  "with exit codes of nobody": {
    podFailurePolicy: {
      rules: [{ action: "Ignore", onExitCodes: { containerName: "z", operator: "NotIn", values: [1] } }],
    },
  },
  "with a rule that fails an index": {
    podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [1] } }] },
  },
  "with success without indexes": { successPolicy: { rules: [{ succeededCount: 1 }] } },
  "with success of strange indexes": {
    ...indexed,
    successPolicy: {
      rules: [
        { succeededIndexes: "0-1-2" },
        { succeededIndexes: "x" },
        { succeededIndexes: "5" },
        { succeededIndexes: "2,1" },
        { succeededIndexes: "2-1" },
      ],
    },
  },
  "with more success than indexes": {
    ...indexed,
    successPolicy: { rules: [{ succeededIndexes: "0", succeededCount: 2 }, { succeededCount: 4 }, {}] },
  },
  "with no rules of success": { ...indexed, successPolicy: { rules: [] } },
  "with a manager without a domain": { managedBy: "me" },
  "with a manager of a long name": { managedBy: `example.com/${"x".repeat(60)}` },
};

const jobs: Kind = {
  kind: "Job",
  apiVersion: "batch/v1",
  plural: "jobs",
  component: "JobSpec",
  good: { template: finite, suspend: true },
  skip: ["template.spec", "template.metadata", "selector.matchExpressions"],
  wrong: {
    ...work,
    "with a selector of its own": { selector, manualSelector: true },
    "with a selector that is not its own": { selector },
    "with the labels of another": { template: { ...finite, metadata: { labels: { "job-name": "other" } } } },
  },
};

const within = (kinds: Readonly<Record<string, Fields>>): Readonly<Record<string, Fields>> =>
  Object.fromEntries(
    Object.entries(kinds).map(([name, spec]) => [name, { jobTemplate: { spec: { template: finite, ...spec } } }]),
  );

const cronJobs: Kind = {
  kind: "CronJob",
  apiVersion: "batch/v1",
  plural: "cronjobs",
  component: "CronJobSpec",
  good: { schedule: "0 0 1 1 *", jobTemplate: { spec: { template: finite } } },
  skip: ["jobTemplate.spec.template.spec", "jobTemplate.spec.template.metadata", "jobTemplate.metadata"],
  wrong: {
    ...within(work),
    "in a zone in its schedule": { schedule: "TZ=UTC 0 * * * *" },
    "in a zone that is nowhere": { timeZone: "Europe/Mars" },
    "in the local zone": { timeZone: "Local" },
    "in a zone without a name": { timeZone: "" },
    "in a zone outside": { timeZone: "../x" },
    "with a manual selector": { jobTemplate: { spec: { template: finite, manualSelector: true } } },
  },
};

const KINDS: readonly Kind[] = [
  pods("deployments", "Deployment", {
    wrong: {
      ...selectors,
      ...surges("strategy"),
      "that is recreated by rolling": { strategy: { type: "Recreate", rollingUpdate: {} } },
      "that is late before it is ready": { minReadySeconds: 700 },
    },
  }),
  pods("replicasets", "ReplicaSet"),
  pods("daemonsets", "DaemonSet", { wrong: { ...selectors, ...surges("updateStrategy") } }),
  pods("statefulsets", "StatefulSet", {
    good: { selector, template: template(), serviceName: "s", volumeClaimTemplates: [claim] },
    skip: [
      ...["template.spec", "template.metadata", "selector.matchExpressions"],
      "volumeClaimTemplates[].metadata",
      "volumeClaimTemplates[].status",
    ],
    wrong: {
      ...selectors,
      "that rolls when deleted": { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } },
      "that mounts its claim": {
        template: template({ containers: [{ ...container, volumeMounts: [{ name: "d", mountPath: "/d" }] }] }),
      },
      "that mounts what is not there": {
        template: template({ containers: [{ ...container, volumeMounts: [{ name: "e", mountPath: "/d" }] }] }),
      },
      "with a volume of the same name": { template: template({ volumes: [{ name: "d", secret: {} }] }) },
      "with a bad host name": { template: template({ hostname: "!" }) },
      "with access of both sorts": {
        volumeClaimTemplates: [
          { ...claim, spec: { ...claim.spec, accessModes: ["ReadWriteOncePod", "ReadOnlyMany"] } },
        ],
      },
    },
  }),
  {
    kind: "ReplicationController",
    apiVersion: "v1",
    plural: "replicationcontrollers",
    component: "ReplicationControllerSpec",
    good: { replicas: 0, selector: labels, template: template() },
    skip: ["template.spec", "template.metadata"],
    wrong: {
      "with another selector": { selector: { app: "y" } },
      "with pods that end": { template: template({ restartPolicy: "Never" }) },
    },
  },
  jobs,
  cronJobs,
];

/** A script for each kind that makes pods. */
export const workloadRules: readonly Script[] = KINDS.map(scriptOf);
