import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import {
  APPLY,
  call,
  DEFINITIONS,
  define,
  MERGE,
  openWatch,
  STRATEGIC,
  TABLE,
  WIDGETS,
  widget,
  widgetDefinition,
} from "../test-requests.ts";

const CRD = `${DEFINITIONS}/widgets.example.com`;

async function startWithWidgets(version: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) {
  const cluster = await Cluster.start({ tls: false });
  const defined = await define(cluster, widgetDefinition(spec, version));
  expect(defined.status).toBe(201);
  return cluster;
}

describe("definitions", () => {
  it("serve their resource when they are answered", async () => {
    await using cluster = await startWithWidgets();
    const { body } = await call(cluster, "GET", CRD);
    expect(body.spec.names).toMatchObject({ singular: "widget", listKind: "WidgetList" });
    expect(body.spec.conversion).toEqual({ strategy: "None" });
    expect(body.status.storedVersions).toEqual(["v1"]);
    expect(body.status.acceptedNames).toEqual(body.spec.names);
    expect(body.status.conditions.map((c: { type: string; status: string }) => [c.type, c.status])).toEqual([
      ["NamesAccepted", "True"],
      ["Established", "True"],
    ]);
    expect((await call(cluster, "GET", WIDGETS)).body).toMatchObject({ kind: "WidgetList", items: [] });
  });

  it("are refused with what is wrong with them", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const message = async (spec: object, version: object = {}) =>
      (await define(cluster, widgetDefinition(spec as never, version as never))).body.message as string;
    expect(await message({ group: "other.com" })).toContain('metadata.name: Invalid value: "widgets.example.com"');
    expect(await message({ group: "nodot" })).toContain("should be a domain with at least one dot");
    expect(await message({ scope: "World" })).toContain('spec.scope: Unsupported value: "World"');
    expect(await message({ versions: [] })).toContain("must have exactly one version marked as storage version");
    expect(await message({}, { schema: undefined })).toContain(
      "spec.versions[0].schema.openAPIV3Schema: Required value",
    );
    expect(await message({}, { schema: { openAPIV3Schema: { type: "object", properties: { a: {} } } } })).toContain(
      "spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields",
    );
    expect(await message({}, { selectableFields: [{ jsonPath: ".spec.absent" }] })).toContain(
      "spec.selectableFields[0].jsonPath",
    );
    expect(
      await message({}, { subresources: { scale: { specReplicasPath: ".foo", statusReplicasPath: ".status.r" } } }),
    ).toContain('spec.subresources.scale.specReplicasPath: Invalid value: ".foo": should be a json path under .spec');
    const rule = {
      type: "object",
      properties: { a: { type: "string", "x-kubernetes-validations": [{ rule: "self.b" }] } },
    };
    expect(await message({}, { schema: { openAPIV3Schema: rule } })).toContain("compilation failed");
  });

  it("that clash with another one's names are not served until these are free", async () => {
    await using cluster = await startWithWidgets();
    const clashing = structuredClone(widgetDefinition()) as { metadata: { name: string }; spec: { names: object } };
    clashing.metadata.name = "things.example.com";
    clashing.spec.names = { plural: "things", kind: "Widget" };
    await define(cluster, clashing);
    const path = `${DEFINITIONS}/things.example.com`;
    const conditions = async () =>
      (await call(cluster, "GET", path)).body.status.conditions.map(
        (c: { type: string; status: string; reason: string }) => [c.type, c.status, c.reason],
      );
    expect(await conditions()).toContainEqual(["NamesAccepted", "False", "ListKindConflict"]);
    expect((await call(cluster, "GET", "/apis/example.com/v1/things")).status).toBe(404);
    await call(cluster, "DELETE", CRD);
    await cluster.settle();
    expect(await conditions()).toContainEqual(["Established", "True", "InitialNamesAccepted"]);
    expect((await call(cluster, "GET", "/apis/example.com/v1/things")).status).toBe(200);
  });

  it("do not change scope, and keep versions that objects may be stored in", async () => {
    await using cluster = await startWithWidgets();
    const patch = (spec: object) => call(cluster, "PATCH", CRD, { type: MERGE, body: { spec } });
    expect((await patch({ scope: "Cluster" })).body.message).toContain("spec.scope: Invalid value");
    const v2 = { ...(widgetDefinition() as { spec: { versions: object[] } }).spec.versions[0], name: "v2" };
    expect((await patch({ versions: [v2] })).body.message).toContain("v1 was previously a storage version");
  });

  it("take their objects with them, honouring finalizers, and close watches", async () => {
    await using cluster = await startWithWidgets();
    await call(cluster, "POST", WIDGETS, { body: widget("free") });
    await call(cluster, "POST", WIDGETS, { body: widget("held", {}, { finalizers: ["example.com/hold"] }) });
    const deleted = await call(cluster, "DELETE", CRD);
    expect(deleted.body.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    expect(deleted.body.status.conditions.at(-1)).toMatchObject({ type: "Terminating", status: "True" });
    await cluster.settle();
    const left = await call(cluster, "GET", WIDGETS);
    expect(left.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(["held"]);
    const refused = await call(cluster, "POST", WIDGETS, { body: widget("late") });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain("create not allowed while custom resource definition is terminating");
    const watch = await openWatch(cluster, `${WIDGETS}?watch=1&resourceVersion=${left.body.metadata.resourceVersion}`);
    await call(cluster, "PATCH", `${WIDGETS}/held`, { type: MERGE, body: { metadata: { finalizers: null } } });
    expect((await watch.next()).type).toBe("DELETED");
    await watch.ended;
    await cluster.settle();
    expect((await call(cluster, "GET", CRD)).status).toBe(404);
    expect((await call(cluster, "GET", WIDGETS)).status).toBe(404);
  });

  it.each([
    ["https://github.com/kubernetes/kubernetes/pull/1", "True", "ApprovedAnnotation", "approved in https://"],
    ["unapproved, for a test", "False", "UnapprovedAnnotation", 'not approved: "unapproved, for a test"'],
  ])("of a protected group say how they were approved: %s", async (approval, status, reason, message) => {
    await using cluster = await Cluster.start({ tls: false });
    const crd = structuredClone(widgetDefinition({ group: "diff.k8s.io" })) as { metadata: object };
    crd.metadata = { name: "widgets.diff.k8s.io", annotations: { "api-approved.kubernetes.io": approval } };
    await define(cluster, crd);
    await cluster.settle();
    const path = `${DEFINITIONS}/widgets.diff.k8s.io`;
    expect((await call(cluster, "GET", path)).body.status.conditions).toContainEqual(
      expect.objectContaining({
        type: "KubernetesAPIApprovalPolicyConformant",
        status,
        reason,
        message: expect.stringContaining(message),
      }),
    );
  });
});

describe("watches of objects whose definition goes", () => {
  it("see them go, and end a second after their definition is gone", async () => {
    const clock = new VirtualClock();
    await using cluster = await Cluster.start({ tls: false, clock });
    await define(cluster, widgetDefinition());
    await call(cluster, "POST", WIDGETS, { body: widget("held", {}, { finalizers: ["example.com/hold"] }) });
    const watch = await openWatch(cluster, `${WIDGETS}?watch=1`);
    expect((await watch.next()).type).toBe("ADDED");
    let ended = false;
    const end = watch.ended.then(() => {
      ended = true;
    });
    await call(cluster, "DELETE", CRD);
    await cluster.settle();
    expect((await watch.next()).type).toBe("MODIFIED");
    // However long the objects take to go: no watch misses their end.
    await clock.advance(60_000);
    await call(cluster, "PATCH", `${WIDGETS}/held`, { type: MERGE, body: { metadata: { finalizers: null } } });
    expect((await watch.next()).type).toBe("DELETED");
    await cluster.settle();
    expect((await call(cluster, "GET", CRD)).status).toBe(404);
    await clock.advance(999);
    expect(ended).toBe(false);
    await clock.advance(1);
    await end;
  });

  it("end a second after its schema changed", async () => {
    const clock = new VirtualClock();
    await using cluster = await Cluster.start({ tls: false, clock });
    await define(cluster, widgetDefinition());
    const watch = await openWatch(cluster, `${WIDGETS}?watch=1`);
    const [version] = (widgetDefinition() as { spec: { versions: object[] } }).spec.versions;
    const versions = [{ ...version, selectableFields: [{ jsonPath: ".spec.size" }] }];
    expect((await call(cluster, "PATCH", CRD, { type: MERGE, body: { spec: { versions } } })).status).toBe(200);
    await call(cluster, "POST", WIDGETS, { body: widget("late") });
    expect((await watch.next()).object.metadata.name).toBe("late");
    await clock.advance(1_000);
    await watch.ended;
  });
});

describe("versions", () => {
  const version = (name: string, storage: boolean, properties: object) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
  });
  const text = { type: "string" };

  it("complete what is read by the version that is stored, and leave out what neither has", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const versions = [
      version("v1", true, { a: text, both: { ...text, default: "stored" }, old: { ...text, default: "old" } }),
      version("v2", false, { a: text, both: text, own: { ...text, default: "not stored" } }),
    ];
    await define(cluster, widgetDefinition({ versions }));
    const v2 = WIDGETS.replace("/v1/", "/v2/");
    await call(cluster, "POST", WIDGETS, { body: widget("one", { a: "1" }) });
    expect((await call(cluster, "GET", `${v2}/one`)).body.spec).toEqual({ a: "1", both: "stored" });
    const made = await call(cluster, "POST", v2, {
      body: { ...widget("two", { a: "2" }), apiVersion: "example.com/v2" },
    });
    expect(made.body.spec).toEqual({ a: "2", both: "stored" });
    expect(made.body.metadata.managedFields[0].fieldsV1["f:spec"]).toHaveProperty("f:own");
    expect((await call(cluster, "GET", `${WIDGETS}/two`)).body.spec).toEqual({ a: "2", both: "stored", old: "old" });
    const listed = await call(cluster, "GET", v2);
    expect(listed.body.items.map((item: { spec: object }) => item.spec)).toEqual([
      { a: "1", both: "stored" },
      { a: "2", both: "stored" },
    ]);
  });
});

