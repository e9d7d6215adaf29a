import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { ConfigMap, Pod, Secret } from "../builtin/index.ts";
import { answer, TestServer } from "../fixtures/index.ts";
import { VirtualClock } from "../meta/index.ts";
import { defineKind, KubeObject } from "../objects/index.ts";
import { Client } from "./client.ts";
import { echo, testClient } from "./test-cluster.ts";

const Widget = defineKind({ group: "example.com", version: "v1", kind: "Widget" });

describe("a view of a client", () => {
  it("acts as somebody else, with every request and no other view's", async () => {
    await using server = await TestServer.start((_, response) => answer(response, 200, { metadata: {}, items: [] }));
    await using client = await Client.connect({ url: server.url });
    const jane = client.as({ user: "jane", groups: ["a", "b"], uid: "7", extra: { "example.com/team": ["x"] } });
    await jane.inNamespace("n").list(Pod).toArray();
    await client.list(Pod).toArray();
    expect(server.seen[0]?.headers).toMatchObject({
      "impersonate-user": "jane",
      "impersonate-group": "a, b",
      "impersonate-uid": "7",
      "impersonate-extra-example.com%2fteam": "x",
    });
    expect(server.seen[1]?.headers).not.toHaveProperty("impersonate-user");
  });

  it("knows own classes before built-in ones", async () => {
    class MyPod extends Pod {}
    const { client } = await testClient(echo, { kinds: [Widget] });
    const gvk = { group: "", version: "v1", kind: "Pod" };
    expect(client.classFor(gvk)).toBe(Pod);
    expect(client.with({ kinds: [MyPod] }).classFor(gvk)).toBe(MyPod);
    expect(client.with({ kinds: [MyPod] }).classFor(Widget.description)).toBe(Widget);
    expect(client.object({ apiVersion: "v1", kind: "Pod" })).toBeInstanceOf(Pod);
    expect(client.object({ apiVersion: "x/v1", kind: "Y" }).constructor).toBe(KubeObject);
  });

  it("gives paths", async () => {
    const { client } = await testClient(() => ({
      body: {
        kind: "APIGroupDiscoveryList",
        items: [
          {
            metadata: { name: "" },
            versions: [
              { version: "v1", resources: [{ resource: "pods", responseKind: { kind: "Pod" }, scope: "Namespaced" }] },
            ],
          },
        ],
      },
    }));
    expect(client.path(Pod, { name: "web", subresource: "log" })).toBe("/api/v1/namespaces/default/pods/web/log");
    expect(client.path(Pod, { namespace: "*" })).toBe("/api/v1/pods");
    expect(await client.path("pods", { namespace: "a" })).toBe("/api/v1/namespaces/a/pods");
  });

  it("reads the credentials anew when it is told to", async () => {
    let logins = 0;
    await using server = await TestServer.start((_, response) =>
      answer(response, 200, { gitVersion: "v1.31.4-gke.12+a" }),
    );
    const login = () => ({ server: server.url, token: `t${++logins}` });
    await using client = await Client.connect({ login });
    const version = await client.version();
    expect([version.atLeast(1, 31), version.atLeast(1, 32), version.atLeast(0, 99)]).toEqual([true, false, true]);
    await client.reauthenticate();
    await client.version();
    const tokens = server.seen.map(({ headers }) => headers.authorization);
    expect(tokens[1]).not.toBe(tokens[0]);
  });
});

describe("client.version", () => {
  it("warns once of a server that this client is not made for, whichever view asks", async () => {
    const heard = async (gitVersion: string) => {
      const warnings: string[] = [];
      const onWarning = (message: string) => warnings.push(message);
      const { client } = await testClient(() => ({ body: { gitVersion } }), { onWarning });
      await client.version();
      await client.inNamespace("other").version();
      return warnings;
    };
    expect(await heard("v1.33.1")).toEqual([]);
    expect(await heard("v1.24.3-gke.1")).toEqual([
      "the server is Kubernetes 1.24; this client is made for 1.31 and newer",
    ]);
    expect(await heard("v1.99.0")).toHaveLength(1);
    expect(await heard("dev")).toEqual(['the server calls its version "dev", which cannot be read']);
  });
});

describe("client.get", () => {
  it("takes kubectl's kind/name, and says what is missing in it", async () => {
    const { client } = await testClient(echo);
    await expect(client.get("web")).rejects.toMatchObject({
      code: "LOTSE_CONFIG",
      message: '"web" does not name an object',
    });
    await expect(client.get("pod/")).rejects.toMatchObject({ code: "LOTSE_CONFIG" });
  });
});

