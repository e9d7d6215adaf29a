import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, Node, Pod, Service } from "../builtin/index.ts";
import { allNamespaces } from "../kinds/index.ts";
import { ConfigError, type Duration, VirtualClock } from "../meta/index.ts";
import { defineKind, KubeObject } from "../objects/index.ts";
import { ConflictError, NotFoundError } from "../transport/index.ts";
import { Client } from "./client.ts";
import { echo, type Reply, testClient } from "./test-cluster.ts";

const core = {
  kind: "APIGroupDiscoveryList",
  items: [
    {
      metadata: { name: "" },
      versions: [
        {
          version: "v1",
          resources: [
            {
              resource: "pods",
              responseKind: { kind: "Pod" },
              scope: "Namespaced",
              shortNames: ["po"],
              singularResource: "pod",
            },
            { resource: "nodes", responseKind: { kind: "Node" }, scope: "Cluster", singularResource: "node" },
          ],
        },
      ],
    },
  ],
};
const none = { kind: "APIGroupDiscoveryList", items: [] };
const widget = {
  resource: "widgets",
  responseKind: { kind: "Widget" },
  scope: "Namespaced",
  singularResource: "widget",
};
const widgets = [{ metadata: { name: "example.com" }, versions: [{ version: "v1", resources: [widget] }] }];

/** Answers discovery; the rest goes on to `handler`. */
const discovering = (handler: (request: Parameters<typeof echo>[0]) => Reply | Promise<Reply>) => {
  return (request: Parameters<typeof echo>[0]): Reply | Promise<Reply> => {
    if (request.path === "/api") return { body: core };
    if (request.path === "/apis") return { body: none };
    return handler(request);
  };
};

const pod = (name: string, o: object = {}) => ({ metadata: { name, namespace: "default", uid: `uid-${name}`, ...o } });

describe("Client.connect", () => {
  it("knows where it is connected to, and sends nothing", async () => {
    const { client, transport } = await testClient(echo, { namespace: "team-a" });
    expect(client.config).toMatchObject({ server: "https://test", namespace: "team-a", source: "url" });
    expect(transport.requests).toEqual([]);
  });

  it("says of itself what the client behind its transport says", async () => {
    const config = { server: "https://10.0.0.1", namespace: "team-a", source: "in-cluster" } as const;
    const { client } = await testClient(echo, { namespace: "team-a", config });
    expect(client.config).toEqual(config);
  });

  it("closes its transport at the end of `await using`", async () => {
    const { client, transport } = await testClient(echo);
    await client[Symbol.asyncDispose]();
    expect(transport.closed).toBe(true);
  });
});

describe("get", () => {
  it("reads by class, by description and by every spelling of the kind", async () => {
    const { client, transport } = await testClient(discovering(() => ({ body: { kind: "Pod", ...pod("web") } })));
    const typed = await client.get(Pod, "web");
    expect(typed).toBeInstanceOf(Pod);
    expect(transport.log).toEqual(["GET /api/v1/namespaces/default/pods/web"]);
    for (const kind of ["po", "Pod", "v1/pods", Pod.description]) {
      expect(await client.get(kind, "web", { namespace: "a" })).toBeInstanceOf(KubeObject);
      expect(transport.log.at(-1)).toBe("GET /api/v1/namespaces/a/pods/web");
    }
    await client.get("nodes", "n1");
    expect(transport.log.at(-1)).toBe("GET /api/v1/nodes/n1");
    await client.get(Pod, "web", { subresource: "status" });
    expect(transport.log.at(-1)).toBe("GET /api/v1/namespaces/default/pods/web/status");
  });

  it("throws a NotFoundError when there is none, and refuses all namespaces", async () => {
    const { client } = await testClient(() => ({ status: 404, body: { reason: "NotFound" } }));
    await expect(client.get(Pod, "web")).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.get(Pod, "web", { namespace: "*" })).rejects.toBeInstanceOf(ConfigError);
  });

  it("gives objects that work with the same client", async () => {
    const { client, transport } = await testClient(() => ({ body: pod("web") }));
    const web = await client.inNamespace("default").get(Pod, "web");
    await web.refresh();
    expect(await web.exists()).toBe(true);
    expect(transport.log).toEqual(Array(3).fill("GET /api/v1/namespaces/default/pods/web"));
  });

  it("lets exists() answer no for 404 only", async () => {
    let status = 404;
    const { client } = await testClient(() => ({ status }));
    const web = new Pod(pod("web"), client);
    expect(await web.exists()).toBe(false);
    for (status of [403, 500]) await expect(web.exists()).rejects.toMatchObject({ status });
  });
});

