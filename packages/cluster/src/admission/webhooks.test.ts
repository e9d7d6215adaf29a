import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import {
  configuration,
  type HookCall,
  type HookReply,
  MUTATING,
  patchOf,
  TestHooks,
  VALIDATING,
  verdict,
  webhook,
} from "../test-hooks.ts";
import { CONFIG_MAPS, call, define, JSON_PATCH, MERGE, WIDGETS, widget, widgetDefinition } from "../test-requests.ts";

const configMap = (name: string, data: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

/** A cluster with one webhook, and whatever the webhook answers. */
async function hooked(
  kind: "Mutating" | "Validating",
  answer: (call: HookCall) => HookReply,
  more: object = {},
  options: Parameters<typeof Cluster.start>[0] = {},
) {
  const hooks = await TestHooks.start(answer);
  const cluster = await Cluster.start(options);
  const path = kind === "Mutating" ? MUTATING : VALIDATING;
  const body = configuration(kind, "test", [webhook("one.example.com", hooks.at("/review"), more)]);
  expect((await call(cluster, "POST", path, { body })).status).toBe(201);
  const dispose = async () => {
    await cluster.stop();
    await hooks[Symbol.asyncDispose]();
  };
  return { hooks, cluster, [Symbol.asyncDispose]: dispose };
}

describe("what a webhook is sent", () => {
  it("is the review that a real server sends", async () => {
    await using test = await hooked("Validating", (seen) => verdict(seen, true));
    const { hooks, cluster } = test;
    await call(cluster, "POST", `${CONFIG_MAPS}?fieldManager=me&fieldValidation=Strict`, {
      body: configMap("a", { x: "1" }),
    });
    const [seen] = hooks.calls;
    expect(seen?.path).toBe("/review?timeout=10s");
    expect(seen?.headers["user-agent"]).toBe("kube-apiserver-admission");
    expect(seen?.headers["content-type"]).toBe("application/json");
    const { uid, object, userInfo, ...request } = seen?.body.request ?? {};
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(userInfo).toMatchObject({
      username: "kubernetes-admin",
      groups: ["system:masters", "system:authenticated"],
    });
    expect(object).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { x: "1" } });
    expect(object.metadata).toHaveProperty("uid");
    expect(request).toEqual({
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      requestKind: { group: "", version: "v1", kind: "ConfigMap" },
      requestResource: { group: "", version: "v1", resource: "configmaps" },
      name: "a",
      namespace: "default",
      operation: "CREATE",
      oldObject: null,
      dryRun: false,
      options: {
        kind: "CreateOptions",
        apiVersion: "meta.k8s.io/v1",
        fieldManager: "me",
        fieldValidation: "Strict",
      },
    });
  });

  it("shows both objects of an update and only the old one of a deletion", async () => {
    await using test = await hooked("Validating", (seen) => verdict(seen, true));
    const { hooks, cluster } = test;
    await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { x: "1" }) });
    await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { data: { x: "2" } } });
    await call(cluster, "DELETE", `${CONFIG_MAPS}/a?propagationPolicy=Background`);
    const [, updated, deleted] = hooks.calls.map(({ body }) => body.request);
    expect([updated.operation, updated.object.data, updated.oldObject.data]).toEqual([
      "UPDATE",
      { x: "2" },
      { x: "1" },
    ]);
    expect(updated.options).toEqual({ kind: "UpdateOptions", apiVersion: "meta.k8s.io/v1" });
    expect([deleted.operation, deleted.object, deleted.oldObject.data]).toEqual(["DELETE", null, { x: "2" }]);
    expect(deleted.options).toEqual({
      kind: "DeleteOptions",
      apiVersion: "meta.k8s.io/v1",
      propagationPolicy: "Background",
    });
  });

  it("has no name and no uid while a name is still to be generated and the object may change", async () => {
    await using test = await hooked("Mutating", (seen) => verdict(seen, true));
    const { hooks, cluster } = test;
    await call(cluster, "POST", CONFIG_MAPS, { body: { ...configMap(""), metadata: { generateName: "g-" } } });
    const { request } = hooks.calls[0]?.body ?? {};
    expect(request).not.toHaveProperty("name");
    expect(request.object.metadata).not.toHaveProperty("uid");
  });

  it("says when nothing will be stored", async () => {
    await using test = await hooked("Validating", (seen) => verdict(seen, true));
    await call(test.cluster, "POST", `${CONFIG_MAPS}?dryRun=All`, { body: configMap("a") });
    expect(test.hooks.calls[0]?.body.request).toMatchObject({ dryRun: true, options: { dryRun: ["All"] } });
  });
});