describe("custom resources", () => {
  it("are pruned, completed and counted", async () => {
    await using cluster = await startWithWidgets();
    const made = await call(cluster, "POST", WIDGETS, {
      body: { ...widget("w", { size: 1, x: 1 }), status: { phase: "no" } },
    });
    expect(made.status).toBe(201);
    expect(made.warnings).toEqual(['299 - "unknown field \\"spec.x\\""']);
    expect(made.body.spec).toEqual({ size: 1, mode: "A" });
    expect(made.body.status).toBeUndefined();
    expect(made.body.metadata.generation).toBe(1);
    const labelled = await call(cluster, "PATCH", `${WIDGETS}/w`, {
      type: MERGE,
      body: { metadata: { labels: { a: "b" } } },
    });
    expect(labelled.body.metadata.generation).toBe(1);
    const resized = await call(cluster, "PATCH", `${WIDGETS}/w`, { type: MERGE, body: { spec: { size: 2 } } });
    expect(resized.body.metadata.generation).toBe(2);
  });

  it("are validated by their schema and its rules", async () => {
    const schema = {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            size: { type: "integer", minimum: 1 },
            fixed: {
              type: "string",
              "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "never changes" }],
            },
          },
        },
      },
    };
    await using cluster = await startWithWidgets({ schema: { openAPIV3Schema: schema } });
    const small = await call(cluster, "POST", WIDGETS, { body: widget("w", { size: 0 }) });
    expect([small.status, small.body.message]).toEqual([
      422,
      'Widget.example.com "w" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ]);
    await call(cluster, "POST", WIDGETS, { body: widget("w", { size: 1, fixed: "a" }) });
    const changed = await call(cluster, "PATCH", `${WIDGETS}/w`, { type: MERGE, body: { spec: { fixed: "b" } } });
    expect(changed.body.message).toBe(
      'Widget.example.com "w" is invalid: spec.fixed: Invalid value: "b": never changes',
    );
  });

  it("need their type in the body, a version to be replaced, and no strategic patches", async () => {
    await using cluster = await startWithWidgets();
    const untyped = await call(cluster, "POST", WIDGETS, { body: { metadata: { name: "w" } } });
    expect([untyped.status, untyped.body.message.includes("Object 'Kind' is missing")]).toEqual([400, true]);
    const kind = await call(cluster, "POST", WIDGETS, { body: { ...widget("w"), kind: "Foo" } });
    expect([kind.status, kind.body.message]).toEqual([
      422,
      'Foo.example.com "w" is invalid: kind: Invalid value: "Foo": must be Widget',
    ]);
    const version = await call(cluster, "POST", WIDGETS, { body: { ...widget("w"), apiVersion: "example.com/v9" } });
    expect(version.status).toBe(400);
    await call(cluster, "POST", WIDGETS, { body: widget("w") });
    const put = await call(cluster, "PUT", `${WIDGETS}/w`, { body: widget("w", { size: 3 }) });
    expect([put.status, put.body.details.kind]).toEqual([422, "widgets"]);
    const strategic = await call(cluster, "PATCH", `${WIDGETS}/w`, { type: STRATEGIC, body: {} });
    expect(strategic.status).toBe(415);
  });

  it("split their status from the rest", async () => {
    await using cluster = await startWithWidgets();
    await call(cluster, "POST", WIDGETS, { body: widget("w") });
    const main = await call(cluster, "PATCH", `${WIDGETS}/w`, { type: MERGE, body: { status: { phase: "lost" } } });
    expect(main.body.status).toBeUndefined();
    const status = await call(cluster, "PATCH", `${WIDGETS}/w/status`, {
      type: MERGE,
      body: {
        metadata: { labels: { a: "b" }, finalizers: ["example.com/x"] },
        spec: { size: 9 },
        status: { phase: "ok" },
      },
    });
    expect(status.body.status).toEqual({ phase: "ok" });
    expect(status.body.spec.size).toBe(1);
    expect(status.body.metadata).not.toHaveProperty("labels");
    expect(status.body.metadata).not.toHaveProperty("finalizers");
    expect(status.body.metadata.generation).toBe(1);
    expect(status.body.metadata.managedFields.at(-1)).toMatchObject({ subresource: "status", manager: "suite" });
  });

  it("scale through their paths, even from nothing", async () => {
    await using cluster = await startWithWidgets();
    await call(cluster, "POST", WIDGETS, { body: widget("w") });
    const missing = await call(cluster, "GET", `${WIDGETS}/w/scale`);
    expect([
      missing.status,
      missing.body.message.endsWith('the spec replicas field ".spec.replicas" does not exist'),
    ]).toEqual([500, true]);
    const scaled = await call(cluster, "PATCH", `${WIDGETS}/w/scale`, { type: MERGE, body: { spec: { replicas: 3 } } });
    expect(scaled.body).toMatchObject({ kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 3 } });
    const object = await call(cluster, "GET", `${WIDGETS}/w`);
    expect([object.body.spec.replicas, object.body.metadata.generation]).toEqual([3, 2]);
  });

  it("count a generation when they are marked for deletion", async () => {
    await using cluster = await startWithWidgets();
    await call(cluster, "POST", WIDGETS, { body: widget("w", {}, { finalizers: ["example.com/hold"] }) });
    expect((await call(cluster, "DELETE", `${WIDGETS}/w`)).body.metadata.generation).toBe(2);
  });

  it("show themselves in every served version, with a warning for old ones", async () => {
    const base = (widgetDefinition() as { spec: { versions: Record<string, unknown>[] } }).spec.versions[0] as object;
    const versions = [
      { ...base, name: "v1beta1", storage: false, deprecated: true },
      base,
      { ...base, name: "v2", storage: false },
    ];
    await using cluster = await startWithWidgets({}, { versions });
    await call(cluster, "POST", WIDGETS, { body: widget("w") });
    const old = await call(cluster, "GET", WIDGETS.replace("/v1/", "/v1beta1/"));
    expect(old.body.items[0].apiVersion).toBe("example.com/v1beta1");
    expect(old.warnings).toEqual(['299 - "example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget"']);
    const group = await call(cluster, "GET", "/apis/example.com");
    expect(group.body.versions.map((entry: { version: string }) => entry.version)).toEqual(["v2", "v1", "v1beta1"]);
    expect(group.body.preferredVersion.version).toBe("v2");
  });

  it("print the columns and know the fields of their definition", async () => {
    await using cluster = await startWithWidgets({
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Phase", type: "string", jsonPath: ".status.phase", priority: 1 },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
      selectableFields: [{ jsonPath: ".spec.mode" }],
    });
    await call(cluster, "POST", WIDGETS, { body: widget("a", { size: 2 }) });
    await call(cluster, "POST", WIDGETS, { body: widget("b", { size: 3, mode: "B" }) });
    const table = await call(cluster, "GET", `${WIDGETS}?fieldSelector=spec.mode%3DB`, { headers: { accept: TABLE } });
    expect(table.body.columnDefinitions.map((c: { name: string; priority: number }) => [c.name, c.priority])).toEqual([
      ["Name", 0],
      ["Size", 0],
      ["Phase", 1],
      ["Age", 0],
    ]);
    expect(table.body.rows.map((row: { cells: unknown[] }) => row.cells.slice(0, 3))).toEqual([["b", 3, null]]);
    const unknown = await call(cluster, "GET", `${WIDGETS}?fieldSelector=spec.size%3D3`);
    expect(unknown.body.message).toBe("field label not supported: spec.size");
  });

  it("are applied by their schema", async () => {
    await using cluster = await startWithWidgets();
    const apply = (manager: string, spec: object) =>
      call(cluster, "PATCH", `${WIDGETS}/w?fieldManager=${manager}`, { type: APPLY, body: widget("w", spec) });
    expect((await apply("one", { size: 1 })).status).toBe(201);
    const two = await apply("two", { replicas: 2 });
    expect(two.body.spec).toEqual({ size: 1, replicas: 2, mode: "A" });
    expect((await apply("two", { size: 5 })).status).toBe(409);
    expect((await apply("one", {})).body.spec).toEqual({ replicas: 2, mode: "A" });
  });

  it("take a new schema into account when they are read", async () => {
    await using cluster = await startWithWidgets();
    await call(cluster, "POST", WIDGETS, { body: widget("w", { size: 1 }) });
    const current = (await call(cluster, "GET", CRD)).body;
    const spec = current.spec.versions[0].schema.openAPIV3Schema.properties.spec;
    delete spec.properties.size;
    spec.properties.colour = { type: "string", default: "blue" };
    expect((await call(cluster, "PUT", CRD, { body: current })).status).toBe(200);
    expect((await call(cluster, "GET", `${WIDGETS}/w`)).body.spec).toEqual({ mode: "A", colour: "blue" });
  });
});