describe("list", () => {
  const pages: Record<string, unknown> = {
    "": { metadata: { resourceVersion: "10", continue: "t1", remainingItemCount: 2 }, items: [pod("a"), pod("b")] },
    t1: { metadata: { resourceVersion: "10" }, items: [pod("c")] },
  };
  const paged = (request: Parameters<typeof echo>[0]): Reply => ({
    body: pages[String(request.query?.continue ?? "")],
  });

  it("asks page by page while it is read", async () => {
    const { client, transport } = await testClient(paged);
    const names: string[] = [];
    for await (const object of client.list(Pod, { labelSelector: { app: "web" }, namespace: "*" })) {
      expect(object).toBeInstanceOf(Pod);
      expect(object.body).toMatchObject({ apiVersion: "v1", kind: "Pod" });
      names.push(object.name);
      if (object.name === "b") expect(transport.requests).toHaveLength(1);
    }
    expect(names).toEqual(["a", "b", "c"]);
    expect(transport.log).toEqual([
      "GET /api/v1/pods?limit=500&labelSelector=app=web",
      "GET /api/v1/pods?limit=500&continue=t1&labelSelector=app=web",
    ]);
  });

  it("stops asking when the reader leaves", async () => {
    const { client, transport } = await testClient(paged);
    for await (const _ of client.list(Pod)) break;
    expect(transport.requests).toHaveLength(1);
  });

  it("gives arrays, pages, bodies and the first one", async () => {
    const { client, transport } = await testClient(paged);
    const list = client.list(Pod, { pageSize: 2, fieldSelector: { "status.phase": "Running" } });
    expect((await list.toArray()).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(transport.log[0]).toBe("GET /api/v1/namespaces/default/pods?limit=2&fieldSelector=status.phase=Running");
    const sizes: unknown[] = [];
    for await (const page of list.pages()) sizes.push([page.items.length, page.resourceVersion, page.remaining]);
    expect(sizes).toEqual([
      [2, "10", 2],
      [1, "10", undefined],
    ]);
    const bodies: unknown[] = [];
    for await (const body of list.raw()) bodies.push(body);
    expect(bodies[2]).toEqual({ apiVersion: "v1", kind: "Pod", ...pod("c") });
    expect((await list.first())?.name).toBe("a");
    expect(transport.log.at(-1)).toContain("limit=1");
  });

  it("makes no object for a raw body", async () => {
    let made = 0;
    class Counted extends Pod {
      constructor(...args: ConstructorParameters<typeof Pod>) {
        super(...args);
        made++;
      }
    }
    const { client } = await testClient(paged);
    const names: unknown[] = [];
    for await (const { metadata } of client.list(Counted).raw()) names.push(metadata?.name);
    expect(names).toEqual(["a", "b", "c"]);
    expect(made).toBe(0);
    await client.list(Counted).toArray();
    expect(made).toBe(3);
  });

  it("starts anew when the continue token expires, and repeats nothing", async () => {
    let expired = true;
    const { client } = await testClient((request) => {
      if (request.query?.continue === undefined) return { body: pages[""] };
      if (!expired) return { body: pages.t1 };
      expired = false;
      return { status: 410, body: { reason: "Expired" } };
    });
    const names = (await client.list(Pod).toArray()).map(({ name }) => name);
    expect(names).toEqual(["a", "b", "c"]);
  });

  it("is empty when the server has none, and resolves names", async () => {
    const { client } = await testClient(discovering(() => ({ body: { metadata: {}, items: null } })));
    expect(await client.list("po").toArray()).toEqual([]);
    expect(await client.list("po").first()).toBeUndefined();
  });
});

describe("create", () => {
  it("posts the object, and takes the name that the server gave", async () => {
    const { client, transport } = await testClient(echo);
    const map = ConfigMap.gen({ generateName: "rate-", data: { a: "b" } });
    expect(await client.create(map)).toBe(map);
    expect(map).toMatchObject({ name: "rate-x7k", uid: "u1" });
    expect(transport.requests[0]).toMatchObject({
      method: "POST",
      path: "/api/v1/namespaces/default/configmaps",
      query: { fieldManager: "lotse-client" },
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "rate-" }, data: { a: "b" } },
    });
  });

  it("sends no version and no uid of an earlier life", async () => {
    const { client, transport } = await testClient(echo);
    await client.create(new ConfigMap({ metadata: { name: "a", uid: "old", resourceVersion: "1" } }));
    expect(transport.requests[0]?.body).toEqual({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
  });

  it("takes plain bodies, options, and the namespace from the object before the client's", async () => {
    const { client, transport } = await testClient(discovering(echo));
    const made = await client.create(
      { apiVersion: "v1", kind: "Pod", ...pod("web", { namespace: "a" }) },
      { dryRun: true },
    );
    expect(made).toBeInstanceOf(KubeObject);
    expect(transport.log.at(-1)).toBe("POST /api/v1/namespaces/a/pods?fieldManager=lotse-client&dryRun=All");
    await client.create(new Pod(pod("web", { namespace: "a" })), {
      namespace: "b",
      fieldValidation: "Strict",
      fieldManager: "me",
    });
    expect(transport.log.at(-1)).toBe("POST /api/v1/namespaces/b/pods?fieldManager=me&fieldValidation=Strict");
  });

  it("creates Namespaces and definitions before the rest, and reports every failure", async () => {
    const { client, transport } = await testClient((request) => {
      const { metadata } = request.body as { metadata: { name: string } };
      return metadata.name.startsWith("bad")
        ? { status: 409, body: { reason: "AlreadyExists", message: "no" } }
        : echo(request);
    });
    const objects = [
      ConfigMap.gen({ name: "bad-1" }),
      Namespace.gen({ name: "ns" }),
      ConfigMap.gen({ name: "good" }),
      new CustomResourceDefinition({ metadata: { name: "crd" } } as never),
      ConfigMap.gen({ name: "bad-2" }),
    ];
    const error = await client.create<KubeObject>(objects).catch((reason) => reason);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error.errors).toHaveLength(2);
    expect(error.message).toContain("2 of 5");
    const order = transport.requests.map(({ body }) => (body as { metadata: { name: string } }).metadata.name);
    expect(order).toEqual(["ns", "crd", "bad-1", "good", "bad-2"]);
    expect(objects[2]?.uid).toBe("u1");
  });
});

