import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { APPLY, call, MERGE, STRATEGIC, TABLE } from "../test-requests.ts";

type Fields = Record<string, unknown>;

describe("the rules of built-in kinds", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, controllers: { workloads: false, quotas: false } });
  });
  afterAll(() => cluster.stop());

  const refused = async (path: string, body: Fields) => {
    const answer = await call(cluster, "POST", `${path}?dryRun=All`, { body: { metadata: { name: "x" }, ...body } });
    return answer.status === 201
      ? []
      : (answer.body.details?.causes ?? [answer.body]).map(({ field, message }: Fields) => `${field}: ${message}`);
  };
  const labels = { app: "x" };
  const template = (spec: Fields = {}) => ({
    metadata: { labels },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  });
  const core = "/api/v1/namespaces/default";
  const job = (spec: Fields) => ({ spec: { template: template({ restartPolicy: "Never" }), ...spec } });
  const webhook = (more: Fields) => ({
    webhooks: [
      {
        name: "a.b.c",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: { url: "https://x/y" },
        ...more,
      },
    ],
  });

  it.each<[what: string, path: string, body: Fields, errors: string[]]>([
    [
      "a Deployment whose pods end",
      "/apis/apps/v1/namespaces/default/deployments",
      { spec: { selector: { matchLabels: labels }, template: template({ restartPolicy: "Never" }) } },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      "a StatefulSet that mounts a volume that is neither its pods' nor a claim of its own",
      "/apis/apps/v1/namespaces/default/statefulsets",
      {
        spec: {
          selector: { matchLabels: labels },
          serviceName: "x",
          template: template({
            containers: [
              {
                name: "c",
                image: "i",
                volumeMounts: ["data", "other"].map((name) => ({ name, mountPath: `/${name}` })),
              },
            ],
          }),
          volumeClaimTemplates: [
            {
              metadata: { name: "data" },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          ],
        },
      },
      ['spec.template.spec.containers[0].volumeMounts[1].name: Not found: "other"'],
    ],
    [
      "a Job that runs less than never",
      "/apis/batch/v1/namespaces/default/jobs",
      job({ parallelism: -1 }),
      ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"],
    ],
    ...(
      [
        ["61 * * * *", "end of range (61) above maximum (59): 61"],
        ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
        ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
        ["*/0 * * * *", "step of range should be a positive number: */0"],
        ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
        ["1/2/3 * * * *", "too many slashes: 1/2/3"],
        ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
        ["@often", "unrecognized descriptor: @often"],
      ] as const
    ).map(([schedule, detail]): [string, string, Fields, string[]] => [
      `a CronJob at ${schedule}`,
      "/apis/batch/v1/namespaces/default/cronjobs",
      { spec: { schedule, jobTemplate: job({}) } },
      [`spec.schedule: Invalid value: ${JSON.stringify(schedule)}: ${detail}`],
    ]),
    [
      "a CronJob on Mars",
      "/apis/batch/v1/namespaces/default/cronjobs",
      { spec: { schedule: "0 9 * jan-mar mon,fri", timeZone: "Mars/Here", jobTemplate: job({}) } },
      ['spec.timeZone: Invalid value: "Mars/Here": unknown time zone Mars/Here'],
    ],
    [
      "a claim for nothing",
      `${core}/persistentvolumeclaims`,
      { spec: {} },
      [
        "spec.accessModes: Required value: at least 1 access mode is required",
        "spec.resources[storage]: Required value",
      ],
    ],
    [
      "a volume without a place",
      "/api/v1/persistentvolumes",
      { spec: { capacity: { storage: "0" }, accessModes: ["Sometimes"] } },
      [
        'spec.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
        "spec: Required value: must specify a volume type",
      ],
    ],
    [
      "a quota below nothing",
      `${core}/resourcequotas`,
      { spec: { hard: { pods: "-1" }, scopes: ["Never"] } },
      [
        'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
        'spec.scopes: Invalid value: ["Never"]: unsupported scope',
      ],
    ],
    [
      "limits that contradict each other",
      `${core}/limitranges`,
      { spec: { limits: [{ type: "Pod", min: { cpu: "2" }, max: { cpu: "1" } }] } },
      ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
    ],
    [
      "endpoints at no address",
      `${core}/endpoints`,
      { subsets: [{ addresses: [{ ip: "x" }] }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
      ],
    ],
    [
      "a slice of another family",
      "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
      { addressType: "IPv6", endpoints: [{ addresses: ["10.1.2.3"] }, { addresses: ["::1"] }] },
      [
        'endpoints[0].addresses: Invalid value: "10.1.2.3": must be an IPv6 address',
        'endpoints[1].addresses[0]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      "an Ingress to nowhere",
      "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
      {
        spec: {
          defaultBackend: { service: { name: "s", port: { number: 1 } }, resource: { kind: "K", name: "n" } },
          rules: [{ host: "1.2.3.4", http: { paths: [{ pathType: "Exact", path: "x", backend: {} }] } }],
        },
      },
      [
        'spec.defaultBackend: Invalid value: "": cannot set both resource and service backends',
        'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
        'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
        'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
      ],
    ],
    [
      "an IngressClass without a domain",
      "/apis/networking.k8s.io/v1/ingressclasses",
      { spec: { controller: "b" } },
      ['spec.controller: Invalid value: "b": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      "a budget in parts",
      "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
      { spec: { minAvailable: "5" } },
      [
        "spec.minAvailable: Invalid value: \"5\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ],
    ],
    [
      "an autoscaler of nothing",
      "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
      { spec: {} },
      [
        "spec.maxReplicas: Required value: must be set and greater than 0",
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.kind: Required value",
        "spec.scaleTargetRef.name: Required value",
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
      ],
    ],
    [
      "a Role that allows nothing",
      "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
      { rules: [{}] },
      [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
      ],
    ],
    [
      "a binding of nobody to nothing",
      "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      {
        roleRef: { apiGroup: "x", kind: "Role", name: "a/b" },
        subjects: [
          { kind: "ServiceAccount", name: "A" },
          { kind: "Robot" },
          { kind: "User", name: "u", apiGroup: "y" },
        ],
      },
      [
        'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
        "roleRef.name: Invalid value: \"a/b\": may not contain '/'",
        expect.stringContaining('subjects[0].name: Invalid value: "A"') as never,
        "subjects[0].namespace: Required value",
        "subjects[1].name: Required value",
        'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
        'subjects[2].apiGroup: Unsupported value: "y": supported values: "rbac.authorization.k8s.io"',
      ],
    ],
    [
      "a webhook at a strange address",
      "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
      webhook({ clientConfig: { url: "http://u@x/y?a=b#c" } }),
      [
        "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
        'webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
      ],
    ],
    [
      "a webhook of a service without a name",
      "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
      webhook({ name: "a.b", sideEffects: "Some", clientConfig: { service: { path: "x", port: 0 } } }),
      [
        'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
        'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
        "webhooks[0].clientConfig.service.name: Required value",
        "webhooks[0].clientConfig.service.namespace: Required value",
        "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
        "webhooks[0].clientConfig.service.path: Invalid value: \"x\": must start with a '/'",
        'webhooks[0].clientConfig.service.path: Invalid value: "x": segment[0] may not be empty',
      ],
    ],
    [
      "a FlowSchema of nobody",
      "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
      { spec: { matchingPrecedence: 1, rules: [{ subjects: [{ kind: "User" }] }] } },
      [
        "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
        "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
        "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
      ],
    ],
    [
      "a request for a certificate without a signer",
      "/apis/certificates.k8s.io/v1/certificatesigningrequests",
      { spec: { request: "eA==", signerName: "x" } },
      [
        'spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
        "spec.usages: Required value",
        "spec.signerName: Invalid value: \"x\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ],
    ],
  ])("refuse %s", async (_, path, body, errors) => {
    expect(await refused(path, body)).toEqual(errors);
  });

  describe("for flow control", () => {
    const root = "/apis/flowcontrol.apiserver.k8s.io/v1";
    it("have the schemas and levels of every server, printed in the order in which they match", async () => {
      const table = await call(cluster, "GET", `${root}/flowschemas`, { headers: { accept: TABLE } });
      const names = table.body.rows.map(({ cells }: { cells: string[] }) => cells[0]);
      expect(names.slice(0, 3)).toEqual(["exempt", "probes", "system-leader-election"]);
      expect(names.at(-1)).toBe("catch-all");
      const levels = await call(cluster, "GET", `${root}/prioritylevelconfigurations`);
      expect(levels.body.items).toHaveLength(8);
      const change = await call(cluster, "PATCH", `${root}/prioritylevelconfigurations/catch-all`, {
        type: MERGE,
        body: { spec: { limited: { nominalConcurrencyShares: 1 } } },
      });
      expect(change.body.message).toContain("spec of 'catch-all' must equal the fixed value");
    });

    it("say of a schema whether its level is there", async () => {
      const body = {
        metadata: { name: "mine" },
        spec: {
          priorityLevelConfiguration: { name: "my-level" },
          rules: [
            {
              subjects: [{ kind: "User", user: { name: "u" } }],
              nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
            },
          ],
        },
      };
      const dangling = async () => {
        await cluster.settle();
        const { status } = (await call(cluster, "GET", `${root}/flowschemas/mine`)).body;
        return status.conditions.map(({ status, reason }: Fields) => `${status} ${reason}`);
      };
      await call(cluster, "POST", `${root}/flowschemas`, { body });
      expect(await dangling()).toEqual(["True NotFound"]);
      await call(cluster, "POST", `${root}/prioritylevelconfigurations`, {
        body: {
          metadata: { name: "my-level" },
          spec: { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } },
        },
      });
      expect(await dangling()).toEqual(["False Found"]);
      await call(cluster, "DELETE", `${root}/prioritylevelconfigurations/my-level`);
      expect(await dangling()).toEqual(["True NotFound"]);
    });
  });

  describe("for the scale", () => {
    const one = "/apis/apps/v1/namespaces/default/deployments/one";
    const scale = (replicas: unknown, meta: Fields = {}) => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "one", ...meta },
      spec: { replicas },
    });
    beforeAll(async () => {
      await call(cluster, "POST", "/apis/apps/v1/namespaces/default/deployments", {
        body: { metadata: { name: "one" }, spec: { selector: { matchLabels: labels }, template: template() } },
      });
    });

    it("refuse what is no number, is negative or has another name", async () => {
      const put = async (body: Fields) => (await call(cluster, "PUT", `${one}/scale`, { body })).body.message;
      expect(await put(scale("x"))).toContain("cannot unmarshal string into Go struct field ScaleSpec.spec.replicas");
      expect(await put(scale(-1))).toContain("spec.replicas: Invalid value: -1: must be greater than or equal to 0");
      expect(await put(scale(1, { name: "two" }))).toContain("does not match the name on the URL");
      const odd = await call(cluster, "PATCH", `${one}/scale`, { type: MERGE, body: { spec: { bogus: 1 } } });
      expect(odd.warnings).toEqual(['299 - "unknown field \\"spec.bogus\\""']);
      const strict = await call(cluster, "PATCH", `${one}/scale?fieldValidation=Strict`, {
        type: MERGE,
        body: { spec: { bogus: 1 } },
      });
      expect(strict).toMatchObject({ status: 422 });
    });

    it("keep who owns the replicas, whichever way they are applied", async () => {
      const apply = (manager: string, replicas: number, force = false) =>
        call(cluster, "PATCH", `${one}/scale?fieldManager=${manager}&force=${force}`, {
          type: APPLY,
          body: scale(replicas),
        });
      expect((await apply("a", 2, true)).body.spec).toEqual({ replicas: 2 });
      expect((await apply("b", 3)).body.message).toBe(
        'Apply failed with 1 conflict: conflict with "a" with subresource "scale": .spec.replicas',
      );
      const { managedFields } = (await call(cluster, "GET", one)).body.metadata;
      expect(managedFields).toContainEqual(
        expect.objectContaining({ manager: "a", operation: "Apply", subresource: "scale" }),
      );
    });

    it("print it as a table", async () => {
      const { body } = await call(cluster, "GET", `${one}/scale`, { headers: { accept: TABLE } });
      expect(body.columnDefinitions.map(({ name }: Fields) => name)).toEqual(["Name", "Desired", "Available", "Age"]);
      expect(body.rows[0].cells.slice(0, 3)).toEqual(["one", 2, 0]);
    });
  });

  describe("for pods", () => {
    const pod = `${core}/pods/p`;
    const change = (path: string, body: Fields) => call(cluster, "PATCH", path, { type: STRATEGIC, body });
    beforeAll(async () => {
      await call(cluster, "POST", `${core}/pods`, { body: { metadata: { name: "p" }, spec: template().spec } });
    });

    it("let ephemeral containers come, and none of them go", async () => {
      const added = await change(`${pod}/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: "d", image: "j:1" }], containers: [{ name: "c", image: "other" }] },
      });
      expect(added.body.metadata.generation).toBe(2);
      expect(added.body.spec.containers[0].image).toBe("i");
      expect(added.body.spec.ephemeralContainers[0]).toMatchObject({ name: "d", imagePullPolicy: "IfNotPresent" });
      const gone = await change(`${pod}/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: "d", $patch: "delete" }] },
      });
      expect(gone.body.message).toContain('existing ephemeral containers "d" may not be removed');
      const changed = await change(`${pod}/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: "d", image: "j:2" }] },
      });
      expect(changed.body.message).toContain('existing ephemeral containers "d" may not be changed');
    });

    it("let a container be resized within its class of service", async () => {
      const grown = await change(`${pod}/resize`, {
        spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] },
      });
      expect(grown.body.message).toContain("Pod QOS Class may not change as a result of resizing");
      const other = await change(`${pod}/resize`, {
        spec: { containers: [{ name: "c", resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }] }] },
      });
      expect(other.body.message).toContain("only cpu and memory resources are mutable");
    });

    it("put it on a node once, by either way", async () => {
      const bind = (path: string, node: string) =>
        call(cluster, "POST", path, { body: { metadata: { name: "p" }, target: { kind: "Node", name: node } } });
      expect(await bind(`${pod}/binding`, "")).toMatchObject({
        status: 500,
        body: { message: "target.name: Required value" },
      });
      expect((await change(pod, { spec: { nodeName: "n" } })).status).toBe(422);
      expect((await bind(`${core}/bindings`, "n")).status).toBe(201);
      expect((await bind(`${pod}/binding`, "m")).body).toMatchObject({
        reason: "Conflict",
        details: { name: "p", kind: "pods/binding" },
      });
    });

    it("let its time become shorter, and its tolerations more", async () => {
      expect((await change(pod, { spec: { activeDeadlineSeconds: 5 } })).status).toBe(200);
      expect((await change(pod, { spec: { activeDeadlineSeconds: 6 } })).body.message).toContain(
        "must be less than or equal to previous value",
      );
      const replaced = await call(cluster, "PATCH", pod, {
        type: MERGE,
        body: { spec: { tolerations: [{ key: "k", operator: "Exists" }] } },
      });
      expect(replaced.body.spec.tolerations.map(({ key }: Fields) => key)).toEqual([
        "k",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
      ]);
      const fewer = await call(cluster, "PATCH", pod, { type: MERGE, body: { spec: { tolerations: [] } } });
      expect(fewer.body.message).toContain("existing toleration can not be modified except its tolerationSeconds");
    });
  });

  describe("for events", () => {
    const events = "/apis/events.k8s.io/v1/namespaces/default/events";
    const event = {
      metadata: { name: "e" },
      eventTime: "2026-01-02T03:04:05.123456Z",
      type: "Normal",
      reason: "R",
      action: "a",
      reportingController: "x.io/y",
      reportingInstance: "z",
      regarding: { namespace: "default", name: "x" },
    };

    it("ask for more than the older kind does", async () => {
      expect(await refused(events, { deprecatedCount: 1, series: { count: 1 }, regarding: {} })).toEqual([
        'series.count: Invalid value: "": should be at least 2',
        "series.lastObservedTime: Required value",
        "eventTime: Required value",
        'type: Invalid value: "": has invalid value: ',
        'count: Invalid value: "": needs to be unset',
      ]);
    });

    it("let only the series go on", async () => {
      expect((await call(cluster, "POST", events, { body: event })).status).toBe(201);
      const series = { count: 2, lastObservedTime: "2026-01-02T03:04:06.123456Z" };
      const path = `${events}/e`;
      expect((await call(cluster, "PATCH", path, { type: MERGE, body: { series } })).status).toBe(200);
      const other = await call(cluster, "PATCH", path, { type: MERGE, body: { note: "other" } });
      expect(other.body.message).toBe('Event "e" is invalid: message: Invalid value: "other": field is immutable');
    });
  });

  it("read YAML with a key twice, and tell", async () => {
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: twice\ndata:\n  a: b\n  a: c\n";
    const post = (query: string) =>
      call(cluster, "POST", `${core}/configmaps?dryRun=All${query}`, { type: "application/yaml", body: yaml });
    const warned = await post("");
    expect(warned.body.data).toEqual({ a: "c" });
    expect(warned.warnings).toEqual(['299 - "line 7: key \\"a\\" already set in map"']);
    expect((await post("&fieldValidation=Strict")).body.message).toContain(
      'strict decoding error: yaml: unmarshal errors:\n  line 7: key "a" already set in map',
    );
    const broken = await call(cluster, "POST", `${core}/configmaps`, {
      type: "application/yaml",
      body: "a: 1\nb: c: d",
    });
    expect(broken.body.message).toContain("yaml: line 2: mapping values are not allowed in this context");
  });
});
