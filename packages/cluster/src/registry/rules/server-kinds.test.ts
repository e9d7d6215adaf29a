import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call, MERGE } from "../../test-requests.ts";

type Fields = Record<string, unknown>;

const flow = "/apis/flowcontrol.apiserver.k8s.io/v1";
const schemas = `${flow}/flowschemas`;
const levels = `${flow}/prioritylevelconfigurations`;
const services = "/apis/apiregistration.k8s.io/v1/apiservices";
const admission = "/apis/admissionregistration.k8s.io/v1";

const schema = (rule: Fields, more: Fields = {}): Fields => ({
  spec: {
    matchingPrecedence: 50,
    priorityLevelConfiguration: { name: "workload-low" },
    rules: [
      {
        subjects: [{ kind: "User", user: { name: "u" } }],
        nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
        ...rule,
      },
    ],
    ...more,
  },
});
const resources = (more: Fields): Fields =>
  schema({ resourceRules: [{ verbs: ["get"], apiGroups: ["a"], resources: ["b"], namespaces: ["c"], ...more }] });
const paths = (...nonResourceURLs: string[]): Fields =>
  schema({ nonResourceRules: [{ verbs: ["get"], nonResourceURLs }] });
const queues = (queuing: Fields): Fields => ({
  spec: { type: "Limited", limited: { limitResponse: { type: "Queue", queuing } } },
});
const served = (more: Fields, group = "example.com"): Fields => ({
  metadata: { name: `v1.${group}` },
  spec: {
    group,
    version: "v1",
    groupPriorityMinimum: 100,
    versionPriority: 10,
    insecureSkipTLSVerify: true,
    service: { name: "s", namespace: "n" },
    ...more,
  },
});
const hook = (clientConfig: Fields): Fields => ({
  webhooks: [{ name: "a.example.com", sideEffects: "None", admissionReviewVersions: ["v1"], clientConfig }],
});
const FORM = "; desired format: https://host[/path]";