describe("patch", () => {
  it("is a merge patch for an object and a JSON patch for an array", async () => {
    const { client, transport } = await testClient(() => ({
      body: { kind: "Pod", ...pod("web", { labels: { a: "b" } }) },
    }));
    const web = new Pod(pod("web"), client);
    await web.label({ a: "b", old: null });
    expect(transport.requests[0]).toMatchObject({
      method: "PATCH",
      path: "/api/v1/namespaces/default/pods/web",
      headers: { "content-type": "application/merge-patch+json" },
      body: { metadata: { labels: { a: "b", old: null } } },
    });
    expect(web.labels).toEqual({ a: "b" });
    await client.patch(Pod, "web", [{ op: "remove", path: "/spec" }], { namespace: "x" });
    expect(transport.requests[1]).toMatchObject({
      path: "/api/v1/namespaces/x/pods/web",
      headers: { "content-type": "application/json-patch+json" },
    });
    await client.patch(web, { spec: {} }, { type: "strategic" });
    expect(transport.requests[2]).toMatchObject({
      headers: { "content-type": "application/strategic-merge-patch+json" },
    });
  });

  it("reaches status by its subresource, and annotations", async () => {
    const { client, transport } = await testClient(() => ({ body: { kind: "Pod", ...pod("web") } }));
    const web = new Pod(pod("web"), client);
    await web.patchStatus({ phase: "Running" });
    expect(transport.requests[0]).toMatchObject({
      path: "/api/v1/namespaces/default/pods/web/status",
      body: { status: { phase: "Running" } },
    });
    await web.annotate({ "a/b": null });
    expect(transport.requests[1]).toMatchObject({ body: { metadata: { annotations: { "a/b": null } } } });
  });

  it("keeps the body when a subresource answers with another kind", async () => {
    const { client } = await testClient(() => ({ body: { kind: "Scale", spec: { replicas: 2 } } }));
    const web = new Pod(pod("web"), client);
    await web.patch({}, { subresource: "scale" });
    expect(web.body).toMatchObject({ kind: "Pod", metadata: { name: "web" } });
  });

  it("refuses a type that does not fit the patch", async () => {
    const { client } = await testClient(echo);
    await expect(client.patch(Pod, "web", {}, { type: "json" as "merge" })).rejects.toBeInstanceOf(ConfigError);
  });
});

