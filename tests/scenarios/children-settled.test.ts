/** Children that the server stores in another form than they are written in: nothing is written for them without need. */
import { Deployment, type KubeBody, Secret, Service } from "@lotse/client";
import { Operator, resource } from "lotse";
import { expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Stack = resource({
  group: "settled.example.com",
  version: "v1",
  kind: "Stack",
  spec: z.object({ note: z.string().optional() }),
  status: z.object({}),
});

/** A kind with defaults, numbers that may be texts, and lists of several sorts. */
const Widget = resource({
  group: "settled.example.com",
  version: "v1",
  kind: "Widget",
  spec: z.object({
    size: z.number().default(3),
    flag: z.boolean().default(false),
    text: z.string().default("usual"),
    port: z.union([z.number().int(), z.string()]).optional(),
    nested: z.object({ a: z.string().default("x"), b: z.number().optional() }).optional(),
    list: z.array(z.object({ name: z.string(), value: z.string().default("y") })).optional(),
    amounts: z.record(z.string(), z.string()).optional(),
  }),
});

type Manifest = KubeBody & { readonly apiVersion: string; readonly kind: string };

const pod = {
  hostNetwork: false,
  volumes: [{ name: "tmp", emptyDir: { sizeLimit: "1024Mi" } }],
  nodeSelector: {},
  tolerations: [],
  initContainers: [],
  containers: [
    {
      name: "web",
      image: "nginx",
      args: [],
      command: ["run"],
      stdin: false,
      env: [
        { name: "EMPTY", value: "" },
        { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "0.001" } } },
      ],
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }, { containerPort: 53 }],
      resources: { requests: { cpu: "0.5", memory: "1024Mi" }, limits: { cpu: 1, memory: "1.5Gi" } },
      volumeMounts: [{ name: "tmp", mountPath: "/tmp", readOnly: false }],
      readinessProbe: { httpGet: { path: "/", port: 80 }, initialDelaySeconds: 0 },
      securityContext: { privileged: false, capabilities: { drop: ["ALL"], add: [] } },
    },
  ],
};
const labels = { app: "web" };
const template = { metadata: { labels, annotations: {} }, spec: pod };

const MANIFESTS: Readonly<Record<string, Manifest>> = {
  deployment: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { replicas: 1, paused: false, minReadySeconds: 0, selector: { matchLabels: labels }, template },
  },
  statefulset: {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db" },
    spec: {
      serviceName: "db",
      replicas: 0,
      selector: { matchLabels: labels },
      template,
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
        },
      ],
    },
  },
  daemonset: {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent" },
    spec: { selector: { matchLabels: labels }, template },
  },
  cronjob: {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "nightly" },
    spec: {
      schedule: "0 3 * * *",
      suspend: true,
      jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: "Never" } } } },
    },
  },
  pod: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "lone", labels: { empty: "" } },
    spec: { ...pod, schedulerName: "nobody" },
  },
  secret: {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "keys" },
    data: { old: "b2xk" },
    stringData: { password: "grün", empty: "" },
  },
  configmap: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "conf" },
    data: { empty: "", amount: "0.5" },
    binaryData: {},
  },
  service: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: {
      selector: labels,
      ports: [
        { name: "http", port: 80, targetPort: "http" },
        { name: "dns", port: 53, targetPort: 5353, protocol: "UDP" },
      ],
      publishNotReadyAddresses: false,
      externalIPs: [],
    },
  },
  headless: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "db" },
    spec: { clusterIP: "None", selector: labels, ports: [{ port: 5432 }] },
  },
  ingress: {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", annotations: {} },
    spec: {
      rules: [
        {
          host: "a.example.com",
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
          },
        },
      ],
      tls: [],
    },
  },
  networkpolicy: {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "closed" },
    spec: {
      podSelector: {},
      policyTypes: ["Ingress"],
      ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }],
    },
  },
  pvc: {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "disk" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      resources: { requests: { storage: "1024Mi" }, limits: {} },
    },
  },
  hpa: {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "0.5" } } },
        { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1024Mi" } } },
      ],
    },
  },
  pdb: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web" },
    spec: { minAvailable: "50%", selector: { matchLabels: labels } },
  },
  quota: {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "limits" },
    spec: { hard: { "requests.cpu": "0.5", "requests.memory": "102400Mi", pods: 1000, services: "10e1" } },
  },
  limitrange: {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "limits" },
    spec: {
      limits: [{ type: "Container", max: { cpu: "4000m" }, default: { cpu: "0.5" }, defaultRequest: { cpu: 0.1 } }],
    },
  },
  role: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "reader" },
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: [] }],
  },
  rolebinding: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "readers" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ kind: "ServiceAccount", name: "default" }],
  },
  serviceaccount: {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "robot" },
    automountServiceAccountToken: false,
    imagePullSecrets: [],
  },
  widget: {
    apiVersion: "settled.example.com/v1",
    kind: "Widget",
    metadata: { name: "one" },
    spec: { flag: false, port: "http", nested: {}, list: [{ name: "a" }], amounts: { cpu: "0.5" } },
  },
  emptywidget: {
    apiVersion: "settled.example.com/v1",
    kind: "Widget",
    metadata: { name: "two" },
    spec: { port: 80, list: [], amounts: {}, text: "" },
  },
};