describe("which requests a webhook sees", () => {
  it("is decided by the labels of the object, old or new", async () => {
    const selected = { objectSelector: { matchLabels: { hooked: "yes" } } };
    await using test = await hooked("Validating", (seen) => verdict(seen, true), selected);
    const { hooks, cluster } = test;
    await call(cluster, "POST", CONFIG_MAPS, { body: configMap("plain") });
    expect(hooks.calls).toHaveLength(0);
    await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", {}, { labels: { hooked: "yes" } }) });
    await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { metadata: { labels: null } } });
    expect(hooks.calls.map(({ body }) => body.request.operation)).toEqual(["CREATE", "UPDATE"]);
  });

  it("is decided by the labels of the namespace", async () => {
    const selected = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "other" } } };
    await using test = await hooked("Validating", (seen) => verdict(seen, true), selected);
    const { hooks, cluster } = test;
    await call(cluster, "POST", "/api/v1/namespaces", {
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } },
    });
    await cluster.settle();
    const before = hooks.calls.length;
    await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    await call(cluster, "POST", "/api/v1/namespaces/other/configmaps", { body: configMap("b") });
    expect(hooks.calls.slice(before).map(({ body }) => body.request.namespace)).toEqual(["other"]);
  });

  it("is decided by conditions, and one that cannot be evaluated counts as a failure", async () => {
    const conditions = {
      matchConditions: [
        { name: "not-system", expression: "!request.userInfo.username.startsWith('system:')" },
        { name: "marked", expression: "object.data['mark'] == 'yes'" },
      ],
    };
    await using test = await hooked("Validating", (seen) => verdict(seen, true), conditions);
    const { hooks, cluster } = test;
    await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a", { mark: "no" }) });
    expect(hooks.calls).toHaveLength(0);
    await call(cluster, "POST", CONFIG_MAPS, { body: configMap("b", { mark: "yes" }) });
    expect(hooks.calls).toHaveLength(1);
    const answer = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("c", { other: "x" }) });
    expect(answer.status).toBe(403);
    expect(answer.body.message).toBe(
      "configmaps \"c\" is forbidden: expression 'object.data['mark'] == 'yes'' resulted in error: no such key: mark",
    );
  });

  it("includes other versions of the same resource, shown in the version of the rule", async () => {
    const versions = [true, false].map((first) => ({
      name: first ? "v1" : "v2",
      served: true,
      storage: first,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    }));
    const rules = [{ operations: ["CREATE"], apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["widgets"] }];
    await using test = await hooked("Validating", (seen) => verdict(seen, true), { rules });
    const { hooks, cluster } = test;
    await define(cluster, widgetDefinition({ versions }));
    const body = { ...widget("a"), apiVersion: "example.com/v2" };
    const created = await call(cluster, "POST", WIDGETS.replace("v1", "v2"), { body });
    expect(created.body.apiVersion).toBe("example.com/v2");
    expect(hooks.calls[0]?.body.request).toMatchObject({
      kind: { version: "v1" },
      requestKind: { version: "v2" },
      resource: { version: "v1" },
      requestResource: { version: "v2" },
      object: { apiVersion: "example.com/v1" },
    });
  });

  it("never includes what configures admission", async () => {
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] }];
    await using test = await hooked("Validating", (seen) => verdict(seen, false), { rules });
    const path = `${VALIDATING}/test`;
    expect((await call(test.cluster, "DELETE", path)).status).toBe(200);
    expect(test.hooks.calls).toHaveLength(0);
  });

  it("shows a Scale where the request is about one", async () => {
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/scale"] }];
    await using test = await hooked(
      "Mutating",
      (seen) => verdict(seen, true, patchOf([{ op: "replace", path: "/spec/replicas", value: 7 }])),
      { rules },
    );
    const { hooks, cluster } = test;
    await define(cluster, widgetDefinition());
    await call(cluster, "POST", WIDGETS, { body: widget("a", { size: 1, replicas: 1 }) });
    const scaled = await call(cluster, "PATCH", `${WIDGETS}/a/scale`, { type: MERGE, body: { spec: { replicas: 2 } } });
    expect(hooks.calls).toHaveLength(1);
    expect(hooks.calls[0]?.body.request).toMatchObject({
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      subResource: "scale",
      object: { kind: "Scale", spec: { replicas: 2 } },
      oldObject: { kind: "Scale", spec: { replicas: 1 } },
    });
    expect(scaled.body.spec.replicas).toBe(7);
  });
});

