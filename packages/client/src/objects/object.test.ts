import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ConfigMap, CustomResourceDefinition, Event, Namespace, Pod, Secret } from "../builtin/index.ts";
import { Client } from "../client/index.ts";
import { echo, testClient } from "../client/test-cluster.ts";
import { ConfigError } from "../meta/index.ts";
import { defineKind } from "./define-kind.ts";
import { KubeObject } from "./object.ts";

const Widget = defineKind({ group: "example.com", version: "v1", kind: "Widget" });
const Planet = defineKind({ group: "example.com", version: "v1", kind: "Planet", namespaced: false });

describe("an object", () => {
  it("fills in its kind and never changes the value that it was made from", async () => {
    const body = Object.freeze({ metadata: Object.freeze({ name: "web" }) });
    const pod = new Pod(body);
    expect(pod.body).toEqual({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" } });
    await pod.setOwner(new Pod({ metadata: { name: "o", uid: "u" } }));
    expect(body).toEqual({ metadata: { name: "web" } });
  });

  it("shows its parts", () => {
    const pod = new Pod({
      metadata: { name: "web", namespace: "team-a", uid: "u1", labels: { app: "web" } },
      spec: { containers: [{ name: "main", image: "nginx" }] },
    });
    expect(pod).toMatchObject({ name: "web", namespace: "team-a", uid: "u1", labels: { app: "web" }, annotations: {} });
    expect(pod.spec?.containers[0]?.image).toBe("nginx");
    expect(pod.raw).toBe(pod.body);
    expect(pod.key).toBe("v1/Pod/team-a/web");
    expect(new Namespace({ metadata: { name: "a" } }).key).toBe("v1/Namespace/a");
    expect(JSON.parse(JSON.stringify(pod))).toEqual(pod.body);
  });

  it("has no name while there is only generateName, and says who will give it", () => {
    const error = (() => {
      try {
        return ConfigMap.gen({ generateName: "rate-" }).name;
      } catch (reason) {
        return reason;
      }
    })();
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ hint: expect.stringContaining('"rate-"') });
  });

  it("is another object when kind, namespace or name differ, whatever its content", () => {
    const pod = new Pod({ metadata: { name: "web", namespace: "a" } });
    expect(pod.is(new Pod({ metadata: { name: "web", namespace: "a", labels: { x: "y" } } }))).toBe(true);
    expect(pod.is(new Pod({ metadata: { name: "web", namespace: "b" } }))).toBe(false);
    expect(pod.is(new ConfigMap({ metadata: { name: "web", namespace: "a" } }))).toBe(false);
  });

  it("is found in a Map or a Set: by its key whoever read it, by itself as what it is", () => {
    const pod = () => new Pod({ metadata: { name: "web", namespace: "a" } });
    const seen = new Map([[pod().key, "seen"]]);
    expect(seen.get(pod().key)).toBe("seen");
    const one = pod();
    expect(new Set([one, one, pod()]).size).toBe(2);
  });

  it("loses no label that somebody writes where there are none: that is an error", () => {
    const pod = new Pod({ metadata: { name: "web" } });
    expect(() => Object.assign(pod.labels, { app: "web" })).toThrow(TypeError);
    expect(() => Object.assign(pod.annotations, { note: "x" })).toThrow(TypeError);
    expect([pod.labels, pod.annotations]).toEqual([{}, {}]);
  });

  it("prints itself in one line", () => {
    const metadata = { name: "web", namespace: "default" };
    expect(inspect(new Pod({ metadata, status: { phase: "Running" } }))).toBe("Pod default/web (Running)");
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(inspect(new Pod({ metadata: { ...metadata, deletionTimestamp } }))).toBe("Pod default/web (Terminating)");
    const status = { conditions: [{ type: "Ready", status: "False" }] };
    expect(inspect(new Widget({ metadata, status }))).toBe("Widget default/web (not ready)");
    expect(inspect(new Planet({ metadata: { name: "mars" } }))).toBe("Planet mars");
    expect(inspect(ConfigMap.gen({ generateName: "rate-" }))).toBe("ConfigMap rate-*");
    expect(inspect(new KubeObject({}))).toBe("object (unnamed)");
  });

  it("is called by its kind, its namespace and its name in a sentence", async () => {
    const { client } = await testClient(echo);
    const pod = new Pod({ metadata: { name: "web", namespace: "shop" }, status: { phase: "Running" } });
    expect(`${pod} is ready`).toBe("Pod shop/web is ready");
    expect(String(pod)).toBe("Pod shop/web");
    expect(pod.toString()).toBe("Pod shop/web");
    expect(`${new Planet({ metadata: { name: "mars" } }, client)}`).toBe("Planet mars");
    expect(`${Pod.ref("web", { client })}`).toBe(`Pod ${client.namespace}/web`);
    expect(`${Pod.gen({ generateName: "web-", image: "nginx" })}`).toBe("Pod web-*");
    expect(`${new KubeObject({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } })}`).toBe("Node n");
    expect(`${new KubeObject({})}`).toBe("object (unnamed)");
    expect(JSON.parse(JSON.stringify(pod))).toEqual(pod.body);
  });

  it("gives a manifest of what its author wrote", () => {
    const pod = new Pod({
      metadata: {
        name: "web",
        namespace: "a",
        uid: "u",
        resourceVersion: "5",
        generation: 2,
        creationTimestamp: "2026-01-01T00:00:00Z",
        managedFields: [{}],
        labels: { app: "web" },
        annotations: {},
        finalizers: ["x/y"],
      },
      spec: { containers: [{ name: "main" }] },
      status: { phase: "Running" },
    });
    expect(pod.toManifest()).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "a", labels: { app: "web" }, finalizers: ["x/y"] },
      spec: { containers: [{ name: "main" }] },
    });
    expect(pod.toManifest().spec).not.toBe(pod.body.spec);
  });

  it("uses the default client when it has none", async () => {
    const { client, transport } = await testClient(echo);
    Client.setDefault(client);
    try {
      await ConfigMap.gen({ name: "a" }).create();
    } finally {
      Client.setDefault(undefined);
    }
    expect(transport.log).toEqual(["POST /api/v1/namespaces/default/configmaps?fieldManager=lotse-client"]);
  });

  it("without a class is resolved by the server before the first request", async () => {
    const discovery = {
      kind: "APIGroupDiscoveryList",
      items: [
        {
          metadata: { name: "example.com" },
          versions: [
            { version: "v1", resources: [{ resource: "mice", responseKind: { kind: "Mouse" }, scope: "Cluster" }] },
          ],
        },
      ],
    };
    const { client, transport } = await testClient((request) => {
      if (request.path === "/api" || request.path === "/apis") return { body: discovery };
      return echo(request);
    });
    const mouse = new KubeObject({ apiVersion: "example.com/v1", kind: "Mouse", metadata: { name: "m" } }, client);
    await mouse.refresh();
    expect(transport.log.at(-1)).toBe("GET /apis/example.com/v1/mice/m");
  });
});

