import { VirtualClock } from "@lotse/client/meta";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { APPLY, call, MERGE, STRATEGIC } from "../test-requests.ts";

const CORE = "/api/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";
const BATCH = "/apis/batch/v1/namespaces/default";

const containers = [{ name: "c", image: "web:1" }];
const labels = { app: "web" };
const workload = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } }, ...spec },
});

describe("built-in kinds", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
  });
  afterAll(() => cluster.stop());
  const post = (path: string, body: unknown) => call(cluster, "POST", path, { body });

  it("complete pods, and read amounts into their one form", async () => {
    const { status, body } = await post(`${CORE}/pods`, {
      metadata: { name: "full" },
      spec: {
        containers: [
          {
            name: "c",
            image: "web",
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: 0.5, memory: "1024Mi" } },
            readinessProbe: { httpGet: { port: 80 } },
          },
        ],
        volumes: [{ name: "tmp" }],
        automountServiceAccountToken: false,
      },
    });
    expect(status).toBe(201);
    expect(body.metadata.generation).toBe(1);
    expect(body.spec).toMatchObject({
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      schedulerName: "default-scheduler",
      securityContext: {},
      priority: 0,
      volumes: [{ name: "tmp", emptyDir: {} }],
    });
    expect(body.spec.containers[0]).toMatchObject({
      imagePullPolicy: "Always",
      ports: [{ containerPort: 80, protocol: "TCP" }],
      resources: { limits: { cpu: "500m", memory: "1Gi" }, requests: { cpu: "500m", memory: "1Gi" } },
      readinessProbe: { timeoutSeconds: 1, periodSeconds: 10, httpGet: { path: "/", scheme: "HTTP" } },
    });
    expect(body.status).toEqual({ phase: "Pending", qosClass: "Guaranteed" });
  });

  it("keep a pod's generation when it gets its node", async () => {
    await post(`${CORE}/pods`, { metadata: { name: "bound" }, spec: { containers } });
    const target = { apiVersion: "v1", kind: "Node", name: "somewhere" };
    const binding = await post(`${CORE}/pods/bound/binding`, { metadata: { name: "bound" }, target });
    expect(binding.status).toBe(201);
    const { body } = await call(cluster, "GET", `${CORE}/pods/bound`);
    expect(body.spec.nodeName).toBe("somewhere");
    expect(body.metadata.generation).toBe(1);
  });

  it("ask for what is required and for words that they know", async () => {
    const empty = await post(`${CORE}/pods`, { metadata: { name: "x" }, spec: {} });
    expect(empty.body.message).toBe('Pod "x" is invalid: spec.containers: Required value');
    const bare = await post(`${CORE}/pods`, { metadata: { name: "x" }, spec: { containers: [{ name: "" }] } });
    expect(bare.body.message).toBe(
      'Pod "x" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: Required value]',
    );
    const odd = await post(`${CORE}/pods`, { metadata: { name: "x" }, spec: { restartPolicy: "X", containers } });
    expect(odd.body.message).toContain('spec.restartPolicy: Unsupported value: "X"');
    const typed = await post(`${CORE}/pods`, {
      metadata: { name: "x" },
      spec: { containers: [{ name: "a", image: 1 }] },
    });
    expect(typed.body.message).toBe(
      'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string',
    );
  });

  it("let pods change little, and remove unscheduled ones at once", async () => {
    await post(`${CORE}/pods`, { metadata: { name: "p" }, spec: { containers } });
    const image = await call(cluster, "PATCH", `${CORE}/pods/p`, {
      type: STRATEGIC,
      body: { spec: { containers: [{ name: "c", image: "web:2" }] } },
    });
    expect([image.status, image.body.spec.containers[0].image]).toEqual([200, "web:2"]);
    const more = await call(cluster, "PATCH", `${CORE}/pods/p`, {
      type: STRATEGIC,
      body: { spec: { containers: [{ name: "d", image: "web:2" }] } },
    });
    expect(more.body.message).toContain("pod updates may not add or remove containers");
    const deleted = await call(cluster, "DELETE", `${CORE}/pods/p`);
    expect(deleted.body).toMatchObject({ kind: "Pod", metadata: { name: "p", deletionGracePeriodSeconds: 0 } });
    expect((await call(cluster, "GET", `${CORE}/pods/p`)).status).toBe(404);
  });

  it("give scheduled pods time to stop, which can only be shortened", async () => {
    await post(`${CORE}/pods`, { metadata: { name: "s" }, spec: { containers, nodeName: "n1" } });
    const del = async (query: string) => (await call(cluster, "DELETE", `${CORE}/pods/s${query}`)).body.metadata;
    const first = await del("");
    expect(first.deletionGracePeriodSeconds).toBe(30);
    expect((await del("?gracePeriodSeconds=60")).resourceVersion).toBe(first.resourceVersion);
    const shorter = await del("?gracePeriodSeconds=5");
    expect(shorter.deletionGracePeriodSeconds).toBe(5);
    expect(Date.parse(first.deletionTimestamp) - Date.parse(shorter.deletionTimestamp)).toBe(25_000);
    await del("?gracePeriodSeconds=0");
    expect((await call(cluster, "GET", `${CORE}/pods/s`)).status).toBe(404);
  });

  it("complete deployments, keep their selector and scale them", async () => {
    const made = await post(`${APPS}/deployments`, workload("d"));
    expect(made.body.spec).toMatchObject({
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    expect(made.body.status).toEqual({});
    const mismatch = await post(`${APPS}/deployments`, workload("m", { selector: { matchLabels: { other: "x" } } }));
    expect(mismatch.body.message).toContain("`selector` does not match template `labels`");
    const selector = await call(cluster, "PATCH", `${APPS}/deployments/d`, {
      type: MERGE,
      body: { spec: { selector: { matchLabels: { app: "x" } }, template: { metadata: { labels: { app: "x" } } } } },
    });
    expect(selector.body.message).toContain("spec.selector: Invalid value");
    const scaled = await call(cluster, "PUT", `${APPS}/deployments/d/scale`, {
      body: { metadata: { name: "d", namespace: "default" }, spec: { replicas: 4 } },
      headers: { "content-type": "" },
    });
    // How many there are by now is the controller's affair.
    const status = { replicas: expect.any(Number), selector: "app=web" };
    expect(scaled.body).toMatchObject({ spec: { replicas: 4 }, status });
    expect((await call(cluster, "GET", `${APPS}/deployments/d`)).body.metadata.generation).toBe(2);
  });

  it("give jobs a selector of their own and orphan their pods unless told otherwise", async () => {
    const spec = { template: { spec: { restartPolicy: "Never", containers } } };
    const made = (await post(`${BATCH}/jobs`, { metadata: { name: "j" }, spec })).body;
    const identity = { "batch.kubernetes.io/controller-uid": made.metadata.uid };
    expect(made.spec.selector.matchLabels).toEqual(identity);
    expect(made.spec.template.metadata.labels).toMatchObject({ ...identity, "job-name": "j" });
    const named = (await post(`${BATCH}/jobs`, { metadata: { generateName: "gen-" }, spec })).body;
    expect(named.metadata.labels["batch.kubernetes.io/job-name"]).toBe(named.metadata.name);
    const deleted = await call(cluster, "DELETE", `${BATCH}/jobs/j`);
    expect(deleted.body.metadata.finalizers).toEqual(["orphan"]);
    expect(deleted.warnings[0]).toContain("child pods are preserved by default when jobs are deleted");
    const endless = await post(`${BATCH}/jobs`, {
      metadata: { name: "e" },
      spec: { template: { spec: { containers } } },
    });
    expect(endless.body.message).toContain(
      'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    );
  });

  it("give services an address of their own that does not change", async () => {
    const one = (await post(`${CORE}/services`, { metadata: { name: "one" }, spec: { ports: [{ port: 80 }] } })).body;
    const two = (await post(`${CORE}/services`, { metadata: { name: "two" }, spec: { ports: [{ port: 80 }] } })).body;
    expect(one.spec).toMatchObject({
      type: "ClusterIP",
      clusterIPs: [one.spec.clusterIP],
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      sessionAffinity: "None",
    });
    expect(one.spec.clusterIP).not.toBe(two.spec.clusterIP);
    const put = await call(cluster, "PUT", `${CORE}/services/one`, {
      body: { metadata: { name: "one" }, spec: { ports: [{ port: 81 }] } },
    });
    expect(put.body.spec.clusterIP).toBe(one.spec.clusterIP);
    expect((await call(cluster, "DELETE", `${CORE}/services/one`)).body.kind).toBe("Service");
    const headless = await post(`${CORE}/services`, { metadata: { name: "h" }, spec: { clusterIP: "None" } });
    expect(headless.body.spec.clusterIPs).toEqual(["None"]);
  });

  it("fold the plain text of secrets into their data", async () => {
    const made = await post(`${CORE}/secrets`, {
      metadata: { name: "s" },
      data: { a: "YQ==" },
      stringData: { b: "x" },
    });
    expect(made.body).toMatchObject({ type: "Opaque", data: { a: "YQ==", b: "eA==" } });
    expect(made.body).not.toHaveProperty("stringData");
    const type = await call(cluster, "PATCH", `${CORE}/secrets/s`, { type: MERGE, body: { type: "other" } });
    expect(type.body.message).toBe('Secret "s" is invalid: type: Invalid value: "other": field is immutable');
    const garbage = await post(`${CORE}/secrets`, { metadata: { name: "g" }, data: { a: "%%" } });
    expect(garbage.body.message).toContain("illegal base64 data at input byte 0");
  });

  it("stay as they are when plain text is applied again, whatever the time", async () => {
    const clock = new VirtualClock();
    await using own = await Cluster.start({ tls: false, clock });
    const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "b" } };
    const apply = () => call(own, "PATCH", `${CORE}/secrets/s?fieldManager=m`, { type: APPLY, body: manifest });
    const first = await apply();
    await clock.advance(5_000);
    expect((await apply()).body.metadata).toEqual(first.body.metadata);
  });

  it("read times strictly where they are fine-grained and write them in UTC", async () => {
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    const lease = (renewTime: string) => post(leases, { metadata: { generateName: "l-" }, spec: { renewTime } });
    expect((await lease("2026-01-01T00:00:00.123Z")).status).toBe(400);
    expect((await lease("2026-01-01T02:00:00.100000+02:00")).body.spec.renewTime).toBe("2026-01-01T00:00:00.100000Z");
  });

  it("take events without a type, as operators post them, in both groups", async () => {
    const made = await post(`${CORE}/events`, {
      metadata: { generateName: "ev-" },
      involvedObject: { kind: "Pod", name: "p", namespace: "default", uid: "u1" },
      reason: "Started",
      message: "hello",
      type: "Normal",
      firstTimestamp: "2026-01-01T00:00:00.123456+00:00",
      source: { component: "operator" },
    });
    expect(made.status).toBe(201);
    expect(made.body.firstTimestamp).toBe("2026-01-01T00:00:00Z");
    const found = await call(cluster, "GET", `${CORE}/events?fieldSelector=involvedObject.uid%3Du1,reason%3DStarted`);
    expect(found.body.items).toHaveLength(1);
    const other = await call(
      cluster,
      "GET",
      "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.uid%3Du1",
    );
    expect(other.body.items[0]).toMatchObject({
      note: "hello",
      regarding: { name: "p" },
      deprecatedSource: { component: "operator" },
    });
    const stray = await post(`${CORE}/events`, {
      metadata: { name: "stray" },
      involvedObject: { kind: "Pod", name: "p", namespace: "elsewhere" },
    });
    expect(stray.body.message).toContain("does not match event.namespace");
  });

  it("write the zeros of fields that are always there and leave out the others", async () => {
    const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    expect((await post(roles, { metadata: { name: "empty:role", labels: {} } })).body).toMatchObject({ rules: null });
    const set = (await post(`${APPS}/statefulsets`, workload("s"))).body;
    expect(set.status).toEqual({ replicas: 0, availableReplicas: 0 });
    expect(set.metadata).not.toHaveProperty("labels");
  });

  it("warn about kinds that are on their way out", async () => {
    const { warnings } = await call(cluster, "GET", `${CORE}/endpoints`);
    expect(warnings).toEqual(['299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"']);
  });

  it("bind and evict pods", async () => {
    await post(`${CORE}/pods`, { metadata: { name: "b" }, spec: { containers } });
    const bound = await post(`${CORE}/pods/b/binding`, {
      metadata: { name: "b" },
      target: { kind: "Node", name: "n1" },
    });
    expect([bound.status, bound.body.status]).toEqual([201, "Success"]);
    const pod = (await call(cluster, "GET", `${CORE}/pods/b`)).body;
    expect(pod.spec.nodeName).toBe("n1");
    expect(pod.status.conditions[0]).toMatchObject({ type: "PodScheduled", status: "True" });
    const evicted = await post(`${CORE}/pods/b/eviction`, {
      metadata: { name: "b" },
      deleteOptions: { gracePeriodSeconds: 0 },
    });
    expect(evicted.status).toBe(201);
    expect((await call(cluster, "GET", `${CORE}/pods/b`)).status).toBe(404);
  });

  it("show old autoscalers what they understand of new ones", async () => {
    const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" } };
    await post(path("v1"), { metadata: { name: "h" }, spec: { ...spec, targetCPUUtilizationPercentage: 50 } });
    const v2 = await call(cluster, "GET", `${path("v2")}/h`);
    expect(v2.body.spec.metrics[0].resource.target).toEqual({ type: "Utilization", averageUtilization: 50 });
    const v1 = await call(cluster, "GET", `${path("v1")}/h`);
    expect(v1.body).toMatchObject({ apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 50 } });
  });

  it("keep the status that a new Node comes with", async () => {
    const conditions = [{ type: "Ready", status: "True", reason: "Told", message: "by its kubelet" }];
    const node = { metadata: { name: "brought" }, status: { phase: "Running", conditions } };
    const made = await call(cluster, "POST", "/api/v1/nodes", { body: node });
    expect(made.body.status).toMatchObject({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] });
    const bare = await call(cluster, "POST", "/api/v1/nodes", { body: { metadata: { name: "bare" } } });
    expect(bare.body.status).not.toHaveProperty("conditions");
    await call(cluster, "DELETE", "/api/v1/nodes?fieldSelector=metadata.name!=node");
  });

  it("select Events by their source, be they of the older or the newer form", async () => {
    const regarding = { kind: "ConfigMap", namespace: "default", name: "x" };
    const newer = {
      metadata: { name: "newer" },
      regarding,
      reason: "Tried",
      action: "Try",
      type: "Normal",
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "newer-controller",
      reportingInstance: "one",
    };
    const older = { metadata: { name: "older" }, involvedObject: regarding, source: { component: "older-controller" } };
    expect(
      (await call(cluster, "POST", "/apis/events.k8s.io/v1/namespaces/default/events", { body: newer })).status,
    ).toBe(201);
    expect((await call(cluster, "POST", `${CORE}/events`, { body: older })).status).toBe(201);
    const found = async (source: string) => {
      const list = await call(cluster, "GET", `${CORE}/events?fieldSelector=source=${source}`);
      return list.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    };
    expect([await found("newer-controller"), await found("older-controller")]).toEqual([["newer"], ["older"]]);
  });
});