describe("apply and replace", () => {
  it("apply on the server's side what the author wrote", async () => {
    const { client, transport } = await testClient(echo, { fieldManager: "my-operator" });
    const map = new ConfigMap({ metadata: { name: "a", resourceVersion: "3", managedFields: [{}] }, data: { x: "y" } });
    await client.apply(map, { force: true });
    expect(transport.requests[0]).toMatchObject({
      method: "PATCH",
      path: "/api/v1/namespaces/default/configmaps/a",
      query: { fieldManager: "my-operator", force: true },
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "y" } },
    });
    expect(transport.requests[0]?.body).not.toHaveProperty("metadata.managedFields");
    expect(transport.requests[0]?.body).not.toHaveProperty("metadata.resourceVersion");
    expect(map.uid).toBe("u1");
  });

  it("apply to one object only, or where there is none", async () => {
    const { client, transport } = await testClient(echo);
    const map = () => new ConfigMap({ metadata: { name: "a", resourceVersion: "3", uid: "old" } });
    await client.apply(map(), { uid: "u1" });
    await client.apply(map(), { absent: true });
    const metadata = transport.requests.map(({ body }) => (body as { metadata: object }).metadata);
    expect(metadata).toEqual([
      { name: "a", uid: "u1" },
      { name: "a", resourceVersion: "1" },
    ]);
  });

  it("apply the status too when it is the subresource", async () => {
    const { client, transport } = await testClient(echo);
    await client.apply(new Pod({ ...pod("web"), status: { phase: "Running" } }), { subresource: "status" });
    expect(transport.requests[0]).toMatchObject({
      path: "/api/v1/namespaces/default/pods/web/status",
      body: { status: { phase: "Running" } },
    });
  });

  it("replace with the version that was read, and report a conflict", async () => {
    const conflict = { status: 409, body: { reason: "Conflict", message: "the object has been modified" } };
    const { client, transport } = await testClient((request) =>
      transport.requests.length > 1 ? conflict : echo(request),
    );
    const map = new ConfigMap({ metadata: { name: "a", resourceVersion: "3" } }, client);
    await map.replace();
    expect(transport.requests[0]).toMatchObject({ method: "PUT", body: { metadata: { resourceVersion: "3" } } });
    expect(map.metadata.resourceVersion).toBe("5");
    await expect(map.replace()).rejects.toBeInstanceOf(ConflictError);
  });
});