describe("setOwner", () => {
  const owner = new Widget({ metadata: { name: "w", namespace: "a", uid: "w1" } });
  const child = (o: object = {}) => new ConfigMap({ metadata: { name: "c", ...o } });

  it("works before creation, keeps the other owners, and puts the child into the owner's namespace", async () => {
    const other = { apiVersion: "v1", kind: "Pod", name: "p", uid: "p1" };
    const map = await child({ ownerReferences: [other] }).setOwner(owner);
    expect(map.metadata).toMatchObject({
      namespace: "a",
      ownerReferences: [
        other,
        {
          apiVersion: "example.com/v1",
          kind: "Widget",
          name: "w",
          uid: "w1",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    await map.setOwner(owner, { controller: false });
    expect(map.metadata.ownerReferences).toHaveLength(2);
    expect(map.metadata.ownerReferences?.[1]?.controller).toBe(false);
  });

  it("patches an object that exists, with its version so that no other owner is lost", async () => {
    const { client, transport } = await testClient(echo);
    const map = new ConfigMap({ metadata: { name: "c", namespace: "a", uid: "c1", resourceVersion: "3" } }, client);
    await map.setOwner(owner);
    expect(transport.requests[0]).toMatchObject({
      method: "PATCH",
      body: { metadata: { resourceVersion: "3", ownerReferences: [{ uid: "w1" }] } },
    });
  });

  it.each([
    ["an owner in another namespace", () => child({ namespace: "b" }).setOwner(owner), "the same namespace"],
    [
      "a namespaced owner of a cluster-wide object",
      () => new Planet({ metadata: { name: "p" } }).setOwner(owner),
      "cluster-wide",
    ],
    ["an owner without a uid", () => child().setOwner(new Widget({ metadata: { name: "new" } })), "has no uid yet"],
    [
      "a second controller",
      () =>
        child({
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "p1", controller: true }],
        }).setOwner(owner),
      "is controlled by Pod p already",
    ],
  ])("refuses %s", async (_, act, message) => {
    await expect(act()).rejects.toThrow(message);
  });

  it("allows a cluster-wide owner of a namespaced object", async () => {
    const planet = new Planet({ metadata: { name: "mars", uid: "m1" } });
    const map = await child({ namespace: "a" }).setOwner(planet);
    expect(map.metadata).toMatchObject({ namespace: "a", ownerReferences: [{ uid: "m1" }] });
  });
});

describe("gen", () => {
  it("makes a pod of one container", () => {
    const pod = Pod.gen({
      name: "web",
      namespace: "a",
      labels: { app: "web" },
      image: "nginx",
      command: ["run"],
      env: { COLOR: "blue" },
      ports: [80, { containerPort: 443, name: "https" }],
      restartPolicy: "Never",
    });
    expect(pod.body).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "a", labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "web",
            image: "nginx",
            command: ["run"],
            env: [{ name: "COLOR", value: "blue" }],
            ports: [{ containerPort: 80 }, { containerPort: 443, name: "https" }],
          },
        ],
        restartPolicy: "Never",
      },
    });
  });

  it("makes ConfigMaps, Secrets and Namespaces", () => {
    expect(ConfigMap.gen({ generateName: "rate-", data: { rate: "1" }, immutable: true }).body).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "rate-" },
      data: { rate: "1" },
      immutable: true,
    });
    const secret = Secret.gen({ name: "s", data: { a: "w7w=" }, stringData: { b: "plain" } });
    expect(secret.decoded).toEqual({ a: "ü", b: "plain" });
    expect(Namespace.gen({ name: "team-a" }).body).toEqual({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "team-a" },
    });
  });

  it("of a defined kind makes objects of the subclass", () => {
    class Gadget extends defineKind<{ spec: { size: number } }>({
      group: "example.com",
      version: "v1",
      kind: "Gadget",
    }) {
      get double() {
        return this.spec.size * 2;
      }
    }
    const gadget = Gadget.gen({ name: "g", spec: { size: 4 } });
    expect(gadget).toBeInstanceOf(Gadget);
    expect((gadget as Gadget).double).toBe(8);
    expect(gadget.body).toMatchObject({ apiVersion: "example.com/v1", kind: "Gadget", spec: { size: 4 } });
  });
});

describe("the built-in classes", () => {
  it("know where their kinds live", () => {
    const homes = [Pod, ConfigMap, Secret, Namespace, Event, CustomResourceDefinition].map(
      ({ description: { group, version, plural, namespaced } }) => `${group}/${version}/${plural}/${namespaced}`,
    );
    expect(homes).toEqual([
      "/v1/pods/true",
      "/v1/configmaps/true",
      "/v1/secrets/true",
      "/v1/namespaces/false",
      "/v1/events/true",
      "apiextensions.k8s.io/v1/customresourcedefinitions/false",
    ]);
    expect(Pod.description.subresources).toContain("status");
  });
});
