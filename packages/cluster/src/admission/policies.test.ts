import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { CONFIG_MAPS, call, define, MERGE, WIDGETS, widget, widgetDefinition } from "../test-requests.ts";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const CONFIG_MAP_RULES = [
  { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
];

const configMap = (name: string, data: Record<string, string> = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

async function install(
  cluster: Cluster,
  kind: "Validating" | "Mutating",
  spec: object,
  binding: object = {},
  name = "policy",
): Promise<void> {
  const plural = `${kind.toLowerCase()}admissionpolicies`;
  const policy = await call(cluster, "POST", `${REGISTRATION}/${plural}`, {
    body: {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}AdmissionPolicy`,
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: CONFIG_MAP_RULES },
        ...(kind === "Mutating" ? { reinvocationPolicy: "Never" } : {}),
        ...spec,
      },
    },
  });
  expect(policy.body.message).toBeUndefined();
  const bound = await call(cluster, "POST", `${REGISTRATION}/${kind.toLowerCase()}admissionpolicybindings`, {
    body: {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}AdmissionPolicyBinding`,
      metadata: { name: `${name}-binding` },
      spec: { policyName: name, ...(kind === "Validating" ? { validationActions: ["Deny"] } : {}), ...binding },
    },
  });
  expect(bound.body.message).toBeUndefined();
}

describe("a ValidatingAdmissionPolicy", () => {
  it("refuses what its expressions do not like, in the words of a real server", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Validating", { validations: [{ expression: "size(object.data) < 2" }] });
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { x: "1" }) })).status).toBe(201);
    const refused = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("b", { x: "1", y: "2" }) });
    const text =
      "ValidatingAdmissionPolicy 'policy' with binding 'policy-binding' denied request: failed expression: size(object.data) < 2";
    expect(refused.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `configmaps "b" is forbidden: ${text}`,
      reason: "Invalid",
      details: { name: "b", kind: "configmaps", causes: [{ message: text }] },
      code: 422,
    });
  });

  it("does nothing without a binding", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Validating", { validations: [{ expression: "false" }] }, { policyName: "another" });
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
  });

  it("makes its message of an expression, and its code of its reason", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Validating", {
      validations: [
        {
          expression: "object.data['mode'] in ['a', 'b']",
          message: "fixed",
          messageExpression: "'mode ' + object.data['mode'] + ' of ' + request.name + ' is unknown'",
          reason: "Forbidden",
        },
      ],
    });
    const refused = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("x", { mode: "c" }) });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toMatch(/denied request: mode c of x is unknown$/);
  });

  it("warns instead when its binding says so", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const validations = [{ expression: "false", message: " never again " }];
    await install(cluster, "Validating", { validations }, { validationActions: ["Warn", "Audit"] });
    const answer = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(201);
    expect(answer.warnings).toEqual([
      "299 - \"Validation failed for ValidatingAdmissionPolicy 'policy' with binding 'policy-binding': never again\"",
    ]);
  });

  it("composes variables, each computed when it is used", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Validating", {
      variables: [
        { name: "keys", expression: "object.data.map(k, k)" },
        { name: "count", expression: "size(variables.keys)" },
        { name: "broken", expression: "object.data['missing']" },
      ],
      validations: [{ expression: "variables.count <= 1 || variables.broken == ''" }],
    });
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { x: "1" }) })).status).toBe(201);
    const refused = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("b", { x: "1", y: "2" }) });
    expect(refused.body.message).toContain('composited variable "broken" fails to evaluate: no such key: missing');
  });

  it("compares with the old object, and sees the namespace and the user", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Validating", {
      validations: [
        { expression: "oldObject == null || object.data['fixed'] == oldObject.data['fixed']", message: "fixed" },
        { expression: "namespaceObject.metadata.name == request.namespace", message: "namespace" },
        { expression: "'system:masters' in request.userInfo.groups", message: "user" },
        { expression: "authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()" },
        { expression: "authorizer.requestResource.check('update').allowed()" },
      ],
    });
    const created = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { fixed: "1" }) });
    expect(created.body.message).toBeUndefined();
    const refused = await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { data: { fixed: "2" } } });
    expect(refused.body.message).toMatch(/denied request: fixed$/);
  });

  it("takes parameters from other objects", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(
      cluster,
      "Validating",
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        matchConditions: [{ name: "not-params", expression: "!object.metadata.name.startsWith('limits')" }],
        validations: [
          {
            expression: "size(object.data) <= int(params.data.most)",
            messageExpression: "'at most ' + params.data.most",
          },
        ],
      },
      { paramRef: { name: "limits", namespace: "default", parameterNotFoundAction: "Deny" } },
    );
    const missing = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { x: "1" }) });
    expect(missing.body.message).toMatch(
      /failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
    );
    // Even the parameters themselves cannot be written then, unless the binding leaves them alone.
    const path = `${REGISTRATION}/validatingadmissionpolicybindings/policy-binding`;
    const allow = { spec: { paramRef: { name: "limits", namespace: "default", parameterNotFoundAction: "Allow" } } };
    expect((await call(cluster, "PATCH", path, { type: MERGE, body: allow })).status).toBe(200);
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("limits", { most: "1" }) })).status).toBe(201);
    const refused = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("b", { x: "1", y: "2" }) });
    expect(refused.body.message).toMatch(/denied request: at most 1$/);
  });

  it("selects by names, excluded rules and the labels of namespaces", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Validating", {
      matchConstraints: {
        resourceRules: [{ ...CONFIG_MAP_RULES[0], resourceNames: ["a", "b"] }],
        excludeResourceRules: [{ ...CONFIG_MAP_RULES[0], resourceNames: ["b"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } },
      },
      validations: [{ expression: "false" }],
    });
    const statuses = [];
    for (const name of ["a", "b", "c"]) {
      statuses.push((await call(cluster, "POST", CONFIG_MAPS, { body: configMap(name) })).status);
    }
    expect(statuses).toEqual([422, 201, 201]);
  });

  it("refuses what it cannot judge, unless it may be ignored", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const validations = [{ expression: "object.data.missing == 'x'" }];
    await install(cluster, "Validating", { validations, failurePolicy: "Ignore" });
    expect((await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { x: "1" }) })).status).toBe(201);
    await install(cluster, "Validating", { validations }, {}, "strict");
    const refused = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("b", { x: "1" }) });
    expect(refused.body.message).toMatch(
      /'strict'.*denied request: expression 'object\.data\.missing == 'x'' resulted in error: no such key: missing$/,
    );
  });
});