describe("the verdict of a webhook", () => {
  it("refuses with its own words and code", async () => {
    const status = { code: 418, message: "no tea", reason: "Teapot" };
    await using test = await hooked("Validating", (seen) => verdict(seen, false, { status }));
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(418);
    expect(answer.body).toMatchObject({
      message: 'admission webhook "one.example.com" denied the request: no tea',
      reason: "Teapot",
      code: 418,
    });
  });

  it("refuses without explanation when it gives none", async () => {
    await using test = await hooked("Validating", (seen) => verdict(seen, false));
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe('admission webhook "one.example.com" denied the request without explanation');
  });

  it("brings warnings to the client", async () => {
    await using test = await hooked("Validating", (seen) => verdict(seen, true, { warnings: ["mind the gap"] }));
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.warnings).toEqual(['299 - "mind the gap"']);
  });

  it("changes the object, of which only what the kind has is kept", async () => {
    const operations = [
      { op: "add", path: "/data/added", value: "1" },
      { op: "add", path: "/bogus", value: true },
      { op: "add", path: "/metadata/labels", value: { a: "b" } },
    ];
    await using test = await hooked("Mutating", (seen) => verdict(seen, true, patchOf(operations)));
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a", { own: "0" }) });
    expect(answer.body).toMatchObject({ data: { own: "0", added: "1" }, metadata: { labels: { a: "b" } } });
    expect(answer.body).not.toHaveProperty("bogus");
  });

  it("is applied to patches of a custom resource, which is checked afterwards", async () => {
    const rules = [{ operations: ["UPDATE"], apiGroups: ["*"], apiVersions: ["*"], resources: ["widgets"] }];
    await using test = await hooked(
      "Mutating",
      (seen) => verdict(seen, true, patchOf([{ op: "replace", path: "/spec/size", value: 0 }])),
      { rules },
    );
    await define(test.cluster, widgetDefinition());
    await call(test.cluster, "POST", WIDGETS, { body: widget("a") });
    const body = [{ op: "add", path: "/metadata/labels", value: { a: "b" } }];
    const answer = await call(test.cluster, "PATCH", `${WIDGETS}/a`, { type: JSON_PATCH, body });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain("spec.size in body should be greater than or equal to 1");
  });

  it("fails the request when the patch does not fit", async () => {
    await using test = await hooked("Mutating", (seen) =>
      verdict(seen, true, patchOf([{ op: "add", path: "/missing/deep", value: 1 }])),
    );
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({
      reason: "InternalError",
      message:
        'Internal error occurred: add operation does not apply: doc is missing path: "/missing/deep": missing value',
    });
  });

  it.each([
    ["another uid", { uid: "x" }, /expected response\.uid="[0-9a-f-]{36}", got "x"/],
    ["a patch without a type", { patch: "W10=" }, /webhook returned response\.patch but not response\.patchType/],
    [
      "a type without a patch",
      { patchType: "JSONPatch" },
      /webhook returned response\.patchType but not response\.patch/,
    ],
  ])("is no verdict with %s", async (_, more, message) => {
    await using test = await hooked("Mutating", (seen) => verdict(seen, true, more));
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(500);
    expect(answer.body.message).toMatch(
      /^Internal error occurred: failed calling webhook "one\.example\.com": received invalid webhook response: /,
    );
    expect(answer.body.message).toMatch(message);
  });
});