describe("what a server refuses of its own kinds", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, controllers: { workloads: false, policies: false } });
  });
  afterAll(() => cluster.stop());

  const told = ({ status, body }: { status: number; body: Fields }): string[] => {
    if (status < 300) return [];
    const { causes } = (body.details ?? {}) as { causes?: { field: string; message: string }[] };
    return causes?.map(({ field, message }) => `${field}: ${message}`) ?? [String(body.message)];
  };
  const post = (path: string, body: Fields) =>
    call(cluster, "POST", `${path}?dryRun=All`, { body: { metadata: { name: "one" }, ...body } });

  it.each<[what: string, path: string, body: Fields, errors: string[]]>([
    [
      "subjects that are two things",
      schemas,
      schema({ subjects: [{ kind: "User", group: { name: "g" } }] }),
      [
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
        "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
      ],
    ],
    [
      "an account without a namespace",
      schemas,
      schema({ subjects: [{ kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "" } }] }),
      [
        "spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account",
      ],
    ],
    [
      "a star beside others",
      schemas,
      resources({ verbs: ["*", "get"], apiGroups: ["*", "a"], resources: ["*", "b"], namespaces: ["*", "c"] }),
      [
        `spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
        `spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other api groups`,
        `spec.rules[0].resourceRules[0].resources: Invalid value: ["*","b"]: if '*' is present, must not specify other resources`,
        `spec.rules[0].resourceRules[0].namespaces: Invalid value: ["*","c"]: if '*' is present, must not specify other namespaces`,
      ],
    ],
    [
      "a rule about no place",
      schemas,
      resources({ namespaces: [] }),
      [
        "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
      ],
    ],
    [
      "paths that are none",
      schemas,
      paths("a", "/a b", "//a", "/a*", "/a/*", "/"),
      [
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a b": must not contain white-space',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "//a": must not contain double slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a*": wildcard can only do suffix matching',
      ],
    ],
    [
      "a hand for which the bits do not suffice",
      levels,
      queues({ queues: 1_000, handSize: 7, queueLengthLimit: 1 }),
      [
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1000 and handSize 7 should not be greater than 60",
      ],
    ],
    [
      "a hand of more queues than there are",
      levels,
      queues({ queues: 2, handSize: 3, queueLengthLimit: -1 }),
      [
        "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 3: should not be greater than queues (2)",
      ],
    ],
    [
      "an exemption of another name",
      levels,
      { spec: { type: "Exempt" } },
      ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
    ],
    [
      "an APIService of another name",
      services,
      { ...served({}), metadata: { name: "v2.example.com" } },
      ['metadata.name: Invalid value: "v2.example.com": must be `spec.version+"."+spec.group`: "v1.example.com"'],
    ],
    [
      "priorities out of their range",
      services,
      served({ groupPriorityMinimum: 20_001, versionPriority: 0 }),
      [
        "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
      ],
    ],
    [
      "a server whose certificate is checked and is not",
      services,
      served({ caBundle: "Zm9v" }),
      ["spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"],
    ],
    [
      "this server itself with a certificate",
      services,
      served({ service: undefined, caBundle: "Zm9v" }),
      [
        'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
        "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
      ],
    ],
    ...(
      [
        ["https://a b/", 'invalid character " " in host name'],
        ["https://a:port/", 'invalid port ":port" after host'],
        ["https://a/%zz", 'invalid URL escape "%zz"'],
        ["https://[::1/", "missing ']' in host"],
        [":a", "missing protocol scheme"],
        ["1:a", "first path segment in URL cannot contain colon"],
      ] as const
    ).map(([url, why]): [string, string, Fields, string[]] => [
      `a webhook at ${url}`,
      `${admission}/validatingwebhookconfigurations`,
      hook({ url }),
      [
        `webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse ${JSON.stringify(url)}: ${why}${FORM}`,
      ],
    ]),
  ])("is %s", async (_, path, body, errors) => {
    expect(told(await post(path, body))).toEqual(errors);
  });

  it("is a change of what every server has", async () => {
    const change = { spec: { matchingPrecedence: 9_999 } };
    const answer = await call(cluster, "PATCH", `${schemas}/catch-all`, { body: change, type: MERGE });
    expect(answer.status).toBe(422);
    expect(String(answer.body.message)).toMatch(/spec of 'catch-all' must equal the fixed value$/);
    const free = { spec: { exempt: { lendablePercent: 50 } } };
    expect((await call(cluster, "PATCH", `${levels}/exempt?dryRun=All`, { body: free, type: MERGE })).status).toBe(200);
  });

  it("is a wrong status alone where only the status is written", async () => {
    const body = {
      metadata: { name: "policy" },
      spec: { matchConstraints: RULES, validations: [{ expression: "true" }] },
    };
    const policies = `${admission}/validatingadmissionpolicies`;
    expect((await call(cluster, "POST", policies, { body })).status).toBe(201);
    const status = {
      typeChecking: { expressionWarnings: [{ fieldRef: "", warning: "" }] },
      conditions: [{ type: "a b" }],
    };
    const answer = await call(cluster, "PATCH", `${policies}/policy/status`, { body: { status }, type: MERGE });
    expect(told(answer).map((line) => line.split(":")[0])).toEqual([
      "status.typeChecking.expressionWarnings[0].warning",
      "status.typeChecking.expressionWarnings[0].fieldRef",
      ...["type", "status", "lastTransitionTime", "reason"].map((key) => `status.conditions[0].${key}`),
    ]);
  });

  it("is not, but warned of, a name that belongs to configurations of files", async () => {
    const body = { metadata: { name: "a.static.k8s.io" }, ...hook({ url: "https://a/" }) };
    const answer = await call(cluster, "POST", `${admission}/validatingwebhookconfigurations?dryRun=All`, { body });
    expect([answer.status, String(answer.headers.warning)]).toEqual([
      201,
      expect.stringMatching(/are reserved for static/),
    ]);
  });
});

const RULES = {
  resourceRules: [{ operations: ["CREATE"], apiGroups: ["a"], apiVersions: ["v1"], resources: ["b"] }],
};
