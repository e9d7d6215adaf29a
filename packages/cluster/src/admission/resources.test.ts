import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { CONFIG_MAPS, call, define, MERGE, WIDGETS, widget, widgetDefinition } from "../test-requests.ts";

const PODS = "/api/v1/namespaces/default/pods";
const QUOTAS = "/api/v1/namespaces/default/resourcequotas";
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";

const pod = (name: string, resources: object = {}, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "main", image: "main:1", resources }], ...spec },
});

const claim = (name: string, storage: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...spec },
});

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

describe("a LimitRange", () => {
  const limitRange = (limits: readonly object[]) => ({
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "limits" },
    spec: { limits },
  });
  const write = (cluster: Cluster, ...limits: object[]) =>
    call(cluster, "POST", "/api/v1/namespaces/default/limitranges", { body: limitRange(limits) });

  it("gives containers what they do not ask for, and says so", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, {
      type: "Container",
      default: { cpu: "500m", memory: "512Mi" },
      defaultRequest: { cpu: "250m", memory: "256Mi" },
    });
    const { body } = await call(cluster, "POST", PODS, { body: pod("a", { requests: { cpu: "300m" } }) });
    expect(body.spec.containers[0].resources).toEqual({
      limits: { cpu: "500m", memory: "512Mi" },
      requests: { cpu: "300m", memory: "256Mi" },
    });
    expect(body.metadata.annotations).toEqual({
      "kubernetes.io/limit-ranger":
        "LimitRanger plugin set: memory request for container main; cpu, memory limit for container main",
    });
  });

  it("takes its own limits for defaults", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const { body } = await write(cluster, { type: "Container", max: { cpu: "2" }, min: { cpu: "1", memory: "1Mi" } });
    expect(body.spec.limits[0]).toMatchObject({ default: { cpu: "2" }, defaultRequest: { cpu: "2", memory: "1Mi" } });
  });

  it.each([
    [
      { type: "Container", max: { cpu: "1" } },
      { limits: { cpu: "2" } },
      "maximum cpu usage per Container is 1, but limit is 2",
    ],
    [{ type: "Pod", max: { cpu: "1" } }, {}, "maximum cpu usage per Pod is 1.  No limit is specified"],
    [{ type: "Pod", min: { cpu: "1" } }, {}, "minimum cpu usage per Pod is 1.  No request is specified"],
    [
      { type: "Container", min: { memory: "1Gi" } },
      { requests: { memory: "512Mi" } },
      "minimum memory usage per Container is 1Gi, but request is 512Mi",
    ],
    [
      { type: "Pod", max: { memory: "1Gi" } },
      { limits: { memory: "2Gi" } },
      "maximum memory usage per Pod is 1Gi, but limit is 2Gi",
    ],
    [
      { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
      { requests: { cpu: "100m" }, limits: { cpu: "1" } },
      "cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000",
    ],
  ])("with %j refuses a container with %j", async (limit, resources, message) => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, limit);
    const answer = await call(cluster, "POST", PODS, { body: pod("a", resources) });
    expect(answer.status).toBe(403);
    expect(answer.body.message).toBe(`pods "a" is forbidden: ${message}`);
  });

  it("limits what claims ask for", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, { type: "PersistentVolumeClaim", max: { storage: "1Gi" }, min: { storage: "1Mi" } });
    const answer = await call(cluster, "POST", CLAIMS, { body: claim("big", "2Gi") });
    expect(answer.body.message).toBe(
      'persistentvolumeclaims "big" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
    );
    expect((await call(cluster, "POST", CLAIMS, { body: claim("small", "1Gi") })).status).toBe(201);
  });
});