describeOn(clustersUnderTest(), "children that are settled", (cluster) => {
  const stage = useStage(cluster, "settled");

  function keeping(...names: readonly string[]): Operator {
    const operator = new Operator({ name: "stacks" });
    // Names the kind, so that its definition is installed.
    operator.reconcile(Widget, async function nothing() {});
    operator.children(Stack, { id: "parts" }, () => names.map((name) => structuredClone(MANIFESTS[name]) as Manifest));
    return operator;
  }
  const writes = async () => (await cluster().writes()).filter(({ namespace }) => namespace === stage.namespace);
  const kept = async (count: number) => {
    await stage.client.create(new Stack({ metadata: { name: "a" }, spec: {} }));
    await stage.eventually(() =>
      expect(stage.logs.filter(({ message }) => message === "the child was created")).toHaveLength(count),
    );
    await stage.quiet();
  };

  it.each(Object.keys(MANIFESTS))("are not written at the next start, nor in the next run: %s", async (name) => {
    const first = await stage.start(keeping(name));
    await kept(1);
    await first.stop();
    const before = await writes();
    await stage.start(keeping(name));
    await stage.quiet();
    await stage.client.patch(Stack, "a", { spec: { note: "run again" } });
    await stage.eventually(async () => {
      const { status } = await stage.client.get(Stack, "a");
      expect((status as { observedGeneration?: number } | undefined)?.observedGeneration).toBe(2);
    });
    await stage.quiet();
    const after = (await writes()).slice(before.length);
    // The Stack itself was changed by the test, and says that it has seen it.
    expect(after.filter(({ resource }) => !resource.startsWith("stacks"))).toEqual([]);
  });

  it("cost no write where others have added to them, at the next start too", async () => {
    const first = await stage.start(keeping("deployment"));
    await kept(1);
    const { client } = stage;
    const sidecar = { spec: { template: { spec: { containers: [{ name: "mesh", image: "mesh" }] } } } };
    await client.patch(Deployment, "web", sidecar, { type: "strategic", fieldManager: "mesh" });
    await stage.quiet();
    const { resourceVersion } = (await client.get(Deployment, "web")).metadata;
    await first.stop();
    await stage.start(keeping("deployment"));
    await stage.quiet();
    const { metadata, spec } = await client.get(Deployment, "web");
    expect(metadata.resourceVersion).toBe(resourceVersion);
    expect(spec?.template.spec?.containers?.map((one) => one.name)).toContain("mesh");
  });

  it("are repaired all the same when somebody changes them, before and after a start", async () => {
    const first = await stage.start(keeping("deployment", "secret", "service"));
    await kept(3);
    const { client } = stage;
    const cpu = async () =>
      (await client.get(Deployment, "web")).spec?.template.spec?.containers?.[0]?.resources?.requests?.cpu;
    const change = (amount: string) =>
      client.patch(
        Deployment,
        "web",
        { spec: { template: { spec: { containers: [{ name: "web", resources: { requests: { cpu: amount } } }] } } } },
        { type: "strategic", fieldManager: "somebody" },
      );
    const password = async () => (await client.get(Secret, "keys")).data?.password;
    const was = await password();
    for (const life of ["first", "second"]) {
      await change("600m");
      await stage.eventually(async () => expect(await cpu()).toBe("500m"));
      await client.patch(Secret, "keys", { data: { password: "eA==" } });
      await stage.eventually(async () => expect(await password()).toBe(was));
      await client.patch(Service, "web", { spec: { ports: [{ name: "http", port: 80, targetPort: 1 }] } });
      await stage.eventually(async () => expect((await client.get(Service, "web")).spec?.ports).toHaveLength(2));
      if (life === "second") break;
      await first.stop();
      await stage.start(keeping("deployment", "secret", "service"));
    }
  });

  it("are repaired at a start when somebody has changed them meanwhile, also by taking something away", async () => {
    const first = await stage.start(keeping("deployment", "serviceaccount"));
    await kept(2);
    await first.stop();
    const { client } = stage;
    await client.patch("serviceaccounts", "robot", { automountServiceAccountToken: null });
    await client.patch(Deployment, "web", [{ op: "remove", path: "/spec/template/spec/containers/0/env/1" }], {
      type: "json",
      fieldManager: "somebody",
    });
    await stage.start(keeping("deployment", "serviceaccount"));
    await stage.eventually(async () => {
      const account = (await client.get("serviceaccounts", "robot")).body as { automountServiceAccountToken?: boolean };
      expect(account.automountServiceAccountToken).toBe(false);
      const { spec } = await client.get(Deployment, "web");
      expect(spec?.template.spec?.containers?.[0]?.env).toHaveLength(2);
    });
  });
});