describe("the classes themselves", () => {
  it("ask the default client, or the one that they are given", async () => {
    const { client, transport } = await testClient(() => ({ body: { metadata: { name: "a" }, items: [] } }));
    Client.setDefault(client);
    try {
      await Secret.get("a");
      await Secret.list({ namespace: "x" }).toArray();
    } finally {
      Client.setDefault(undefined);
    }
    await Widget.get("w", { client: client.inNamespace("y") });
    expect(transport.log).toEqual([
      "GET /api/v1/namespaces/default/secrets/a",
      "GET /api/v1/namespaces/x/secrets?limit=500",
      "GET /apis/example.com/v1/namespaces/y/widgets/w",
    ]);
  });

  it("refuse to find without a selector", async () => {
    const { client } = await testClient(echo);
    await expect(Pod.find({ client })).rejects.toThrow("which Pod?");
  });

  it("refer to objects without asking anybody", () => {
    const pod = Pod.ref("web", { namespace: "a" });
    expect(pod.key).toBe("v1/Pod/a/web");
    expect(() => pod.watch()).toThrow("belongs to no client yet");
  });
});

describe("an object", () => {
  it("takes kubectl's words for labels, and nothing that is neither", async () => {
    const { client, transport } = await testClient(echo);
    const map = ConfigMap.ref("m", { client });
    await map.label("a=b", "old-", "eq=x=y");
    expect(transport.requests[0]?.body).toEqual({ metadata: { labels: { a: "b", old: null, eq: "x=y" } } });
    await expect(map.label("word")).rejects.toThrow('"word" says neither');
    await expect(map.label({})).rejects.toThrow("there is no label to set");
    await expect(map.unlabel()).rejects.toThrow("there is no label");
  });

  it("is written down as YAML that every reader takes, whatever its texts hold", async () => {
    const data = { bell: "a\u0007b", line: "one\u2028two\u0085three", script: "#!/bin/sh\necho hi\n" };
    const text = await new ConfigMap({ data, metadata: { name: "m" } }).toYAML();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/);
    expect(load(text)).toMatchObject({ data });
  });

  it("is written down as YAML in the order of manifests", async () => {
    const map = new ConfigMap({ data: { b: "yes", a: "1" }, metadata: { name: "m" } });
    expect(await map.toYAML()).toBe(
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  b: "yes"\n  a: "1"\n',
    );
  });

  it("has values at JSON pointers", () => {
    const pod = new Pod({
      metadata: { name: "p", annotations: { "a/b": "c" } },
      spec: { containers: [{ name: "x" }] },
    });
    expect(pod.at("/spec/containers/0/name")).toBe("x");
    expect(pod.at("/metadata/annotations/a~1b")).toBe("c");
    expect(pod.at("/spec/none/deeper")).toBeUndefined();
    expect(pod.at("/metadata/toString")).toBeUndefined();
    expect(() => pod.at("spec")).toThrow("is not a JSON pointer");
  });

  it("can be given a name before it is created", () => {
    const body = { metadata: { generateName: "a-" } };
    const map = new ConfigMap(body);
    map.name = "chosen";
    expect(map.name).toBe("chosen");
    expect(body).toEqual({ metadata: { generateName: "a-" } });
  });

  it("may come from other libraries: any body will do", () => {
    class V1Pod {
      apiVersion = "v1";
      kind = "Pod";
      metadata = { name: "theirs", namespace: "n" };
      spec = { containers: [{ name: "a", image: "b" }] };
    }
    expect(new Pod(new V1Pod() as Pod["body"]).spec.containers[0]?.image).toBe("b");
  });
});

describe("waiting for many", () => {
  const items = [
    { metadata: { name: "a", uid: "a" }, status: { phase: "Running" } },
    { metadata: { name: "b", uid: "b" }, status: { phase: "Pending" } },
  ];
  const waiting = async (list: object[]) => {
    const clock = new VirtualClock();
    const { client } = await testClient(
      ({ query }) => (query?.watch ? { status: 500 } : { body: { metadata: { resourceVersion: "1" }, items: list } }),
      { clock },
    );
    return { client, clock };
  };

  it("says which of them are late", async () => {
    const { client, clock } = await waiting(items);
    const done = client
      .wait(Pod, { labelSelector: "app=x" }, "jsonpath={.status.phase}=Running")
      .catch((e: unknown) => e);
    await clock.advance(31_000);
    expect(await done).toMatchObject({
      code: "LOTSE_WAIT_TIMEOUT",
      message: "every Pod with app=x: not so after 30s: jsonpath={.status.phase}=Running of b",
    });
  });

  it("fails at once when there is none, unless they shall be created or gone", async () => {
    const { client, clock } = await waiting([]);
    const none = client.wait(Pod, { labelSelector: "app=x" }, "condition=Ready");
    await expect(none).rejects.toMatchObject({ code: "LOTSE_NOT_FOUND" });
    expect(await client.wait(Pod, { labelSelector: "app=x" }, "delete")).toEqual([]);
    const created = client.wait(Pod, {}, "create", { timeout: "1s" }).catch((e: unknown) => e);
    await clock.advance(1_000);
    expect(await created).toMatchObject({ hint: "there is none" });
  });
});
