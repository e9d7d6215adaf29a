/** The Deployment of an operator: one replica, probes, limits, no rights on its node. */

/** What it is made of. */
export interface DeploymentInput {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  /** The namespaces that it serves; undefined: all. */
  readonly serves: readonly string[] | undefined;
}

const PORT = 8080;

/** The manifest. */
export function deploymentManifest({ name, namespace, image, serves }: DeploymentInput): object {
  const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "lotse" };
  const selector = { "app.kubernetes.io/name": name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      // Two at once would work on the same objects: the old one has to be gone before the new one starts.
      strategy: { type: "Recreate" },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: "operator",
              image,
              env: [
                { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
                { name: "LOTSE_RUN_LIVENESS", value: `http://0.0.0.0:${PORT}/healthz` },
                ...(serves ? [{ name: "LOTSE_RUN_NAMESPACE", value: serves.join(",") }] : []),
              ],
              ports: [{ name: "health", containerPort: PORT }],
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
            },
          ],
          terminationGracePeriodSeconds: 30,
        },
      },
    },
  };
}