describe("a ResourceQuota", () => {
  const quota = (hard: object, spec: object = {}) => ({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "quota" },
    spec: { hard, ...spec },
  });
  const write = async (cluster: Cluster, hard: object, spec: object = {}) => {
    await call(cluster, "POST", QUOTAS, { body: quota(hard, spec) });
    await cluster.settle();
  };
  const used = async (cluster: Cluster) => (await call(cluster, "GET", `${QUOTAS}/quota`)).body.status.used;

  it("counts objects, refuses the one too many, and gives back what is deleted", async () => {
    await using cluster = await Cluster.start({ tls: false });
    // kube-root-ca.crt is there already.
    await write(cluster, { configmaps: "2", "count/configmaps": "5" });
    expect(await used(cluster)).toEqual({ configmaps: "1", "count/configmaps": "1" });
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
    const refused = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("b") });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe(
      'configmaps "b" is forbidden: exceeded quota: quota, requested: configmaps=1, used: configmaps=2, limited: configmaps=2',
    );
    await call(cluster, "DELETE", `${CONFIG_MAPS}/a`);
    await cluster.settle();
    expect(await used(cluster)).toMatchObject({ configmaps: "1" });
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("b") })).status).toBe(201);
  });

  it("never lets two writes share the last free place", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, { configmaps: "3" });
    const names = ["a", "b", "c", "d", "e"];
    const answers = await Promise.all(
      names.map((name) => call(cluster, "POST", CONFIG_MAPS, { body: configMap(name) })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
  });

  it("counts nothing for a write that is only tried", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, { configmaps: "2" });
    await call(cluster, "POST", `${CONFIG_MAPS}?dryRun=All`, { body: configMap("a") });
    expect(await used(cluster)).toEqual({ configmaps: "1" });
  });

  it("adds up what pods ask for, and insists that they ask", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, { "requests.cpu": "1", "limits.memory": "1Gi", pods: "5" });
    const silent = await call(cluster, "POST", PODS, { body: pod("silent") });
    expect(silent.body.message).toBe(
      'pods "silent" is forbidden: failed quota: quota: must specify limits.memory for: main; requests.cpu for: main',
    );
    const resources = { requests: { cpu: "600m" }, limits: { memory: "512Mi" } };
    expect((await call(cluster, "POST", PODS, { body: pod("a", resources) })).status).toBe(201);
    expect(await used(cluster)).toEqual({ "limits.memory": "512Mi", pods: "1", "requests.cpu": "600m" });
    const refused = await call(cluster, "POST", PODS, { body: pod("b", resources) });
    expect(refused.body.message).toBe(
      'pods "b" is forbidden: exceeded quota: quota, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
  });

  it("is only about pods in its scopes", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, { pods: "0" }, { scopes: ["BestEffort"] });
    expect((await call(cluster, "POST", PODS, { body: pod("a", { requests: { cpu: "1m" } }) })).status).toBe(201);
    expect((await call(cluster, "POST", PODS, { body: pod("b") })).status).toBe(403);
  });

  it("limits storage by class and ports of services", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, { "gold.storageclass.storage.k8s.io/requests.storage": "1Gi", "services.nodeports": "1" });
    const gold = await call(cluster, "POST", CLAIMS, { body: claim("a", "2Gi", { storageClassName: "gold" }) });
    expect(gold.status).toBe(403);
    expect((await call(cluster, "POST", CLAIMS, { body: claim("b", "2Gi", { storageClassName: "tin" }) })).status).toBe(
      201,
    );
    const service = (name: string) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { type: "NodePort", ports: [{ port: 80 }] },
    });
    const path = "/api/v1/namespaces/default/services";
    expect((await call(cluster, "POST", path, { body: service("one") })).status).toBe(201);
    expect((await call(cluster, "POST", path, { body: service("two") })).status).toBe(403);
  });

  it("counts custom resources", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    await write(cluster, { "count/widgets.example.com": "1" });
    expect((await call(cluster, "POST", WIDGETS, { body: widget("a") })).status).toBe(201);
    expect((await call(cluster, "POST", WIDGETS, { body: widget("b") })).status).toBe(403);
  });

  it("follows when its limits change", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await write(cluster, { configmaps: "1" });
    await call(cluster, "PATCH", `${QUOTAS}/quota`, { type: MERGE, body: { spec: { hard: { configmaps: "2" } } } });
    await cluster.settle();
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
  });
});

describe("the priority of a pod", () => {
  const priorityClass = (name: string, value: number, more: object = {}) => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value,
    ...more,
  });
  const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";

  it("comes from its class", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", CLASSES, { body: priorityClass("high", 1000, { preemptionPolicy: "Never" }) });
    const { body } = await call(cluster, "POST", PODS, { body: pod("a", {}, { priorityClassName: "high" }) });
    expect(body.spec).toMatchObject({ priorityClassName: "high", priority: 1000, preemptionPolicy: "Never" });
  });

  it("comes from the default class when it names none, of which there is only one", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", CLASSES, { body: priorityClass("usual", 10, { globalDefault: true }) });
    const { body } = await call(cluster, "POST", PODS, { body: pod("a") });
    expect(body.spec).toMatchObject({ priorityClassName: "usual", priority: 10 });
    const second = await call(cluster, "POST", CLASSES, { body: priorityClass("more", 20, { globalDefault: true }) });
    expect(second.body.message).toBe(
      'priorityclasses.scheduling.k8s.io "more" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
    );
  });

  it.each([
    [{ priorityClassName: "nope" }, "no PriorityClass with name nope was found"],
    [
      { priority: 5 },
      "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name",
    ],
  ])("cannot be made up: %j", async (spec, message) => {
    await using cluster = await Cluster.start({ tls: false });
    const answer = await call(cluster, "POST", PODS, { body: pod("a", {}, spec) });
    expect(answer.body.message).toBe(`pods "a" is forbidden: ${message}`);
  });
});

describe("the storage class of a claim", () => {
  it("is the default one unless the claim names another, or none", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", "/apis/storage.k8s.io/v1/storageclasses", {
      body: {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
        provisioner: "example.com/fast",
      },
    });
    const classOf = async (name: string, spec: object = {}) => {
      return (await call(cluster, "POST", CLAIMS, { body: claim(name, "1Gi", spec) })).body.spec.storageClassName;
    };
    expect(await classOf("a")).toBe("fast");
    expect(await classOf("b", { storageClassName: "slow" })).toBe("slow");
    expect(await classOf("c", { storageClassName: "" })).toBe("");
  });
});