describe("a MutatingAdmissionPolicy", () => {
  const apply = (expression: string) => ({
    mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
  });
  const patch = (expression: string) => ({ mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }] });

  it("lays a configuration over the object", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(
      cluster,
      "Mutating",
      apply(`Object{ metadata: Object.metadata{ labels: {"by": request.userInfo.username} }, data: {"added": "1"} }`),
    );
    const answer = await call(cluster, "POST", CONFIG_MAPS, {
      body: configMap("a", { own: "0" }, { labels: { own: "0" } }),
    });
    expect(answer.body).toMatchObject({
      metadata: { labels: { own: "0", by: "kubernetes-admin" } },
      data: { own: "0", added: "1" },
    });
  });

  it("joins lists by their keys", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Mutating", {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      ...apply(
        `Object{ spec: Object.spec{ initContainers: [ Object.spec.initContainers{ name: "mesh", image: "mesh:1", restartPolicy: "Always" } ] } }`,
      ),
    });
    const answer = await call(cluster, "POST", "/api/v1/namespaces/default/pods", {
      body: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: {
          initContainers: [{ name: "first", image: "first:1" }],
          containers: [{ name: "main", image: "main:1" }],
        },
      },
    });
    expect(answer.body.message).toBeUndefined();
    const names = answer.body.spec.initContainers.map((container: { name: string }) => container.name);
    expect(names.sort()).toEqual(["first", "mesh"]);
    expect(answer.body.spec.containers).toHaveLength(1);
  });

  it("applies operations, with keys escaped, and leaves objects alone whose test fails", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(
      cluster,
      "Mutating",
      patch(`[
        JSONPatch{op: "test", path: "/metadata/name", value: "a"},
        JSONPatch{op: "add", path: "/metadata/labels", value: {"x": "1"}},
        JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/y"), value: string(size(object.data))}
      ]`),
    );
    const labels = async (name: string) => {
      return (await call(cluster, "POST", CONFIG_MAPS, { body: configMap(name, { k: "v" }) })).body.metadata.labels;
    };
    expect(await labels("a")).toEqual({ x: "1", "example.com/y": "1" });
    expect(await labels("b")).toBeUndefined();
  });

  it("works on custom resources, whose fields are checked", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    const rules = [{ apiGroups: ["example.com"], apiVersions: ["*"], operations: ["*"], resources: ["widgets"] }];
    await install(cluster, "Mutating", {
      matchConstraints: { resourceRules: [{ ...rules[0], operations: ["CREATE"] }] },
      matchConditions: [{ name: "small", expression: "object.spec.size < 5" }],
      ...apply("Object{ spec: Object.spec{ size: object.spec.size + 10 } }"),
    });
    expect((await call(cluster, "POST", WIDGETS, { body: widget("a") })).body.spec.size).toBe(11);
    expect((await call(cluster, "POST", WIDGETS, { body: widget("b", { size: 6 }) })).body.spec.size).toBe(6);
  });

  it("refuses the request when it fails, naming the policy and the binding", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await install(cluster, "Mutating", apply("Object{ spec: Object.spec{ bogus: 1 } }"));
    const answer = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({
      reason: "Invalid",
      message:
        "policy 'policy' with binding 'policy-binding' denied request: error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema",
    });
  });

  it("is asked again when a later one changed the object", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const count = `Object{ metadata: Object.metadata{ annotations: {"keys": string(size(object.data))} } }`;
    await install(cluster, "Mutating", { ...apply(count), reinvocationPolicy: "IfNeeded" }, {}, "a-counts");
    await install(cluster, "Mutating", apply(`Object{ data: {"late": "1"} }`), {}, "b-adds");
    const answer = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { k: "v" }) });
    expect(answer.body.metadata.annotations).toEqual({ keys: "2" });
  });
});
