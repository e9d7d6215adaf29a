import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, define, MERGE, widgetDefinition } from "../test-requests.ts";

const PATH = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

const policy = (validations: object[], spec: object = {}) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "p" },
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ["apps"],
          apiVersions: ["v1"],
          operations: ["CREATE"],
          resources: ["deployments", "statefulsets"],
        },
      ],
    },
    validations,
    ...spec,
  },
});

async function statusOf(cluster: Cluster) {
  await cluster.settle();
  return (await call(cluster, "GET", `${PATH}/p`)).body.status;
}

describe("the status of a policy", () => {
  it("says that its expressions were looked at, and again when they change", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", PATH, { body: policy([{ expression: "object.spec.replicas < 5" }]) });
    expect(await statusOf(cluster)).toEqual({ observedGeneration: 1, typeChecking: {} });
    const spec = { validations: [{ expression: "object.spec.replicas < 6" }] };
    await call(cluster, "PATCH", `${PATH}/p`, { type: MERGE, body: { spec } });
    expect(await statusOf(cluster)).toEqual({ observedGeneration: 2, typeChecking: {} });
  });

  it("names fields that the kinds do not have", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", PATH, {
      body: policy([
        { expression: "object.spec.replica < 5" },
        { expression: "object.metadata.name != ''", messageExpression: "string(object.spec.serviceName)" },
      ]),
    });
    const line = "ERROR: <input>:1:12: undefined field 'replica'\n | object.spec.replica < 5\n | ...........^\n";
    expect(await statusOf(cluster)).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: "spec.validations[0].expression",
            warning: `apps/v1, Kind=Deployment: ${line}\napps/v1, Kind=StatefulSet: ${line}`,
          },
          {
            fieldRef: "spec.validations[1].messageExpression",
            warning:
              "apps/v1, Kind=Deployment: ERROR: <input>:1:19: undefined field 'serviceName'\n | string(object.spec.serviceName)\n | ..................^\n",
          },
        ],
      },
    });
  });

  it("knows custom kinds, parameters and variables", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    await cluster.settle();
    const rule = { apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["*"], resources: ["widgets"] };
    await call(cluster, "POST", PATH, {
      body: policy(
        [
          { expression: "variables.size < 5 && object.metadata.labels['a'] == params.data['a']" },
          { expression: "variables.size == 'small'" },
        ],
        {
          matchConstraints: { resourceRules: [rule] },
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
          variables: [{ name: "size", expression: "object.spec.size" }],
        },
      ),
    });
    const { typeChecking } = await statusOf(cluster);
    expect(typeChecking.expressionWarnings).toHaveLength(1);
    expect(typeChecking.expressionWarnings[0]).toMatchObject({ fieldRef: "spec.validations[1].expression" });
    expect(typeChecking.expressionWarnings[0].warning).toContain(
      "example.com/v1, Kind=Widget: ERROR: <input>:1:16: found no matching overload for '_==_' applied to '(int, string)'",
    );
  });

  it("is silent where a rule names everything", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
    await call(cluster, "POST", PATH, {
      body: policy([{ expression: "object.nothing == 1" }], { matchConstraints: { resourceRules: [rule] } }),
    });
    expect(await statusOf(cluster)).toEqual({ observedGeneration: 1, typeChecking: {} });
  });
});
