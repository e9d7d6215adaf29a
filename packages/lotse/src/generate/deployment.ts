/** The Deployment of an operator: its replicas, probes, limits, no rights on its node. */
import {
  COORDINATION_VARIABLE,
  disruptionBudgetManifest,
  ONE_ALONE,
  type Replication,
  spreadOf,
  strategyOf,
} from "./coordination.ts";

/** What it is made of. */
export interface DeploymentInput {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  /** The namespaces that it serves; undefined: all. */
  readonly serves: readonly string[] | undefined;
  /** Whether the operator would install definitions that come with the Deployment already. */
  readonly bringsDefinitions: boolean;
  /** How long the operator may take to stop. */
  readonly stopMs: number;
  /** How the API server reaches it; undefined: it is not asked anything. */
  readonly webhooks?: PodWebhooks | undefined;
  /** How many there are, and how they share the work; default: one, alone. */
  readonly replication?: Replication | undefined;
  /** Whether metrics are for those who may read them; default: for whoever reaches the pod. */
  readonly metricsAuth?: boolean | undefined;
}

/** What a pod needs that the API server asks. */
export interface PodWebhooks {
  readonly port: number;
  readonly env: readonly Variable[];
  /** The Secret with certificates that others make, and where it is mounted. */
  readonly certificates?: { readonly secret: string; readonly dir: string } | undefined;
}

/** A variable of a container. */
export type Variable = { readonly name: string } & ({ readonly value: string } | { readonly valueFrom: object });

/** Where health and metrics are served, to every client that reaches the pod. */
export const HEALTH_PORT = 8080;

/** Where questions about objects are answered, inside the pod alone: `kubectl port-forward` gets there. */
export const EXPLAIN_PORT = 8081;

/** Where metrics are served that are not for everybody. */
export const METRICS_PORT = 8443;

/** Tells the operator to serve them there. */
export const METRICS_AUTH: Variable = { name: "LOTSE_RUN_METRICS_AUTH", value: `https://0.0.0.0:${METRICS_PORT}` };

/** Tells the operator that its definitions are there: it has no right to write them. */
export const DEFINITIONS_ARE_THERE: Variable = { name: "LOTSE_RUN_INSTALL_CRDS", value: "false" };

/** The labels of everything that belongs to an operator. */
export function labelsOf(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "lotse" };
}

/** By which labels the pods of an operator are found. */
export function podLabelsOf(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name };
}

/** The manifests: the Deployment, and a budget where there are several pods. */
export function deploymentManifests(input: DeploymentInput): object[] {
  const { name, namespace, replication = ONE_ALONE } = input;
  if (replication.replicas < 2) return [deploymentManifest(input)];
  const metadata = { name, namespace, labels: labelsOf(name) };
  return [disruptionBudgetManifest(metadata, podLabelsOf(name)), deploymentManifest(input)];
}

/** The Deployment itself. */
export function deploymentManifest(input: DeploymentInput): object {
  const { name, namespace, image, serves, bringsDefinitions, stopMs, webhooks, replication, metricsAuth } = input;
  const env: Variable[] = [
    ...(serves ? [{ name: "LOTSE_RUN_NAMESPACE", value: serves.join(",") }] : []),
    ...(bringsDefinitions ? [DEFINITIONS_ARE_THERE] : []),
    ...(webhooks?.env ?? []),
  ];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: deploymentSpec({ name, image, env, stopMs, webhooks, replication, metricsAuth }),
  };
}

/**
 * Lets clients in to health and metrics only, and the API server to webhooks, whatever else the pod may listen on. What goes
 * out of it is not touched: only the operator's author knows whom it calls.
 */
export function networkPolicyManifest(
  input: Pick<DeploymentInput, "name" | "namespace" | "metricsAuth"> & {
    readonly webhooks?: Pick<PodWebhooks, "port"> | undefined;
  },
): object {
  const { name, namespace, webhooks, metricsAuth } = input;
  const ports = [HEALTH_PORT, ...(metricsAuth ? [METRICS_PORT] : []), ...(webhooks ? [webhooks.port] : [])];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      podSelector: { matchLabels: podLabelsOf(name) },
      policyTypes: ["Ingress"],
      ingress: [{ ports: ports.map((port) => ({ port, protocol: "TCP" })) }],
    },
  };
}

/** What Kubernetes gives a pod that says nothing. */
const USUAL_SECONDS = 30;

/** For what is not the operator's own: a process that starts, the kubelet that notices. */
const SPARE_SECONDS = 5;

/** After how long Kubernetes may kill an operator that it has asked to stop: never before the operator gives up itself. */
export function terminationSeconds(stopMs: number): number {
  return Math.max(USUAL_SECONDS, Math.ceil(stopMs / 1000) + SPARE_SECONDS);
}

/** What the `spec` of a Deployment is made of. */
export interface DeploymentSpecInput
  extends Pick<DeploymentInput, "name" | "image" | "stopMs" | "replication" | "metricsAuth"> {
  readonly env: readonly Variable[];
  readonly webhooks?: Pick<PodWebhooks, "port" | "certificates"> | undefined;
}

/** The `spec` of the Deployment. */
export function deploymentSpec(input: DeploymentSpecInput): object {
  const { name, image, env, stopMs, webhooks, replication = ONE_ALONE, metricsAuth } = input;
  const { replicas, plan, declared } = replication;
  const { certificates } = webhooks ?? {};
  const spread = spreadOf(replicas, podLabelsOf(name));
  return {
    replicas,
    strategy: strategyOf(plan),
    selector: { matchLabels: podLabelsOf(name) },
    template: {
      metadata: { labels: labelsOf(name) },
      spec: {
        serviceAccountName: name,
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "operator",
            image,
            env: [
              // Who it is among others, and where its Lease lies.
              { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
              { name: "LOTSE_RUN_LIVENESS", value: `http://0.0.0.0:${HEALTH_PORT}/healthz` },
              ...(metricsAuth ? [METRICS_AUTH] : []),
              { name: "LOTSE_RUN_EXPLAIN", value: `http://127.0.0.1:${EXPLAIN_PORT}` },
              ...(plan.type === declared ? [] : [{ name: COORDINATION_VARIABLE, value: plan.type }]),
              ...env,
            ],
            ports: [
              { name: "health", containerPort: HEALTH_PORT },
              ...(metricsAuth ? [{ name: "metrics", containerPort: METRICS_PORT }] : []),
              ...(webhooks ? [{ name: "webhooks", containerPort: webhooks.port }] : []),
            ],
            livenessProbe: { httpGet: { path: "/healthz", port: "health" }, periodSeconds: 20, timeoutSeconds: 5 },
            readinessProbe: { httpGet: { path: "/readyz", port: "health" }, periodSeconds: 10 },
            resources: {
              requests: { cpu: "50m", memory: "96Mi" },
              limits: { memory: "256Mi" },
            },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
            ...(certificates && {
              volumeMounts: [{ name: "certificates", mountPath: certificates.dir, readOnly: true }],
            }),
          },
        ],
        ...(certificates && { volumes: [{ name: "certificates", secret: { secretName: certificates.secret } }] }),
        terminationGracePeriodSeconds: terminationSeconds(stopMs),
        ...(spread && { topologySpreadConstraints: spread }),
      },
    },
  };
}
