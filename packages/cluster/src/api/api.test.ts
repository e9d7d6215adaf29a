import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { CONFIG_MAPS, call, define, TABLE, WIDGETS, widget, widgetDefinition } from "../test-requests.ts";
import { JsonTextError, parseJson } from "./media/json-text.ts";
import { parseRequestInfo } from "./request-info.ts";
import { humanDuration } from "./table/age.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describe("the API", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    await call(cluster, "POST", WIDGETS, { body: widget("w") });
  });
  afterAll(() => cluster.stop());
  const get = (path: string, accept = "application/json", headers = {}) =>
    call(cluster, "GET", path, { headers: { accept, ...headers } });

  describe("discovery", () => {
    it("lists groups the old way", async () => {
      expect((await get("/api/")).body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
      const groups = (await get("/apis")).body.groups.map((group: { name: string }) => group.name);
      expect(groups).toContain("apiregistration.k8s.io");
      expect(groups).toContain("certificates.k8s.io");
      expect(groups.at(-1)).toBe("example.com");
      const autoscaling = (await get("/apis/autoscaling")).body;
      expect(autoscaling.versions.map((entry: { version: string }) => entry.version)).toEqual(["v2", "v1"]);
    });

    it("lists resources with their subresources", async () => {
      const { resources } = (await get("/apis/example.com/v1")).body;
      expect(resources).toEqual([
        {
          name: "widgets",
          singularName: "widget",
          namespaced: true,
          kind: "Widget",
          verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
          shortNames: ["wd"],
          storageVersionHash: "gIwvi5rymmg=",
        },
        {
          name: "widgets/status",
          singularName: "",
          namespaced: true,
          kind: "Widget",
          verbs: ["get", "patch", "update"],
        },
        {
          name: "widgets/scale",
          singularName: "",
          namespaced: true,
          group: "autoscaling",
          version: "v1",
          kind: "Scale",
          verbs: ["get", "patch", "update"],
        },
      ]);
    });

    it("lists everything at once to those who can read it, and nothing new to those who have it", async () => {
      const all = await get("/apis", `${AGGREGATED},application/json`);
      expect(all.headers["content-type"]).toBe(AGGREGATED);
      expect(all.headers.vary).toBe("Accept");
      const custom = all.body.items.at(-1);
      expect(custom.metadata.name).toBe("example.com");
      expect(custom.versions[0].resources[0]).toMatchObject({
        resource: "widgets",
        scope: "Namespaced",
        responseKind: { group: "example.com", version: "v1", kind: "Widget" },
      });
      const again = await get("/apis", AGGREGATED, { "if-none-match": String(all.headers.etag) });
      expect([again.status, again.text]).toEqual([304, ""]);
      const core = await get("/api", AGGREGATED);
      expect(core.body.items[0].metadata).toEqual({});
    });

    it("answers in the version that was offered, never in another", async () => {
      for (const version of ["v2beta1", "v9"]) {
        const other = AGGREGATED.replace("v=v2;", `v=${version};`);
        expect((await get("/apis", `${other},application/json`)).body.kind).toBe("APIGroupList");
        expect((await get("/apis", other)).status).toBe(406);
      }
    });
  });

  describe("OpenAPI", () => {
    it("has a document for each group version, found by its hash", async () => {
      const { paths } = JSON.parse((await get("/openapi/v3")).text);
      const url = paths["apis/example.com/v1"].serverRelativeURL;
      const document = await get(url);
      expect(document.headers["cache-control"]).toContain("immutable");
      const operations = document.body.paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"];
      expect(operations.patch["x-kubernetes-group-version-kind"]).toEqual({
        group: "example.com",
        version: "v1",
        kind: "Widget",
      });
      expect(operations.patch.parameters.map((p: { name: string }) => p.name)).toContain("fieldValidation");
      const schema = document.body.components.schemas["com.example.v1.Widget"];
      expect(schema["x-kubernetes-group-version-kind"]).toEqual([
        { group: "example.com", version: "v1", kind: "Widget" },
      ]);
      expect(schema.properties.spec.properties.mode.default).toBe("A");
      const moved = await get("/openapi/v3/apis/example.com/v1?hash=old");
      expect([moved.status, moved.headers.location]).toEqual([301, url]);
      expect((await get("/openapi/v3/apis/nope/v1")).status).toBe(404);
    });

    it("refers only to components that are there", async () => {
      for (const path of ["api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"]) {
        const { body, text } = await get(`/openapi/v3/${path}`);
        const known = new Set(Object.keys(body.components.schemas));
        for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) expect(known).toContain(name);
        expect(known.size).toBeGreaterThan(20);
      }
    });
  });

  describe("forms", () => {
    it("prints tables with as much of the object as wanted", async () => {
      const path = `${CONFIG_MAPS}?fieldSelector=metadata.name%3Dkube-root-ca.crt`;
      const table = (await get(path, TABLE)).body;
      expect(table).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
      expect(table.columnDefinitions[0]).toMatchObject({ name: "Name", format: "name" });
      expect(table.rows[0].cells.slice(0, 2)).toEqual(["kube-root-ca.crt", 1]);
      expect(table.rows[0].object.kind).toBe("PartialObjectMetadata");
      expect((await get(`${path}&includeObject=Object`, TABLE)).body.rows[0].object.kind).toBe("ConfigMap");
      expect((await get(`${path}&includeObject=None`, TABLE)).body.rows[0].object).toBeNull();
      expect((await get(`${CONFIG_MAPS}/absent`, TABLE)).body.kind).toBe("Status");
    });

    it("works out the state of a pod", async () => {
      const pods = "/api/v1/namespaces/default/pods";
      const spec = { containers: [{ name: "c", image: "x" }] };
      await call(cluster, "POST", pods, { body: { metadata: { name: "p" }, spec } });
      const cells = async () => (await get(`${pods}/p`, TABLE)).body.rows[0].cells.slice(0, 4);
      expect(await cells()).toEqual(["p", "0/1", "Pending", "0"]);
      const state = { waiting: { reason: "CrashLoopBackOff" } };
      const status = {
        phase: "Running",
        containerStatuses: [{ name: "c", image: "x", imageID: "", ready: false, restartCount: 2, state }],
      };
      await call(cluster, "PATCH", `${pods}/p/status`, { type: "application/merge-patch+json", body: { status } });
      expect(await cells()).toEqual(["p", "0/1", "CrashLoopBackOff", "2"]);
    });

    it("shows metadata alone", async () => {
      const one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
      const object = (await get(`${WIDGETS}/w`, one)).body;
      expect(Object.keys(object).sort()).toEqual(["apiVersion", "kind", "metadata"]);
      const list = (await get(WIDGETS, one.replace("Metadata;", "MetadataList;"))).body;
      expect([list.kind, list.items[0].kind]).toEqual(["PartialObjectMetadataList", "PartialObjectMetadata"]);
    });

    it("takes the first form that it can write, and says when it can write none", async () => {
      expect((await get(`${WIDGETS}/w`, "application/vnd.kubernetes.protobuf, */*")).body.kind).toBe("Widget");
      const none = await get(`${WIDGETS}/w`, "text/html");
      expect([none.status, none.body.reason]).toEqual([406, "NotAcceptable"]);
    });

    it("indents for people", async () => {
      expect((await get(`${WIDGETS}/w?pretty=true`)).text).toContain('\n  "kind"');
      expect((await get(`${WIDGETS}/w`)).text).not.toContain("\n  ");
      expect((await get(`${WIDGETS}/w`, "*/*", { "user-agent": "curl/8" })).text).toContain('\n  "kind"');
    });

    it("marks every answer with an audit id", async () => {
      expect((await get("/version")).headers["audit-id"]).toMatch(/^[0-9a-f-]{36}$/);
    });
  });

  describe("reviews", () => {
    const review = (path: string, body: object) => call(cluster, "POST", path, { body });

    it("say who somebody is and what they may do", async () => {
      const who = await review("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
      expect([who.status, who.body.status.userInfo.groups]).toEqual([201, ["system:masters", "system:authenticated"]]);
      const may = await review("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        spec: { resourceAttributes: { verb: "get", resource: "pods" } },
      });
      expect(may.body.status.allowed).toBe(true);
      const rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
      expect((await review(rules, { spec: { namespace: "default" } })).body.status.resourceRules).toHaveLength(1);
      expect((await review(rules, { spec: {} })).body.message).toBe("no namespace on request");
      expect((await get(rules)).status).toBe(405);
    });
  });

  it("tells its health, at length on request", async () => {
    for (const path of ["/healthz", "/livez", "/readyz"]) expect((await get(path)).text).toBe("ok");
    expect((await get("/readyz?verbose")).text).toContain("readyz check passed");
  });
});