describe("delete", () => {
  it("sends its options; a grace period of 0 is one", async () => {
    const { client, transport } = await testClient(() => ({ body: { kind: "Status" } }));
    await client.delete(Pod, "web", {
      gracePeriodSeconds: 0,
      preconditions: { uid: "u" },
      propagationPolicy: "Foreground",
    });
    expect(transport.requests[0]).toMatchObject({
      method: "DELETE",
      path: "/api/v1/namespaces/default/pods/web",
      body: { gracePeriodSeconds: 0, preconditions: { uid: "u" }, propagationPolicy: "Foreground" },
    });
    await new Pod(pod("web"), client).delete({ force: true });
    expect(transport.requests[1]?.body).toMatchObject({ gracePeriodSeconds: 0 });
    await client.delete(Pod, "web");
    expect(transport.requests[2]?.body).toBeUndefined();
    await expect(client.delete(Pod, "web", { force: true, gracePeriodSeconds: 5 })).rejects.toBeInstanceOf(ConfigError);
  });

  it("can take an object that is gone for deleted", async () => {
    const { client } = await testClient(() => ({ status: 404 }));
    await expect(client.delete(Pod, "web")).rejects.toBeInstanceOf(NotFoundError);
    await client.delete(Pod, "web", { ignoreNotFound: true });
  });

  it("can wait until the object is gone", async () => {
    const events = new PassThrough();
    const { client } = await testClient(({ method, query }) => {
      if (method === "DELETE") return { body: { kind: "Status" } };
      if (query?.watch) return { events };
      return { body: { metadata: { resourceVersion: "1" }, items: [pod("web")] } };
    });
    let gone = false;
    const deleted = client.delete(new Pod(pod("web")), { wait: "10s" }).then(() => {
      gone = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(gone).toBe(false);
    events.write(`${JSON.stringify({ type: "DELETED", object: pod("web") })}\n`);
    await deleted;
  });
});

describe("views", () => {
  it("share the connection, and differ in namespace and field manager", async () => {
    const { client, transport } = await testClient(echo);
    const view = client.with({ namespace: "a", fieldManager: "m" });
    await view.create(ConfigMap.gen({ name: "x" }));
    await client.inNamespace("b").create(ConfigMap.gen({ name: "x" }));
    expect(transport.log).toEqual([
      "POST /api/v1/namespaces/a/configmaps?fieldManager=m",
      "POST /api/v1/namespaces/b/configmaps?fieldManager=lotse-client",
    ]);
    expect(view.config.namespace).toBe("a");
  });

  it("abort every request by their signal, beside the request's own", async () => {
    const { client } = await testClient(({ signal }) => {
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    });
    const [view, own] = [new AbortController(), new AbortController()];
    const scoped = client.with({ signal: view.signal });
    const one = scoped.get(Pod, "a", { signal: own.signal });
    const two = scoped.get(Pod, "b");
    own.abort(new Error("own"));
    await expect(one).rejects.toThrow("own");
    view.abort(new Error("view"));
    await expect(two).rejects.toThrow("view");
    await expect(scoped.get(Pod, "c")).rejects.toThrow("view");
  });

  it("hear what the server answered to each successful write, and nothing of failures and dry runs", async () => {
    let fail = false;
    const { client } = await testClient((request) => (fail ? { status: 500 } : echo(request)));
    const heard: string[] = [];
    const view = client.with({
      onWrite: (body, verb, description) =>
        heard.push(`${verb} ${description.plural} @${body.metadata?.resourceVersion}`),
    });
    const map = ConfigMap.gen({ name: "a" });
    await view.create(map);
    await map.patch({ data: { a: "b" } });
    await view.apply(map);
    await view.replace(map);
    await view.delete(map);
    await view.create(ConfigMap.gen({ name: "b" }), { dryRun: true });
    fail = true;
    await view.create(ConfigMap.gen({ name: "b" })).catch(() => undefined);
    const verbs = ["create", "patch", "apply", "replace", "delete"];
    expect(heard).toEqual(verbs.map((verb) => `${verb} configmaps @5`));
  });
});

describe("every verb", () => {
  const verbs: Record<string, (client: Client, o: { signal: AbortSignal; timeout: Duration }) => Promise<unknown>> = {
    get: (client, o) => client.get(Pod, "web", o),
    find: (client, o) => client.find(Pod, { ...o, labelSelector: "app" }),
    list: (client, o) => client.list(Pod, o).toArray(),
    table: (client, o) => client.table(Pod, o),
    create: (client, o) => client.create(Pod.ref("web"), o),
    apply: (client, o) => client.apply(Pod.ref("web"), o),
    patch: (client, o) => client.patch(Pod, "web", {}, o),
    replace: (client, o) => client.replace(Pod.ref("web"), o),
    delete: (client, o) => client.delete(Pod, "web", o),
    scale: (client, o) => client.scale(Deployment, "web", 2, o),
    version: (client, o) => client.version(o),
    whoami: (client, o) => client.whoami(o),
    raw: (client, o) => client.raw({ ...o, method: "GET", path: "/readyz" }),
    refresh: (client, o) => Pod.ref("web", { client }).refresh(o),
    exists: (client, o) => Pod.ref("web", { client }).exists(o),
    label: (client, o) => Pod.ref("web", { client }).label({ a: "b" }, o),
    update: (client, o) => ConfigMap.ref("web", { client }).update(() => undefined, o),
    evict: (client, o) => Pod.ref("web", { client }).evict(o),
    readyPods: (client, o) => new Service({ spec: { selector: { a: "b" } } }, client).readyPods(o),
    cordon: (client, o) => Node.ref("n", { client }).cordon(o),
  };

  it.each(Object.keys(verbs))("hands the signal and the time limit of %s on to its request", async (verb) => {
    const { client, transport } = await testClient((request) => {
      const { body } = echo(request) as { body: object };
      return { body: { kind: "Table", items: [pod("web")], status: { userInfo: {} }, ...body } };
    });
    const { signal } = new AbortController();
    await verbs[verb]?.(client, { signal, timeout: "7s" });
    expect(transport.requests.length).toBeGreaterThan(0);
    for (const request of transport.requests) expect(request).toMatchObject({ signal, timeout: "7s" });
  });

  it.each(Object.keys(verbs))("ends %s when its signal aborts", async (verb) => {
    const stop = new AbortController();
    const { client } = await testClient(({ signal }) => {
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    });
    const running = verbs[verb]?.(client, { signal: stop.signal, timeout: "7s" });
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
  });
});

describe("all namespaces", () => {
  it("are what lists, watches, tables and informers look into with allNamespaces", async () => {
    const { client, transport } = await testClient(({ query }) =>
      query?.watch ? { events: new PassThrough() } : { body: { kind: "Table", metadata: {}, items: [pod("a")] } },
    );
    const o = { namespace: allNamespaces };
    await client.list(Pod, o).toArray();
    await client.table(Pod, o);
    for await (const _ of client.watch(Pod, o)) break;
    await using informer = client.informer(Pod, o);
    await informer.synced;
    expect(transport.requests.map(({ path }) => path).every((path) => path === "/api/v1/pods")).toBe(true);
    expect(transport.requests.length).toBeGreaterThan(3);
  });
});

describe("two clients", () => {
  it("remember the kinds of their servers apart", async () => {
    const first = await testClient(discovering(echo));
    const second = await testClient(({ path }) => ({ body: path === "/api" ? none : { ...none, items: widgets } }));
    expect(await first.client.resolve("po")).toMatchObject({ kind: "Pod" });
    expect(await second.client.resolve("widget")).toMatchObject({ kind: "Widget" });
    await first.client.resolve("nodes");
    await second.client.resolve("widgets");
    expect([first.transport.requests.length, second.transport.requests.length]).toEqual([2, 2]);
  });
});

describe("the small verbs", () => {
  it("ask who and what the server is", async () => {
    const { client, transport } = await testClient(({ path }) => {
      if (path === "/version") return { body: { major: "1", minor: "36", gitVersion: "v1.36.0" } };
      return { body: { status: { userInfo: { username: "jane", groups: ["devs"] } } } };
    });
    expect(await client.version()).toMatchObject({ gitVersion: "v1.36.0" });
    expect(await client.whoami()).toMatchObject({ username: "jane", groups: ["devs"], source: "SelfSubjectReview" });
    expect(transport.requests[1]).toMatchObject({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { kind: "SelfSubjectReview" },
    });
  });

  it("resolve classes without asking, and names by discovery", async () => {
    const { client, transport } = await testClient(discovering(echo));
    expect(await client.resolve(Pod)).toBe(Pod.description);
    expect(await client.resolve(defineKind({ group: "g", version: "v1", kind: "W" }))).toMatchObject({ plural: "ws" });
    expect(transport.requests).toEqual([]);
    expect(await client.resolve("no".concat("de"))).toMatchObject({ plural: "nodes", namespaced: false });
    expect((await client.discover()).apiVersions).toEqual(["v1"]);
    expect(transport.requests).toHaveLength(2);
    await client.discover({ refresh: true });
    expect(transport.requests).toHaveLength(4);
  });

  it("stop waiting for a discovery that hangs when they are told to, and leave it to others who wait", async () => {
    let answer = (_: Reply) => {};
    const hanging = new Promise<Reply>((resolve) => {
      answer = resolve;
    });
    const { client } = await testClient(({ path }) => (path === "/api" ? { body: core } : hanging));
    const stop = new AbortController();
    const [told, patient] = [client.discover({ signal: stop.signal }), client.discover()];
    const view = client.with({ signal: stop.signal }).discover();
    stop.abort(new Error("enough"));
    await expect(told).rejects.toThrow("enough");
    await expect(view).rejects.toThrow("enough");
    answer({ body: none });
    expect((await patient).apiVersions).toEqual(["v1"]);
  });
});

describe("the default client", () => {
  it("is what was set, until it is unset", async () => {
    const { client } = await testClient(echo, { clock: new VirtualClock() });
    Client.setDefault(client);
    expect(await Client.default()).toBe(client);
    Client.setDefault(undefined);
  });
});
