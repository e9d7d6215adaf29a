import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError } from "../meta/index.ts";
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CronJob,
  Deployment,
  Job,
  Pod,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from "./index.ts";

describe("gen", () => {
  it("makes a Deployment whose selector fits its template", () => {
    const web = Deployment.gen({ name: "web", image: "nginx", replicas: 3, ports: 80, env: { A: "1" } });
    expect(web.body).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            containers: [
              { name: "web", image: "nginx", env: [{ name: "A", value: "1" }], ports: [{ containerPort: 80 }] },
            ],
          },
        },
      },
    });
    const labelled = Deployment.gen({ generateName: "w-", image: "a", labels: { tier: "front", app: "w" } });
    expect(labelled.spec.selector).toEqual({ matchLabels: { tier: "front", app: "w" } });
    const chosen = Deployment.gen({ name: "w", image: "a", labels: { team: "x" }, selector: { app: "w" } });
    expect(chosen.spec.template.metadata?.labels).toEqual({ team: "x", app: "w" });
    expect(() => Deployment.gen({ generateName: "w-", image: "a" })).toThrow(ConfigError);
  });

  it("makes Services with names where several ports need them", () => {
    expect(Service.gen({ name: "web", ports: 80 }).spec).toEqual({ selector: { app: "web" }, ports: [{ port: 80 }] });
    const ports = [80, { port: 443, name: "https", targetPort: "tls" }];
    expect(Service.gen({ name: "web", selector: { a: "b" }, ports, type: "NodePort" }).spec).toEqual({
      selector: { a: "b" },
      ports: [
        { port: 80, name: "port-80" },
        { port: 443, name: "https", targetPort: "tls" },
      ],
      type: "NodePort",
    });
  });

  it("makes Jobs that end, and CronJobs of them", () => {
    const job = Job.gen({ name: "work", image: "a", command: ["./work"], backoffLimit: 0, labels: { a: "b" } });
    expect(job.spec).toEqual({
      backoffLimit: 0,
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "work", image: "a", command: ["./work"] }], restartPolicy: "Never" },
      },
    });
    const cron = CronJob.gen({
      name: "n",
      image: "a",
      schedule: "@daily",
      restartPolicy: "OnFailure",
      backoffLimit: 1,
    });
    expect(cron.spec).toMatchObject({
      schedule: "@daily",
      jobTemplate: { spec: { backoffLimit: 1, template: { spec: { restartPolicy: "OnFailure" } } } },
    });
  });

  it("makes pods with volumes and probes", () => {
    const pod = Pod.gen({
      name: "p",
      image: "a",
      volumes: [{ name: "v", emptyDir: {} }],
      volumeMounts: [{ name: "v", mountPath: "/v" }],
      readinessProbe: { tcpSocket: { port: 80 } },
      nodeSelector: { disk: "ssd" },
    });
    expect(pod.spec).toEqual({
      containers: [
        {
          name: "p",
          image: "a",
          volumeMounts: [{ name: "v", mountPath: "/v" }],
          readinessProbe: { tcpSocket: { port: 80 } },
        },
      ],
      volumes: [{ name: "v", emptyDir: {} }],
      nodeSelector: { disk: "ssd" },
    });
  });

  it("makes accounts, roles and bindings", () => {
    expect(ServiceAccount.gen({ name: "robot", automountServiceAccountToken: false }).body).toMatchObject({
      kind: "ServiceAccount",
      automountServiceAccountToken: false,
    });
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
    expect(Role.gen({ name: "r", rules }).body.rules).toEqual(rules);
    expect(ClusterRole.gen({ name: "r", rules }).body.rules).toEqual(rules);
    const binding = RoleBinding.gen({
      name: "b",
      namespace: "team-a",
      role: "ClusterRole:view",
      subjects: ["ServiceAccount:robot", "ServiceAccount:team-b/other", "User:jane", "Group:devs"],
    });
    const apiGroup = "rbac.authorization.k8s.io";
    expect(binding.body).toMatchObject({
      roleRef: { apiGroup, kind: "ClusterRole", name: "view" },
      subjects: [
        { kind: "ServiceAccount", name: "robot", namespace: "team-a" },
        { kind: "ServiceAccount", name: "other", namespace: "team-b" },
        { apiGroup, kind: "User", name: "jane" },
        { apiGroup, kind: "Group", name: "devs" },
      ],
    });
    const nowhere = () =>
      ClusterRoleBinding.gen({ name: "b", role: "ClusterRole:view", subjects: ["ServiceAccount:robot"] });
    expect(nowhere).toThrow('in which namespace is the service account "robot"?');
  });

  it("makes Secrets for TLS", () => {
    const secret = Secret.gen({ name: "s", tls: { cert: "C", key: "K" } });
    expect(secret.body.type).toBe("kubernetes.io/tls");
    expect(secret.decoded).toEqual({ "tls.crt": "C", "tls.key": "K" });
    expect(() => Secret.gen({ name: "s", type: "Opaque", tls: { cert: "C", key: "K" } })).toThrow(ConfigError);
  });

  it("makes ConfigMaps of files, texts and bytes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lotse-files-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "a.txt"), "ä");
    await writeFile(join(folder, "b.bin"), Buffer.from([0xff, 0x00]));
    const files = [join(folder, "a.txt"), pathToFileURL(join(folder, "b.bin"))];
    const map = await ConfigMap.fromFiles(files, { name: "m", data: { c: "d" } });
    expect(map.data).toEqual({ "a.txt": "ä", c: "d" });
    expect(map.binaryData["b.bin"]).toEqual(Buffer.from([0xff, 0x00]));
    await expect(ConfigMap.fromFiles([join(folder, "none")], { name: "m" })).rejects.toThrow("cannot be read");
  });
});
