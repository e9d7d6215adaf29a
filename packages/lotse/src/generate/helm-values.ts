/** What can be set in a chart: the values, a word about each, and the schema that refuses wrong ones. */

import { Commented } from "@lotse/client/meta";
import type { CoordinationPlan } from "../declare/index.ts";
import type { Certificates } from "./certificates.ts";
import { EXPLAIN_PORT, HEALTH_PORT, METRICS_PORT } from "./deployment.ts";
import { WEBHOOK_PORT } from "./webhooks.ts";

/** What the values begin with. */
export interface ChartDefaults {
  readonly repository: string;
  /** Empty: the chart's `appVersion`. */
  readonly tag: string;
  /** Goes before the tag; empty: none. */
  readonly digest: string;
  /** The namespaces that are served; empty: all. */
  readonly namespaces: readonly string[];
  /** Whether the operator writes its definitions by itself; undefined: it has none. */
  readonly installCrds: boolean | undefined;
  /** After how long Kubernetes may kill the operator that it has asked to stop. */
  readonly terminationSeconds: number;
  /** Who makes the certificate of the webhook server; undefined: there is none. */
  readonly certificates: Certificates | undefined;
  readonly replicas: number;
  /** How replicas share the work. */
  readonly coordination: CoordinationPlan["type"];
  /** Whether metrics are for those who may read them. */
  readonly metricsAuth: boolean;
}

/** Names, and patterns as `lotse run --namespace` takes them. */
const NAMESPACE_PATTERN = "^!?[a-z0-9*?\\[\\]]([a-z0-9*?\\[\\]-]*[a-z0-9*?\\[\\]])?$";

/** One value of the chart: where it stands, what it is about, and what it may be. */
interface Entry {
  readonly comment?: string;
  readonly value: unknown;
  readonly schema: object;
}

/** A group of values, or one. */
type Entries = { readonly [key: string]: Entry | { readonly group: Entries; readonly comment?: string } };

const text = { type: "string" };
const map = { type: "object" };
const texts = { type: "object", additionalProperties: text };

function entriesOf(defaults: ChartDefaults): Entries {
  const { repository, tag, digest, namespaces, installCrds, terminationSeconds, certificates } = defaults;
  return {
    image: {
      group: {
        repository: { value: repository, schema: { type: "string", minLength: 1 } },
        tag: { comment: "The version of the chart's application unless one is named.", value: tag, schema: text },
        digest: {
          comment: "sha256:…, which goes before the tag.",
          value: digest,
          schema: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
        },
        pullPolicy: { value: "IfNotPresent", schema: { enum: ["Always", "IfNotPresent", "Never"] } },
      },
    },
    imagePullSecrets: {
      value: [],
      schema: { type: "array", items: { type: "object", required: ["name"], properties: { name: text } } },
    },
    nameOverride: { value: "", schema: { type: "string", maxLength: 63 } },
    fullnameOverride: { value: "", schema: { type: "string", maxLength: 63 } },
    namespaces: {
      comment: "Only objects of these namespaces are handled, and only there are rights given; all when empty.",
      value: [...namespaces],
      schema: { type: "array", items: { type: "string", maxLength: 64, pattern: NAMESPACE_PATTERN } },
    },
    ...(installCrds !== undefined && {
      installCrds: {
        comment: [
          "Whether the operator brings its definitions up to date when it starts: Helm installs them, and never",
          "changes them afterwards. Takes the right to create and change definitions.",
        ].join("\n"),
        value: installCrds,
        schema: { type: "boolean" },
      },
    }),
    ...replicaEntries(defaults),
    serviceAccount: {
      group: {
        create: { value: true, schema: { type: "boolean" } },
        name: { comment: "The release's full name unless one is named.", value: "", schema: text },
        annotations: { value: {}, schema: texts },
      },
    },
    rbac: {
      group: {
        create: {
          comment: "Without, an administrator gives the account its rights.",
          value: true,
          schema: { type: "boolean" },
        },
      },
    },
    logFormat: { value: "json", schema: { enum: ["json", "pretty"] } },
    verbose: { value: false, schema: { type: "boolean" } },
    env: {
      comment: "More variables for the operator, as a container has them.",
      value: [],
      schema: {
        type: "array",
        items: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string", minLength: 1 }, value: text, valueFrom: map },
          additionalProperties: false,
        },
      },
    },
    port: {
      comment: "Where health and metrics are served.",
      value: HEALTH_PORT,
      schema: { type: "integer", minimum: 1024, maximum: 65_535 },
    },
    metrics: {
      group: {
        auth: {
          comment: [
            "Whether metrics are shown only to those who may get the URL /metrics (the role <release>-metrics-reader): by",
            "https, on a port of their own. Takes the right to ask the cluster who somebody is, and what they may do.",
          ].join("\n"),
          value: defaults.metricsAuth,
          schema: { type: "boolean" },
        },
        port: { value: METRICS_PORT, schema: { type: "integer", minimum: 1024, maximum: 65_535 } },
      },
    },
    explainPort: {
      comment: [
        "Where `lotse explain` and `lotse retry` are answered, inside the pod alone: kubectl port-forward gets there.",
        "0: nowhere.",
      ].join("\n"),
      value: EXPLAIN_PORT,
      schema: { type: "integer", anyOf: [{ const: 0 }, { minimum: 1024 }], maximum: 65_535 },
    },
    ...(certificates !== undefined && { webhooks: { group: webhookEntries(certificates) } }),
    networkPolicy: {
      group: {
        create: {
          comment: `Lets clients in to the port of health and metrics${
            certificates === undefined ? "" : ", and to that of webhooks,"
          } only; what goes out is not touched.`,
          value: true,
          schema: { type: "boolean" },
        },
      },
    },
    livenessProbe: { value: { periodSeconds: 20, timeoutSeconds: 5 }, schema: probe() },
    readinessProbe: { value: { periodSeconds: 10 }, schema: probe() },
    resources: {
      value: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "256Mi" } },
      schema: {
        type: "object",
        properties: { requests: quantities(), limits: quantities(), claims: { type: "array" } },
        additionalProperties: false,
      },
    },
    podSecurityContext: {
      value: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      schema: map,
    },
    securityContext: {
      value: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      schema: map,
    },
    terminationGracePeriodSeconds: { value: terminationSeconds, schema: { type: "integer", minimum: 0 } },
    podAnnotations: { value: {}, schema: texts },
    podLabels: { value: {}, schema: texts },
    priorityClassName: { value: "", schema: text },
    nodeSelector: { value: {}, schema: texts },
    tolerations: { value: [], schema: { type: "array", items: map } },
    affinity: { value: {}, schema: map },
    topologySpreadConstraints: {
      comment: "Several replicas are spread over nodes and zones where that is possible, unless it is said here.",
      value: [],
      schema: { type: "array", items: map },
    },
  };
}

