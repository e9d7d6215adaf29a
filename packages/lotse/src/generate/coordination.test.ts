import { describe, expect, it } from "vitest";
import { leader, type PeeringCoordination, peering, planCoordination, shards } from "../declare/index.ts";
import { accessManifests } from "./access.ts";
import { needsOfCoordination, planOfChoice } from "./coordination.ts";
import { deploymentManifests } from "./deployment.ts";

interface Made {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly spec: {
    readonly replicas: number;
    readonly strategy: object;
    readonly template: {
      readonly spec: {
        readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[];
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[];
      };
    };
  };
}

const INPUT = { name: "op", namespace: "ops", image: "op:1", serves: undefined, bringsDefinitions: false, stopMs: 1 };

function made(replicas: number, choice: "alone" | "leader" | "shards", declared?: Parameters<typeof planOfChoice>[1]) {
  const replication = {
    replicas,
    plan: planOfChoice(choice, declared),
    declared: planCoordination(declared).type,
  };
  const manifests = deploymentManifests({ ...INPUT, replication }) as Made[];
  const deployment = manifests.at(-1) as Made;
  const [container] = deployment.spec.template.spec.containers;
  const told = container?.env.find(({ name }) => name === "LOTSE_RUN_COORDINATION")?.value;
  return { manifests, deployment, told, env: container?.env.map(({ name }) => name) };
}

describe("the pods of an operator", () => {
  it("with a leader are replaced one after another, each when the next one is ready", () => {
    const { deployment, told } = made(1, "leader");
    expect(told).toBe("leader");
    expect(deployment.spec).toMatchObject({
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
  });

  it("that are alone are never two at once", () => {
    const { deployment, told } = made(1, "alone");
    expect(told).toBeUndefined();
    expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
  });

  it("know their names and their namespace", () => {
    expect(made(1, "leader").env).toEqual(expect.arrayContaining(["POD_NAME", "POD_NAMESPACE"]));
  });

  it("are told nothing that the operator says of itself", () => {
    expect(made(3, "shards", shards({ by: "namespace" })).told).toBeUndefined();
    expect(made(3, "leader", shards()).told).toBe("leader");
    expect(made(1, "alone", "leader").told).toBe("alone");
  });

  it("that are one have neither a budget nor a spread, which would keep nodes from being emptied", () => {
    const { manifests, deployment } = made(1, "leader");
    expect(manifests).toHaveLength(1);
    expect(deployment.spec.template.spec.topologySpreadConstraints).toBeUndefined();
  });

  it("that are several lie on several nodes, and at most one is taken away at a time", () => {
    const { manifests, deployment } = made(3, "shards");
    expect(manifests).toEqual([
      {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: {
          name: "op",
          namespace: "ops",
          labels: { "app.kubernetes.io/name": "op", "app.kubernetes.io/managed-by": "lotse" },
        },
        spec: {
          maxUnavailable: 1,
          selector: { matchLabels: { "app.kubernetes.io/name": "op" } },
          unhealthyPodEvictionPolicy: "AlwaysAllow",
        },
      },
      expect.objectContaining({ kind: "Deployment" }),
    ]);
    expect(deployment.spec.template.spec.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey)).toEqual([
      "kubernetes.io/hostname",
      "topology.kubernetes.io/zone",
    ]);
  });
});

describe("what coordination needs", () => {
  const rights = (choice: Parameters<typeof planCoordination>[0]) =>
    needsOfCoordination(planCoordination(choice), "op").map(
      ({ resource, verbs, names, inOwnNamespace, namespace }) => ({
        right: `${resource}: ${verbs.join(" ")}`,
        ...(names && { names }),
        where: inOwnNamespace ? (namespace ?? "its own") : "everywhere",
      }),
    );

  it("is nothing alone", () => expect(rights("alone")).toEqual([]));

  it("is one Lease by its name with a leader, which alone has to be created without", () => {
    expect(rights("leader")).toEqual([
      { right: "leases: get list update watch", names: ["op"], where: "its own" },
      { right: "leases: create", where: "its own" },
    ]);
  });

  it("is the Lease that the operator names, where it names it", () => {
    expect(rights(leader({ name: "first", namespace: "leases" }))).toEqual([
      { right: "leases: get list update watch", names: ["first"], where: "leases" },
      { right: "leases: create", where: "leases" },
    ]);
  });

  it("is all Leases of the operator's namespace with shards, because no name of a member is known before", () => {
    expect(rights(shards())).toEqual([{ right: "leases: create get list update watch", where: "its own" }]);
  });

  it("is the peering object by its name, of the cluster or of the namespaces that are served", () => {
    const needs = (plan: PeeringCoordination, serves?: readonly string[]) =>
      needsOfCoordination(plan, "op", serves).map(({ group, resource, verbs, names, clusterWide }) => ({
        right: `${resource}.${group}: ${verbs.join(" ")}`,
        ...{ names, clusterWide },
      }));
    const whole = { right: "clusterkopfpeerings.kopf.dev: list patch watch", names: ["default"], clusterWide: true };
    const parts = { right: "kopfpeerings.kopf.dev: list patch watch", names: ["ours"], clusterWide: false };
    expect(needs(peering())).toEqual([whole]);
    expect(needs(peering({ name: "ours" }), ["a"])).toEqual([parts]);
    expect(needs(peering({ clusterwide: true }), ["a"])).toEqual([whole]);
    expect(needs(peering({ name: "ours", clusterwide: false }))).toEqual([parts]);
  });

  it("is given in a role of its own, beside the operator or where its Lease is", () => {
    const roles = (coordination: Parameters<typeof planCoordination>[0]) => {
      const needs = needsOfCoordination(planCoordination(coordination), "op");
      return (accessManifests({ name: "op", namespace: "ops", needs, serves: ["a"] }) as Made[])
        .filter(({ kind }) => kind === "Role")
        .map(({ metadata }) => metadata);
    };
    expect(roles("leader")).toMatchObject([{ name: "op-own", namespace: "ops" }]);
    expect(roles(leader({ namespace: "leases" }))).toMatchObject([{ name: "op-own", namespace: "leases" }]);
  });
});