describe("a webhook that cannot be asked", () => {
  const prefix = 'Internal error occurred: failed calling webhook "one.example.com": failed to call webhook: ';

  it("fails the request with what went wrong", async () => {
    await using test = await hooked("Validating", () => ({ status: 500, text: "boom\n" }));
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(500);
    expect(answer.body.message).toBe(
      `${prefix}an error on the server ("boom") has prevented the request from succeeding`,
    );
  });

  it("is told by the address that was tried when nobody listens", async () => {
    const hooks = await TestHooks.start(() => "silence");
    const { port } = hooks;
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", VALIDATING, {
      body: configuration("Validating", "test", [webhook("one.example.com", hooks.at("/x"))]),
    });
    await hooks[Symbol.asyncDispose]();
    const answer = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.body.message).toBe(
      `${prefix}Post "https://127.0.0.1:${port}/x?timeout=10s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
  });

  it("may not show a certificate of another authority", async () => {
    await using stranger = await TestHooks.start(() => "silence");
    await using other = await TestHooks.start(() => "silence");
    await using test = await hooked("Validating", (seen) => verdict(seen, true), {
      clientConfig: { ...stranger.at("/"), caBundle: other.caBundle },
    });
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.body.message).toContain(
      "tls: failed to verify certificate: x509: certificate signed by unknown authority",
    );
    expect(stranger.calls).toHaveLength(0);
  });

  it("may be trusted by its own certificate, without the authority behind it", async () => {
    await using hooks = await TestHooks.start((seen) => verdict(seen, true));
    const clientConfig = { ...hooks.at("/"), caBundle: hooks.leafBundle };
    await using test = await hooked("Validating", (seen) => verdict(seen, true), { clientConfig });
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect([answer.status, hooks.calls.length]).toEqual([201, 1]);
  });

  it("that names no authority is believed when the server was told of one", async () => {
    await using hooks = await TestHooks.start((seen) => verdict(seen, true));
    const { caBundle, ...clientConfig } = hooks.at("/");
    const webhookCa = Buffer.from(caBundle, "base64").toString();
    for (const options of [{}, { webhookCa }]) {
      await using test = await hooked("Validating", (seen) => verdict(seen, true), { clientConfig }, options);
      const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
      expect(answer.status).toBe("webhookCa" in options ? 201 : 500);
    }
  });

  it("is called at a path without doubled slashes, whatever its URL says", async () => {
    await using hooks = await TestHooks.start((seen) => verdict(seen, true));
    const { caBundle } = hooks;
    const clientConfig = { url: `https://127.0.0.1:${hooks.port}//validate//v1/.././maps/`, caBundle };
    await using test = await hooked("Validating", (seen) => verdict(seen, true), { clientConfig });
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.status).toBe(201);
    expect(hooks.calls.map(({ path }) => path)).toEqual(["/validate/maps?timeout=10s"]);
  });

  it("may not show a certificate for another name", async () => {
    await using stranger = await TestHooks.start(() => "silence", ["elsewhere.example.com"]);
    await using test = await hooked("Validating", (seen) => verdict(seen, true), { clientConfig: stranger.at("/") });
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.body.message).toContain(
      "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
    );
  });

  it("cannot be trusted by something that is no certificate", async () => {
    const clientConfig = { url: "https://127.0.0.1:1/", caBundle: Buffer.from("nope").toString("base64") };
    await using test = await hooked("Validating", (seen) => verdict(seen, true), { clientConfig });
    const answer = await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.body.message).toBe(
      'Internal error occurred: failed calling webhook "one.example.com": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
    );
  });

  it("runs out of the time that the cluster's clock gives it", async () => {
    const clock = new VirtualClock();
    await using test = await hooked("Validating", () => "silence", { timeoutSeconds: 3 }, { clock });
    const pending = call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    while (test.hooks.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advance(3_000);
    const answer = await pending;
    expect(answer.body.message).toMatch(/Post "https:.*\?timeout=3s": context deadline exceeded$/);
  });

  it("does not matter when the configuration says so", async () => {
    await using test = await hooked("Mutating", () => "hang up", { failurePolicy: "Ignore" });
    expect((await call(test.cluster, "POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
  });
});

describe("webhooks behind a Service", () => {
  const service = { namespace: "default", name: "hooks", path: "/review" };

  it("are reached where the cluster was told, under the name of the Service", async () => {
    await using hooks = await TestHooks.start((seen) => verdict(seen, false), ["hooks.default.svc"]);
    await using cluster = await Cluster.start({ tls: false });
    cluster.services.route("default/hooks", hooks.port);
    await call(cluster, "POST", VALIDATING, {
      body: configuration("Validating", "test", [webhook("one.example.com", { service, caBundle: hooks.caBundle })]),
    });
    const answer = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(answer.body.message).toContain("denied the request");
    expect(hooks.calls[0]?.headers.host).toBe("hooks.default.svc:443");
    expect(hooks.calls[0]?.path).toBe("/review?timeout=10s");
  });

  it("fail when there is no such Service, or nobody behind it", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", VALIDATING, {
      body: configuration("Validating", "test", [webhook("one.example.com", { service })]),
    });
    const url = "https://hooks.default.svc:443/review?timeout=10s";
    const missing = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(missing.body.message).toContain(`Post "${url}": service "hooks" not found`);
    await call(cluster, "POST", "/api/v1/namespaces/default/services", {
      body: { apiVersion: "v1", kind: "Service", metadata: { name: "hooks" }, spec: { ports: [{ port: 443 }] } },
    });
    const empty = await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(empty.body.message).toContain(`Post "${url}": no endpoints available for service "hooks"`);
  });
});