describe("parseRequestInfo", () => {
  const info = (method: string, path: string, query = "") => parseRequestInfo(method, path, new URLSearchParams(query));

  it("knows a namespace from what is in it", () => {
    expect(info("GET", "/api/v1/namespaces/a").target).toMatchObject({ resource: "namespaces", name: "a" });
    expect(info("PUT", "/api/v1/namespaces/a/finalize").target).toMatchObject({ name: "a", subresource: "finalize" });
    expect(info("GET", "/api/v1/namespaces/a/pods").target).toMatchObject({ resource: "pods", namespace: "a" });
  });

  it("reads verbs from methods, paths and queries", () => {
    expect(info("GET", "/apis/apps/v1/deployments").verb).toBe("list");
    expect(info("GET", "/apis/apps/v1/deployments", "watch=true").verb).toBe("watch");
    expect(info("GET", "/apis/apps/v1/deployments", "watch=0").verb).toBe("list");
    expect(info("GET", "/api/v1/namespaces/a/pods/b", "watch=1").verb).toBe("get");
    expect(info("DELETE", "/api/v1/namespaces/a/pods").verb).toBe("deletecollection");
    expect(info("GET", "/version").target).toBeUndefined();
  });
});

describe("parseJson", () => {
  it("names keys that are written twice, wherever they are", () => {
    const { value, duplicateFields } = parseJson('{"a":{"b":1,"b":2},"list":[{},{"x":1,"x":":"}],"a:":1}');
    expect(value).toEqual({ a: { b: 2 }, list: [{}, { x: ":" }], "a:": 1 });
    expect(duplicateFields).toEqual(["a.b", "list[1].x"]);
  });

  it("finds none in what JSON.stringify writes, and reads it unchanged", () => {
    void fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseJson(JSON.stringify(value))).toEqual({
          value: JSON.parse(JSON.stringify(value)),
          duplicateFields: [],
        });
      }),
    );
  });

  it("says where a text stops being JSON", () => {
    const complaint = (text: string) => {
      try {
        parseJson(text);
      } catch (error) {
        if (error instanceof JsonTextError) return error.message;
      }
      return "none";
    };
    expect(complaint("broken")).toBe("invalid character 'b' looking for beginning of value");
    expect(complaint('{"a":1')).toBe("unexpected end of JSON input");
    expect(complaint("{bad}")).toBe("invalid character 'b' looking for beginning of object key string");
    expect(complaint('{"a" 1}')).toBe("invalid character '1' after object key");
    expect(complaint("[1 2]")).toBe("invalid character '2' after array element");
    expect(complaint("{} x")).toBe("invalid character 'x' after top-level value");
  });
});

describe("humanDuration", () => {
  it("shows fewer units the longer it is", () => {
    const minute = 60_000;
    const hour = 60 * minute;
    const day = 24 * hour;
    const cases: [number, string][] = [
      [-500, "0s"],
      [119_000, "119s"],
      [2 * minute, "2m"],
      [9 * minute + 5_000, "9m5s"],
      [90 * minute, "90m"],
      [5 * hour + 7 * minute, "5h7m"],
      [47 * hour, "47h"],
      [3 * day + 4 * hour, "3d4h"],
      [20 * day, "20d"],
      [800 * day, "2y70d"],
    ];
    for (const [ms, text] of cases) expect(humanDuration(ms)).toBe(text);
  });
});
