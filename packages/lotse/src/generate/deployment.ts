/** The Deployment of an operator: one replica, probes, limits, no rights on its node. */

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

/** Tells the operator that its definitions are there: it has no right to write them. */
export const DEFINITIONS_ARE_THERE: Variable = { name: "LOTSE_RUN_INSTALL_CRDS", value: "false" };

/** The labels of everything that belongs to an operator. */
export function labelsOf(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "lotse" };
}

/** The manifest. */
export function deploymentManifest(input: DeploymentInput): object {
  const { name, namespace, image, serves, bringsDefinitions, stopMs, webhooks } = input;
  const env: Variable[] = [
    ...(serves ? [{ name: "LOTSE_RUN_NAMESPACE", value: serves.join(",") }] : []),
    ...(bringsDefinitions ? [DEFINITIONS_ARE_THERE] : []),
    ...(webhooks?.env ?? []),
  ];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: deploymentSpec(name, image, env, stopMs, webhooks),
  };
}

/**
 * Lets clients in to health and metrics only, and the API server to webhooks, whatever else the pod may listen on. What goes
 * out of it is not touched: only the operator's author knows whom it calls.
 */
export function networkPolicyManifest(
  input: Pick<DeploymentInput, "name" | "namespace"> & { readonly webhooks?: Pick<PodWebhooks, "port"> | undefined },
): object {
  const { name, namespace, webhooks } = input;
  const ports = [HEALTH_PORT, ...(webhooks ? [webhooks.port] : [])];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      podSelector: { matchLabels: { "app.kubernetes.io/name": name } },
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

/** The `spec` of the Deployment. */
export function deploymentSpec(
  name: string,
  image: string,
  env: readonly Variable[],
  stopMs: number,
  webhooks?: Pick<PodWebhooks, "port" | "certificates">,
): object {
  const { certificates } = webhooks ?? {};
  return {
    replicas: 1,
    // Two at once would work on the same objects: the old one has to be gone before the new one starts.
    strategy: { type: "Recreate" },
    selector: { matchLabels: { "app.kubernetes.io/name": name } },
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
              { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "LOTSE_RUN_LIVENESS", value: `http://0.0.0.0:${HEALTH_PORT}/healthz` },
              { name: "LOTSE_RUN_EXPLAIN", value: `http://127.0.0.1:${EXPLAIN_PORT}` },
              ...env,
            ],
            ports: [
              { name: "health", containerPort: HEALTH_PORT },
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
      },
    },
  };
}
