// The objects that the server hands out: a small ConfigMap, and Pods as a Deployment makes them, with a sidecar, probes,
// volumes, a full status and the field managers that every live Pod has. About 7.7 kB of JSON each, 2 kB of it managed fields.

const created = "2026-11-02T08:15:30Z";
const digest = (seed) => Array.from({ length: 64 }, (_, at) => ((seed * 31 + at * 17) % 16).toString(16)).join("");

/** A uid that looks like one and is another for every number. */
const uidOf = (number) => `5a1c0de0-7b3f-4c2e-9d41-${number.toString(16).padStart(12, "0")}`;

export const smallObject = {
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: {
    name: "small",
    namespace: "default",
    uid: uidOf(1),
    resourceVersion: "4711",
    creationTimestamp: created,
    labels: { "app.kubernetes.io/name": "web", "app.kubernetes.io/managed-by": "bench" },
  },
  data: { "settings.json": '{"colour":"blue","retries":3,"endpoints":["a.example","b.example"]}', mode: "production" },
};

/** The version of a Pod is eight digits, so that the server can write another one in its place. */
export const firstVersion = 10_000_000;

const environment = ["LOG_LEVEL", "DATABASE_HOST"];

function container(name, image, port) {
  const probe = (path) => ({
    httpGet: { path, port, scheme: "HTTP" },
    initialDelaySeconds: 5,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  return {
    name,
    image,
    args: ["--listen", `:${port}`, "--config", "/etc/config/settings.json"],
    ports: [{ name: "http", containerPort: port, protocol: "TCP" }],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
      ...environment.map((key) => ({ name: key, value: `${key.toLowerCase().replace("_", "-")}.${name}.example` })),
    ],
    resources: { limits: { cpu: "500m", memory: "512Mi" }, requests: { cpu: "100m", memory: "128Mi" } },
    volumeMounts: [
      { name: "config", readOnly: true, mountPath: "/etc/config" },
      { name: "kube-api-access-x7k2p", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    livenessProbe: probe("/healthz"),
    readinessProbe: probe("/readyz"),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
    securityContext: {
      capabilities: { drop: ["ALL"] },
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
}

const containerStatus = (name, image, number) => ({
  name,
  state: { running: { startedAt: created } },
  lastState: {},
  ready: true,
  restartCount: 0,
  image,
  imageID: `${image.split(":")[0]}@sha256:${digest(7)}`,
  containerID: `containerd://${digest(number)}`,
  started: true,
});

const condition = (type) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: created });

/** What the server remembers of who wrote which field: a third of a Pod. */
function managedFields() {
  const all = (keys) => Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));
  const ofContainer = (name) => [
    `k:{"name":"${name}"}`,
    {
      ".": {},
      ...all(["args", "image", "imagePullPolicy", "name", "resources", "securityContext", "terminationMessagePath"]),
      "f:env": Object.fromEntries(
        ["POD_NAME", ...environment].map((key) => [`k:{"name":"${key}"}`, { ".": {}, ...all(["name", "value"]) }]),
      ),
      ...Object.fromEntries(
        ["f:livenessProbe", "f:readinessProbe"].map((key) => [
          key,
          { ".": {}, ...all(["httpGet", "periodSeconds", "timeoutSeconds"]) },
        ]),
      ),
    },
  ];
  const status = ["ContainersReady", "Initialized", "Ready"].map((type) => [
    `k:{"type":"${type}"}`,
    { ".": {}, ...all(["lastProbeTime", "lastTransitionTime", "status", "type"]) },
  ]);
  const entry = (manager, fields, subresource) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: created,
    fieldsType: "FieldsV1",
    fieldsV1: fields,
    ...(subresource && { subresource }),
  });
  return [
    entry("kube-controller-manager", {
      "f:metadata": { "f:generateName": {}, "f:labels": { ".": {}, ...all(["app", "pod-template-hash"]) } },
      "f:spec": {
        "f:containers": Object.fromEntries([ofContainer("web"), ofContainer("proxy")]),
        ...all(["dnsPolicy", "restartPolicy", "schedulerName", "securityContext", "terminationGracePeriodSeconds"]),
      },
    }),
    entry(
      "kubelet",
      {
        "f:status": {
          "f:conditions": Object.fromEntries(status),
          ...all(["containerStatuses", "hostIP", "phase", "podIP", "podIPs", "startTime"]),
        },
      },
      "status",
    ),
  ];
}

/** One of the Pods of a namespace. Lists leave `kind` and `apiVersion` out of their items, watches do not. */
export function pod(namespace, number, version) {
  const name = `web-6d5f8c9b7-${number.toString(36).padStart(5, "0")}`;
  const address = `10.${(number >> 14) & 255}.${(number >> 7) & 127}.${number & 127}`;
  return {
    metadata: {
      name,
      generateName: "web-6d5f8c9b7-",
      namespace,
      uid: uidOf(number),
      resourceVersion: String(version),
      creationTimestamp: created,
      labels: { app: "web", "pod-template-hash": "6d5f8c9b7", tier: "front" },
      annotations: { "example.com/config-digest": digest(3), "prometheus.io/scrape": "true" },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: "web-6d5f8c9b7",
          uid: uidOf(0),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(),
    },
    spec: {
      volumes: [
        { name: "config", configMap: { name: "web-config", defaultMode: 420 } },
        {
          name: "kube-api-access-x7k2p",
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
              { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            ],
            defaultMode: 420,
          },
        },
      ],
      containers: [
        container("web", "registry.example.com/team/web:1.42.0", 8080),
        container("proxy", "registry.example.com/mesh/proxy:3.7.1", 15001),
      ],
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      serviceAccountName: "web",
      serviceAccount: "web",
      nodeName: `node-${number % 40}`,
      securityContext: { fsGroup: 2000 },
      schedulerName: "default-scheduler",
      tolerations: ["not-ready", "unreachable"].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
    },
    status: {
      phase: "Running",
      conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(
        condition,
      ),
      hostIP: `192.168.0.${number % 40}`,
      hostIPs: [{ ip: `192.168.0.${number % 40}` }],
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: created,
      containerStatuses: [
        containerStatus("web", "registry.example.com/team/web:1.42.0", number),
        containerStatus("proxy", "registry.example.com/mesh/proxy:3.7.1", number + 1),
      ],
      qosClass: "Burstable",
    },
  };
}