describe("several mutating webhooks", () => {
  it("run in order of names, and early ones again when a later one changed something", async () => {
    const order: string[] = [];
    await using hooks = await TestHooks.start((seen) => {
      const name = seen.path.slice(1, 3);
      order.push(name);
      if (name !== "m3") return verdict(seen, true);
      return verdict(seen, true, patchOf([{ op: "add", path: "/data", value: { by: "m3" } }]));
    });
    await using cluster = await Cluster.start({ tls: false });
    const hook = (name: string, reinvocationPolicy: string) =>
      webhook(`${name}.example.com`, hooks.at(`/${name}`), { reinvocationPolicy });
    await call(cluster, "POST", MUTATING, {
      body: configuration("Mutating", "b", [hook("m3", "Never")]),
    });
    await call(cluster, "POST", MUTATING, {
      body: configuration("Mutating", "a", [hook("m1", "Never"), hook("m2", "IfNeeded")]),
    });
    await call(cluster, "POST", CONFIG_MAPS, { body: configMap("a") });
    expect(order).toEqual(["m1", "m2", "m3", "m2"]);
    expect(hooks.calls.at(-1)?.body.request.object.data).toEqual({ by: "m3" });
  });
});

describe("requests below an object", () => {
  const POD = "/api/v1/namespaces/default/pods/p";
  const below = {
    rules: [
      {
        operations: ["CREATE", "CONNECT", "DELETE"],
        apiGroups: ["*"],
        apiVersions: ["*"],
        resources: ["pods/*", "pods"],
      },
    ],
    objectSelector: {},
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "main", image: "main:1" }] },
  };

  it("show what was posted, which is no pod", async () => {
    await using test = await hooked("Validating", (seen) => verdict(seen, true), below);
    const { cluster, hooks } = test;
    await call(cluster, "POST", POD.slice(0, -2), { body: pod });
    await call(cluster, "POST", `${POD}/binding`, {
      body: { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: { kind: "Node", name: "n" } },
    });
    await call(cluster, "POST", `${POD}/exec?command=ls&command=-l&stdout=true`);
    await call(cluster, "POST", `${POD}/eviction`, {
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } },
    });
    const seen = hooks.calls.slice(1).map(({ body }) => body.request);
    expect(seen.map(({ operation, subResource, object }) => [operation, subResource, object?.kind])).toEqual([
      ["CREATE", "binding", "Binding"],
      ["CONNECT", "exec", "PodExecOptions"],
      ["CREATE", "eviction", "Eviction"],
    ]);
    expect(seen[1]).toMatchObject({ object: { command: ["ls", "-l"], stdout: true }, options: null });
  });

  it("can be refused", async () => {
    await using test = await hooked(
      "Validating",
      (seen) => verdict(seen, seen.body.request.subResource === undefined),
      below,
    );
    await call(test.cluster, "POST", POD.slice(0, -2), { body: pod });
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
    expect((await call(test.cluster, "POST", `${POD}/eviction`, { body })).status).toBe(400);
    expect((await call(test.cluster, "GET", POD)).body.metadata).not.toHaveProperty("deletionTimestamp");
  });
});