/** How many there are, and how they share the work. Peers of one priority give way to each other: there is but one. */
function replicaEntries({ replicas, coordination }: ChartDefaults): Entries {
  if (coordination === "peering") {
    return {
      replicas: {
        comment: "1, or 0 to pause: of two with the same priority both would pause.",
        value: replicas,
        schema: { type: "integer", enum: [0, 1] },
      },
    };
  }
  return {
    replicas: {
      comment: "0 pauses the operator; more than one needs a coordination.",
      value: replicas,
      schema: { type: "integer", minimum: 0 },
    },
    coordination: {
      comment: [
        "How replicas share the work: leader (one works, all others are ready to take over), shards (each works on its",
        "share of the objects), or alone (there must never be two: the old one is gone before the new one starts).",
      ].join("\n"),
      value: coordination,
      schema: { enum: ["leader", "shards", "alone"] },
    },
  };
}

/** Two that know nothing of each other would work on the same objects. */
const ALONE_IS_ONE = {
  if: { properties: { coordination: { const: "alone" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { replicas: { maximum: 1 } } },
};

/** Where the API server asks the operator. */
function webhookEntries(certificates: Certificates): Entries {
  const byName = typeof certificates === "object";
  return {
    port: {
      comment: "Where the API server asks the operator, behind a Service that listens on 443.",
      value: WEBHOOK_PORT,
      schema: { type: "integer", minimum: 1024, maximum: 65_535 },
    },
    certificates: {
      group: {
        mode: {
          comment: [
            "Who makes the certificate: own (the operator, in a Secret, renewed by itself), cert-manager (which has to be",
            "installed), or secret (another program fills the Secret secretName with tls.crt, tls.key and ca.crt).",
          ].join("\n"),
          value: byName ? "secret" : certificates,
          schema: { enum: ["own", "cert-manager", "secret"] },
        },
        secretName: { value: byName ? certificates.secret : "", schema: { type: "string", maxLength: 253 } },
      },
    },
  };
}

function probe(): object {
  const seconds = { type: "integer", minimum: 1 };
  return {
    type: "object",
    properties: {
      initialDelaySeconds: { type: "integer", minimum: 0 },
      periodSeconds: seconds,
      timeoutSeconds: seconds,
      failureThreshold: seconds,
      successThreshold: seconds,
    },
    additionalProperties: false,
  };
}

function quantities(): object {
  return { type: "object", additionalProperties: { type: ["string", "number"] } };
}

/** What `values.yaml` holds, with its comments. */
export function chartValues(defaults: ChartDefaults): object {
  return valuesOf(entriesOf(defaults));
}

/** What `values.schema.json` holds. A value that the chart does not know is a mistake. */
export function chartValuesSchema(defaults: ChartDefaults): object {
  const schema = schemaOf(entriesOf(defaults));
  // Helm hands these in by itself when the chart is part of another one.
  const properties = { ...schema.properties, global: map };
  return { $schema: "http://json-schema.org/draft-07/schema#", ...schema, properties, ...ALONE_IS_ONE };
}

interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly additionalProperties: false;
}

function valuesOf(entries: Entries): object {
  return Object.fromEntries(
    Object.entries(entries).map(([key, entry]) => {
      const value = "group" in entry ? valuesOf(entry.group) : entry.value;
      return [key, entry.comment === undefined ? value : new Commented(entry.comment, value)];
    }),
  );
}

function schemaOf(entries: Entries): ObjectSchema {
  const properties = Object.fromEntries(
    Object.entries(entries).map(([key, entry]) => {
      const schema = "group" in entry ? schemaOf(entry.group) : entry.schema;
      return [key, { ...(entry.comment !== undefined && { description: entry.comment }), ...schema }];
    }),
  );
  return { type: "object", properties, additionalProperties: false };
}
