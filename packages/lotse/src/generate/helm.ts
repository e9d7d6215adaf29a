/** The Helm chart of an operator: its definitions, its rights and its Deployment, with values that a schema checks. */
import type { CustomResourceDefinition } from "@lotse/client";
import { toYaml } from "@lotse/client/meta";
import type { About } from "./about.ts";
import { byNamespace, ruleWithReason } from "./access.ts";
import type { Certificates } from "./certificates.ts";
import type { Replication } from "./coordination.ts";
import { terminationSeconds } from "./deployment.ts";
import { coordinationParts, disruptionBudgetTemplate } from "./helm-coordination.ts";
import { metricsReaderTemplate } from "./helm-metrics.ts";
import {
  deploymentTemplate,
  helpersTemplate,
  networkPolicyTemplate,
  notesTemplate,
  type OwnRules,
  rbacTemplate,
  serviceAccountTemplate,
} from "./helm-templates.ts";
import { type ChartDefaults, chartValues, chartValuesSchema } from "./helm-values.ts";
import { certificatesTemplate, serviceTemplate, webhookHelpers } from "./helm-webhooks.ts";
import { needsOfMetricsAuth } from "./metrics-auth.ts";
import { type Need, rulesFor } from "./rbac.ts";

/** One file of what is made; `name` is relative, with slashes. */
export interface GeneratedFile {
  readonly name: string;
  readonly text: string;
}

/** What a chart is made of. */
export interface ChartInput {
  readonly name: string;
  readonly about: About;
  readonly definitions: readonly CustomResourceDefinition["body"][];
  /** What the operator needs when it serves all namespaces and its definitions are there. */
  readonly needs: readonly Need[];
  /** What it needs besides to install them. */
  readonly installNeeds: readonly Need[];
  /** Whether it does so unless the chart's user says otherwise. */
  readonly installs: boolean;
  /** What it needs besides when its namespaces are given as patterns. */
  readonly patternNeeds: readonly Need[];
  /** `example.com/rates:1`; undefined: the operator's name, in the version of the application. */
  readonly image: string | undefined;
  /** The namespaces that it serves unless the chart's user says otherwise; undefined: all. */
  readonly serves: readonly string[] | undefined;
  /** How long the operator may take to stop. */
  readonly stopMs: number;
  /** Who makes the certificate of its webhook server unless the chart's user says otherwise; undefined: it has none. */
  readonly certificates?: Certificates | undefined;
  /** How many there are, and how they share the work, unless the chart's user says otherwise. */
  readonly replication: Replication;
  /** What they need to do so, by how they do it; `needs` has nothing of it. */
  readonly coordinationNeeds: Readonly<Record<"leader" | "shards", readonly Need[]>>;
  /** Whether metrics are for those who may read them, unless the chart's user says otherwise. */
  readonly metricsAuth: boolean;
}

/** The oldest Kubernetes that is served; the suffix lets distributions' own versions pass. */
const KUBE_VERSION = ">=1.31.0-0";

