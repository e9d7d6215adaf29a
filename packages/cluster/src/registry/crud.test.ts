import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { APPLY, CONFIG_MAPS, call, JSON_PATCH, MERGE, STRATEGIC } from "../test-requests.ts";

describe("objects", () => {
  let cluster: Cluster;
  let count = 0;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
  });
  afterAll(() => cluster.stop());

  const fresh = () => `cm-${++count}`;
  const post = (body: unknown, query = "") => call(cluster, "POST", CONFIG_MAPS + query, { body });
  const patch = (name: string, type: string, body: unknown, query = "") =>
    call(cluster, "PATCH", `${CONFIG_MAPS}/${name}${query}`, { type, body });
  async function make(more: object = {}, metadata: object = {}): Promise<string> {
    const name = fresh();
    expect((await post({ metadata: { name, ...metadata }, ...more })).status).toBe(201);
    return name;
  }

  describe("create", () => {
    it("sets what the server owns and ignores what clients say about it", async () => {
      const name = fresh();
      const { status, body } = await post({
        metadata: { name, uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", selfLink: "/x", generation: 5 },
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace: "default" } });
      expect(body.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(body.metadata.creationTimestamp).not.toMatch(/^2001/);
      expect(body.metadata.selfLink).toBeUndefined();
      expect(body.metadata.generation).toBe(5);
    });

    it("generates names from a prefix with letters that make no words", async () => {
      const { body } = await post({ metadata: { generateName: "gen-" } });
      expect(body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    });

    it("tells labels and annotations in the order of their keys, whoever wrote them when", async () => {
      const name = fresh();
      const { body } = await post({ metadata: { name, labels: { b: "", a: "" }, annotations: { z: "", y: "" } } });
      expect(Object.keys(body.metadata.labels)).toEqual(["a", "b"]);
      expect(Object.keys(body.metadata.annotations)).toEqual(["y", "z"]);
      const patched = await call(cluster, "PATCH", `${CONFIG_MAPS}/${name}`, {
        body: { metadata: { labels: { aa: "" } } },
        headers: { "content-type": "application/merge-patch+json" },
      });
      expect(Object.keys(patched.body.metadata.labels)).toEqual(["a", "aa", "b"]);
    });

    it("says that a name is taken", async () => {
      const name = await make();
      const { status, body } = await post({ metadata: { name } });
      expect(status).toBe(409);
      expect(body).toMatchObject({
        reason: "AlreadyExists",
        message: `configmaps "${name}" already exists`,
        details: { name, kind: "configmaps" },
      });
    });

    it("asks for a name", async () => {
      const { status, body } = await post({ metadata: {} });
      expect(status).toBe(422);
      expect(body.message).toBe(
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      );
    });

    it("refuses a version, another namespace, and a namespace that is not there", async () => {
      const withVersion = await post({ metadata: { name: fresh(), resourceVersion: "5" } });
      expect(withVersion.status).toBe(500);
      expect(withVersion.body).not.toHaveProperty("reason");
      expect(withVersion.body.message).toBe("resourceVersion should not be set on objects to be created");
      const elsewhere = await post({ metadata: { name: fresh(), namespace: "other" } });
      expect([elsewhere.status, elsewhere.body.message]).toEqual([
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
      ]);
      const missing = await call(cluster, "POST", "/api/v1/namespaces/nope/configmaps", {
        body: { metadata: { name: "a" } },
      });
      expect([missing.status, missing.body.message]).toEqual([404, 'namespaces "nope" not found']);
    });

    it("dry-runs with a uid and without a version, and stores nothing", async () => {
      const name = fresh();
      const { status, body } = await post({ metadata: { name } }, "?dryRun=All");
      expect(status).toBe(201);
      expect(body.metadata.uid).toBeDefined();
      expect(body.metadata.resourceVersion).toBeUndefined();
      expect((await call(cluster, "GET", `${CONFIG_MAPS}/${name}`)).status).toBe(404);
    });

    it("dry-runs an object that says its version, and gives that back", async () => {
      const { status, body } = await post({ metadata: { name: fresh(), resourceVersion: "5" } }, "?dryRun=All");
      expect([status, body.metadata.resourceVersion]).toEqual([201, "5"]);
    });

    it("lists everything that is wrong with an object", async () => {
      const { status, body } = await post({
        metadata: { name: "A_b", labels: { "-x": "/" }, finalizers: ["x"], ownerReferences: [{ apiVersion: "v1" }] },
        data: { "/": "1" },
      });
      expect(status).toBe(422);
      expect(body.details.causes.map((cause: { field: string }) => cause.field)).toEqual([
        "metadata.name",
        "metadata.labels",
        "metadata.labels",
        "metadata.ownerReferences.kind",
        "metadata.ownerReferences.name",
        "metadata.ownerReferences.uid",
        "metadata.finalizers[0]",
        "data[/]",
      ]);
    });
  });

  describe("bodies", () => {
    it("names the field whose type is wrong", async () => {
      const { status, body } = await post({ metadata: { name: fresh() }, data: { a: 1 } });
      expect([status, body.message]).toEqual([
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
      ]);
    });

    it("says what it found instead of JSON", async () => {
      expect((await post("broken")).body.message).toBe(
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of value (62726f6b656e)",
      );
    });

    it("drops unknown fields and twice written ones with a warning, or refuses them, as asked", async () => {
      const text = (name: string) => `{"metadata":{"name":"${name}","foo":1},"bogus":1,"data":{"a":"1","a":"2"}}`;
      const warned = await post(text(fresh()));
      expect(warned.status).toBe(201);
      expect(warned.body.data).toEqual({ a: "2" });
      expect(warned.warnings).toEqual([
        '299 - "unknown field \\"metadata.foo\\""',
        '299 - "unknown field \\"bogus\\""',
        '299 - "duplicate field \\"data.a\\""',
      ]);
      const strict = await post(text(fresh()), "?fieldValidation=Strict");
      expect([strict.status, strict.body.message]).toEqual([
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.foo", unknown field "bogus", duplicate field "data.a"',
      ]);
      expect((await post(text(fresh()), "?fieldValidation=Ignore")).warnings).toEqual([]);
      const nonsense = await post(text(fresh()), "?fieldValidation=Nope");
      expect(nonsense.body.details).toMatchObject({ group: "meta.k8s.io", kind: "CreateOptions" });
    });

    it("refuses bodies above three megabytes and types that it does not know", async () => {
      const large = await post({ metadata: { name: fresh() }, data: { a: "x".repeat(3 * 1_024 * 1_024) } });
      expect([large.status, large.body.reason]).toEqual([413, "RequestEntityTooLarge"]);
      const odd = await call(cluster, "POST", CONFIG_MAPS, { type: "text/plain", body: "{}" });
      expect([odd.status, odd.body.reason]).toEqual([415, "UnsupportedMediaType"]);
    });

    it("reads and writes YAML", async () => {
      const name = fresh();
      const { status } = await call(cluster, "POST", CONFIG_MAPS, {
        type: "application/yaml",
        body: `metadata:\n  name: ${name}\ndata:\n  a: b\n`,
      });
      expect(status).toBe(201);
      const read = await call(cluster, "GET", `${CONFIG_MAPS}/${name}`, { headers: { accept: "application/yaml" } });
      expect(read.headers["content-type"]).toBe("application/yaml");
      expect(read.text).toContain("a: b");
    });
  });

  describe("update", () => {
    const put = (name: string, body: unknown) => call(cluster, "PUT", `${CONFIG_MAPS}/${name}`, { body });

    it("overwrites without a version and insists on one that is given", async () => {
      const name = await make({ data: { a: "1" } });
      const first = await put(name, { metadata: { name }, data: { a: "2" } });
      expect([first.status, first.body.data.a]).toEqual([200, "2"]);
      const stale = await put(name, { metadata: { name, resourceVersion: "1" }, data: { a: "3" } });
      expect(stale.status).toBe(409);
      expect(stale.body.message).toBe(
        `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
      );
    });

    it("does not touch an object that does not change", async () => {
      const name = await make({ data: { a: "1" } });
      const before = await call(cluster, "GET", `${CONFIG_MAPS}/${name}`);
      const same = await put(name, { metadata: { name }, data: { a: "1" } });
      expect(same.body).toEqual(before.body);
    });

    it("answers another uid with a conflict in a PUT and as invalid in a PATCH", async () => {
      const name = await make();
      expect((await put(name, { metadata: { name, uid: "abc" } })).status).toBe(409);
      const patched = await patch(name, MERGE, { metadata: { uid: "abc" } });
      expect([patched.status, patched.body.message]).toEqual([
        422,
        `ConfigMap "${name}" is invalid: metadata.uid: Invalid value: "abc": field is immutable`,
      ]);
    });

    it("compares the name with that of the URL", async () => {
      const name = await make();
      expect((await put(name, { metadata: { name: "b" } })).body.message).toBe(
        `the name of the object (b) does not match the name on the URL (${name})`,
      );
      expect((await put(name, { metadata: {} })).body.message).toBe(
        `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
      );
      expect((await put("absent", { metadata: { name: "absent" } })).status).toBe(404);
    });

    it("creates by PUT where the kind allows it, and asks for a version where the kind needs one", async () => {
      const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
      const body = { metadata: { name: "l" }, spec: { holderIdentity: "x" } };
      expect((await call(cluster, "PUT", path, { body })).status).toBe(201);
      const again = await call(cluster, "PUT", path, { body });
      expect([again.status, again.body.message]).toEqual([
        422,
        'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ]);
    });
  });

  describe("patch", () => {
    it("applies JSON patches, and rejects those that do not fit", async () => {
      const name = await make({ data: { a: "1" } });
      const added = await patch(name, JSON_PATCH, [
        { op: "test", path: "/data/a", value: "1" },
        { op: "add", path: "/data/b", value: "2" },
      ]);
      expect(added.body.data).toEqual({ a: "1", b: "2" });
      for (const operation of [
        { op: "test", path: "/data/a", value: "no" },
        { op: "remove", path: "/data/zz" },
      ]) {
        const refused = await patch(name, JSON_PATCH, [operation]);
        expect([refused.status, refused.body.reason, refused.body.message]).toEqual([
          422,
          "Invalid",
          "the server rejected our request due to an error in our request",
        ]);
      }
    });

    it("merges, deletes by null and honours a version inside", async () => {
      const name = await make({ data: { a: "1", b: "2" } });
      expect((await patch(name, MERGE, { data: { a: null, c: "3" } })).body.data).toEqual({ b: "2", c: "3" });
      expect((await patch(name, MERGE, { metadata: { resourceVersion: "1" }, data: { c: "4" } })).status).toBe(409);
    });

    it("merges lists of built-in kinds by their keys", async () => {
      const name = await make({}, { ownerReferences: [] });
      const owner = (uid: string) => ({ apiVersion: "x.io/v1", kind: "X", name: uid, uid });
      await patch(name, STRATEGIC, { metadata: { ownerReferences: [owner("1")] } });
      const both = await patch(name, STRATEGIC, { metadata: { ownerReferences: [owner("2")] } });
      expect(both.body.metadata.ownerReferences.map((entry: { uid: string }) => entry.uid).sort()).toEqual(["1", "2"]);
    });

    it("refuses other types, undecodable patches and missing objects", async () => {
      const name = await make();
      const types = await patch(name, "application/json", {});
      expect([types.status, types.body.message]).toEqual([415, "415: Unsupported Media Type"]);
      expect((await patch(name, MERGE, "[1")).body.message).toBe("error decoding patch: unexpected end of JSON input");
      expect((await patch("absent", MERGE, {})).status).toBe(404);
      expect((await patch(name, MERGE, {}, "?force=true")).body.details.causes[0]).toMatchObject({ field: "force" });
    });

    it("keeps a deletion time that a patch wants to take away", async () => {
      const name = await make({}, { finalizers: ["example.com/hold"] });
      const marked = await call(cluster, "DELETE", `${CONFIG_MAPS}/${name}`);
      const patched = await patch(name, MERGE, { metadata: { deletionTimestamp: null } });
      expect(patched.status).toBe(200);
      expect(patched.body.metadata).toEqual(marked.body.metadata);
    });
  });

  describe("apply", () => {
    const config = (name: string, data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

    it("creates, records the manager, and tells conflicts with others", async () => {
      const name = fresh();
      const created = await patch(name, APPLY, config(name, { a: "1" }), "?fieldManager=one");
      expect(created.status).toBe(201);
      expect(created.body.metadata.managedFields).toMatchObject([
        { manager: "one", operation: "Apply", apiVersion: "v1", fieldsV1: { "f:data": { "f:a": {} } } },
      ]);
      const other = await patch(name, APPLY, config(name, { a: "2" }), "?fieldManager=two");
      expect([other.status, other.body.message]).toEqual([
        409,
        'Apply failed with 1 conflict: conflict with "one": .data.a',
      ]);
      const forced = await patch(name, APPLY, config(name, { a: "2" }), "?fieldManager=two&force=true");
      expect([forced.status, forced.body.data.a]).toEqual([200, "2"]);
      const version = forced.body.metadata.resourceVersion;
      const same = await patch(name, APPLY, config(name, { a: "2" }), "?fieldManager=two");
      expect(same.body.metadata.resourceVersion).toBe(version);
    });

    it("needs a manager, a type, and known fields", async () => {
      const name = await make();
      expect((await patch(name, APPLY, config(name, {}))).body.message).toBe(
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      );
      expect((await patch(name, APPLY, {}, "?fieldManager=x")).body.message).toBe("invalid object type: /, Kind=");
      const unknown = await patch(name, APPLY, { ...config(name, {}), bogus: 1 }, "?fieldManager=x");
      expect(unknown.status).toBe(500);
      expect(unknown.body.message).toContain(".bogus: field not declared in schema");
    });

    it("names the manager of other writes after the client's program", async () => {
      const { body } = await post({ metadata: { name: fresh() }, data: { a: "1" } });
      expect(body.metadata.managedFields).toMatchObject([{ manager: "suite", operation: "Update" }]);
    });
  });

  describe("delete", () => {
    const del = (name: string, body?: unknown, query = "") =>
      call(cluster, "DELETE", `${CONFIG_MAPS}/${name}${query}`, body === undefined ? {} : { body });

    it("answers with a success that names the object and has no code", async () => {
      const name = await make();
      const { uid } = (await call(cluster, "GET", `${CONFIG_MAPS}/${name}`)).body.metadata;
      const { status, body } = await del(name);
      expect(status).toBe(200);
      expect(body).toEqual({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Success",
        details: { name, kind: "configmaps", uid },
      });
      expect((await del(name)).status).toBe(404);
    });

    it("marks what finalizers hold, once, and removes it with the last of them under its old version", async () => {
      const name = await make({}, { finalizers: ["example.com/hold"] });
      const marked = (await del(name)).body;
      expect(marked.metadata.deletionTimestamp).toBeDefined();
      expect(marked.metadata.deletionGracePeriodSeconds).toBe(0);
      expect((await del(name)).body.metadata.resourceVersion).toBe(marked.metadata.resourceVersion);
      const more = await patch(name, MERGE, { metadata: { finalizers: ["example.com/hold", "example.com/more"] } });
      expect(more.status).toBe(422);
      expect(more.body.message).toContain('found new finalizers []string{"example.com/more"}');
      expect((await post({ metadata: { name } })).body.message).toBe(
        `object is being deleted: configmaps "${name}" already exists`,
      );
      const released = await patch(name, MERGE, { metadata: { finalizers: null } });
      expect(released.status).toBe(200);
      expect(released.body.metadata.resourceVersion).toBe(marked.metadata.resourceVersion);
      expect((await call(cluster, "GET", `${CONFIG_MAPS}/${name}`)).status).toBe(404);
    });

    it("checks preconditions and options", async () => {
      const name = await make();
      const uid = await del(name, { preconditions: { uid: "x" } });
      expect(uid.status).toBe(409);
      expect(uid.body.message).toContain("the UID in the precondition (x) does not match the UID in record");
      expect((await del(name, { preconditions: { resourceVersion: "1" } })).status).toBe(409);
      expect((await del(name, { propagationPolicy: "Orphan", orphanDependents: true })).status).toBe(422);
      expect((await del(name, undefined, "?propagationPolicy=Foo")).body.message).toContain(
        'propagationPolicy: Unsupported value: "Foo"',
      );
      expect((await del(name, undefined, "?dryRun=All")).status).toBe(200);
      expect((await del(name)).status).toBe(200);
    });

    it("deletes what selectors pick and answers with the list of it", async () => {
      for (let i = 0; i < 2; i++) await make({}, { labels: { batch: "x" } });
      const kept = await make({}, { labels: { batch: "y" } });
      const { status, body } = await call(cluster, "DELETE", `${CONFIG_MAPS}?labelSelector=batch%3Dx`);
      expect([status, body.kind, body.items.length]).toEqual([200, "ConfigMapList", 2]);
      expect((await call(cluster, "GET", `${CONFIG_MAPS}/${kept}`)).status).toBe(200);
    });
  });

  describe("paths", () => {
    it("tells unknown resources from unknown groups, and wrong methods from both", async () => {
      const resource = await call(cluster, "GET", "/api/v1/namespaces/default/nonsense");
      expect([resource.status, resource.body.message]).toEqual([
        404,
        "the server could not find the requested resource",
      ]);
      const group = await call(cluster, "GET", "/apis/foo.bar/v1/x");
      expect([group.status, group.text]).toEqual([404, "404 page not found\n"]);
      for (const [method, path] of [
        ["PUT", CONFIG_MAPS],
        ["POST", `${CONFIG_MAPS}/x`],
        ["POST", "/api/v1/configmaps"],
        ["HEAD", CONFIG_MAPS],
        ["OPTIONS", CONFIG_MAPS],
      ] as const) {
        expect((await call(cluster, method, path)).status, `${method} ${path}`).toBe(405);
      }
      expect((await call(cluster, "GET", "/api/v1/configmaps/x")).status).toBe(404);
    });

    it("ignores a trailing slash, and watch=1 on one object", async () => {
      const name = await make();
      expect((await call(cluster, "GET", `${CONFIG_MAPS}/${name}/`)).status).toBe(200);
      expect((await call(cluster, "GET", `${CONFIG_MAPS}/${name}?watch=1`)).body.kind).toBe("ConfigMap");
    });
  });
});