/** The files of the chart, in the order of their names. */
export function helmChart(input: ChartInput): GeneratedFile[] {
  const { name, about, definitions, needs, patternNeeds, installNeeds } = input;
  const defaults: ChartDefaults = {
    ...imageParts(input.image ?? name),
    namespaces: input.serves ?? [],
    installCrds: definitions.length > 0 ? input.installs : undefined,
    terminationSeconds: terminationSeconds(input.stopMs),
    certificates: input.certificates,
    replicas: input.replication.replicas,
    coordination: input.replication.plan.type,
    metricsAuth: input.metricsAuth,
  };
  const asked = input.certificates !== undefined;
  const coordination = coordinationParts(name, input.replication);
  const rules = {
    cluster: rulesText(needs.filter(({ clusterWide }) => clusterWide)),
    namespaced: rulesText(needs.filter(({ clusterWide, inOwnNamespace }) => !clusterWide && !inOwnNamespace)),
    own: ownRules(input, asked),
    patterns: rulesText(patternNeeds),
    definitions: rulesText(installNeeds),
    metrics: rulesText(needsOfMetricsAuth()),
  };
  const plurals = definitions.map(({ metadata }) => metadata?.name ?? "");
  return [
    { name: "Chart.yaml", text: toYaml(chartFile(name, about)) },
    ...definitions.map((one) => ({ name: `crds/${one.metadata?.name ?? "crd"}.yaml`, text: toYaml(one) })),
    { name: "templates/NOTES.txt", text: notesTemplate(name, plurals) },
    { name: "templates/_helpers.tpl", text: `${helpersTemplate(name)}${asked ? webhookHelpers(name) : ""}` },
    ...(asked ? [{ name: "templates/certificates.yaml", text: certificatesTemplate(name) }] : []),
    { name: "templates/deployment.yaml", text: deploymentTemplate(name, definitions.length > 0, asked, coordination) },
    { name: "templates/metrics.yaml", text: metricsReaderTemplate(name) },
    { name: "templates/networkpolicy.yaml", text: networkPolicyTemplate(name, asked) },
    { name: "templates/poddisruptionbudget.yaml", text: disruptionBudgetTemplate(name) },
    { name: "templates/rbac.yaml", text: rbacTemplate(name, rules) },
    ...(asked ? [{ name: "templates/service.yaml", text: serviceTemplate(name) }] : []),
    { name: "templates/serviceaccount.yaml", text: serviceAccountTemplate(name) },
    { name: "values.schema.json", text: `${JSON.stringify(chartValuesSchema(defaults), null, 2)}\n` },
    { name: "values.yaml", text: toYaml(chartValues(defaults)) },
  ];
}

function chartFile(name: string, { version, description, homepage, source, author, keywords }: About): object {
  return {
    apiVersion: "v2",
    name,
    description: description ?? `The operator ${name}`,
    type: "application",
    version,
    appVersion: version,
    kubeVersion: KUBE_VERSION,
    home: homepage,
    sources: source === undefined ? undefined : [source],
    keywords: keywords.length > 0 ? keywords : undefined,
    maintainers: author && [author],
  };
}

/** `host:5000/rates:1@sha256:…` in its parts: what follows the last colon is a tag, unless it is a port and a path. */
export function imageParts(image: string): Pick<ChartDefaults, "repository" | "tag" | "digest"> {
  const [, name = image, digest = ""] = /^([^@]+)@(sha256:[0-9a-f]{64})$/.exec(image) ?? [];
  const [, repository = name, tag = ""] = /^(.+):(\w[\w.-]{0,127})$/.exec(name) ?? [];
  return { repository, tag, digest };
}

/** What the operator needs beside itself, each part with when it does. */
function ownRules({ needs, coordinationNeeds, replication }: ChartInput, asked: boolean): OwnRules[] {
  const secrets = ({ resource }: Need) => asked && resource === "secrets";
  const beside = needs.filter(({ inOwnNamespace }) => inOwnNamespace);
  const parts: (readonly [condition: string | undefined, needs: readonly Need[]])[] = [
    [undefined, beside.filter((need) => !secrets(need))],
    ['eq .Values.webhooks.certificates.mode "own"', beside.filter(secrets)],
  ];
  if (replication.plan.type !== "peering") {
    for (const how of ["leader", "shards"] as const) {
      parts.push([`eq .Values.coordination "${how}"`, coordinationNeeds[how]]);
    }
  }
  return parts.flatMap(([condition, needed]) =>
    [...byNamespace(needed, "{{ .Release.Namespace }}")].map(([namespace, some]) => ({
      condition,
      namespace,
      rules: rulesText(some) ?? "",
    })),
  );
}

function rulesText(needs: readonly Need[]): string | undefined {
  return needs.length === 0 ? undefined : toYaml(rulesFor(needs).map(ruleWithReason));
}
