import { describe, expect, it } from "vitest";
import { needOf, parseRecording, requestRecorder } from "../report/index.ts";
import { allows, type Need, rulesFor } from "./rbac.ts";

const need = (resource: string, verbs: string[], by: string, more: Partial<Need> = {}): Need => ({
  group: "",
  resource,
  verbs,
  by,
  clusterWide: false,
  ...more,
});

describe("rules", () => {
  it("have each resource once, with all its verbs and all who need them", () => {
    expect(rulesFor([need("pods", ["watch", "list"], "b"), need("pods", ["get", "list"], "a")])).toEqual([
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"], by: ["a", "b"] },
    ]);
  });

  it("are shared by resources that need the same for the same reason, and by no others", () => {
    const rules = rulesFor([
      need("pods", ["get"], "a"),
      need("configmaps", ["get"], "a"),
      need("secrets", ["get"], "b"),
      need("pods", ["get"], "a", { group: "metrics.k8s.io" }),
    ]);
    expect(rules.map(({ apiGroups, resources }) => [apiGroups[0], ...resources])).toEqual([
      ["", "configmaps", "pods"],
      ["", "secrets"],
      ["metrics.k8s.io", "pods"],
    ]);
  });

  it("tell each of those who need them once, with all the places where it is written", () => {
    const at = (sourceLocation: string, verb: string) => need("pods", [verb], "handler sell", { sourceLocation });
    const needs = [
      at("operator.ts:20", "get"),
      at("lib/a.ts:3", "get"),
      at("operator.ts:9", "list"),
      at("operator.ts:9", "get"),
    ];
    expect(rulesFor([...needs, need("pods", ["list"], "the framework: follows Pod")])[0]?.by).toEqual([
      "handler sell (lib/a.ts:3, operator.ts:9, 20)",
      "the framework: follows Pod",
    ]);
  });

  it("with names stay apart from those without", () => {
    const rules = rulesFor([need("crds", ["get"], "a", { names: ["one"] }), need("crds", ["create"], "a")]);
    expect(rules).toHaveLength(2);
    expect(allows(rules, "", "crds", "get", "one")).toBe(true);
    expect(allows(rules, "", "crds", "get", "two")).toBe(false);
    expect(allows(rules, "", "crds", "create")).toBe(true);
  });

  it("do not depend on the order of the needs", () => {
    const needs = [need("pods", ["get"], "a"), need("secrets", ["list"], "b"), need("pods", ["list"], "c")];
    expect(rulesFor([...needs].reverse())).toEqual(rulesFor(needs));
  });
});

describe("a recorded request", () => {
  const asked = (method: string, path: string, more = {}) =>
    needOf({ handler: "h", method, path, watch: false, websocket: false, ...more });

  it.each([
    ["GET", "/api/v1/namespaces/a/pods", "pods", ["list"], false],
    ["GET", "/api/v1/pods", "pods", ["list"], true],
    ["GET", "/api/v1/namespaces/a/pods/p", "pods", ["get"], false],
    ["GET", "/api/v1/namespaces/a", "namespaces", ["get"], true],
    ["PUT", "/api/v1/namespaces/a/finalize", "namespaces/finalize", ["update"], true],
    ["POST", "/api/v1/namespaces/a/configmaps", "configmaps", ["create"], false],
    ["PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", "deployments/scale", ["patch"], false],
    ["DELETE", "/apis/apps/v1/namespaces/a/deployments", "deployments", ["deletecollection"], false],
    ["DELETE", "/api/v1/nodes/n", "nodes", ["delete"], true],
  ])("%s %s needs %s %j", (method, path, resource, verbs, clusterWide) => {
    expect(asked(method, path)).toMatchObject({ resource, verbs, clusterWide, by: "handler h" });
  });

  it("is written once, and not again where an earlier recording has it, whatever the object is called", () => {
    const request = (name: string) => {
      return { handler: "h", method: "GET", path: `/api/v1/namespaces/a/pods/${name}`, watch: false, websocket: false };
    };
    const lines: string[] = [];
    const first = requestRecorder((line) => lines.push(line));
    for (const name of ["p", "q"]) first(request(name));
    expect(parseRecording(lines.join(""))).toEqual([request("p")]);
    const second = requestRecorder((line) => lines.push(line), parseRecording(lines.join("")));
    second(request("r"));
    second({ ...request("r"), method: "DELETE" });
    expect(parseRecording(lines.join("")).map(({ method }) => method)).toEqual(["GET", "DELETE"]);
  });

  it("of a watch or a WebSocket needs other verbs", () => {
    expect(asked("GET", "/api/v1/pods", { watch: true })).toMatchObject({ verbs: ["watch"] });
    expect(asked("GET", "/api/v1/namespaces/a/pods/p/exec", { websocket: true })).toMatchObject({
      resource: "pods/exec",
      verbs: ["create", "get"],
    });
  });

  it("about nothing that a rule names needs nothing", () => {
    expect(asked("GET", "/version")).toBeUndefined();
    expect(asked("GET", "/apis")).toBeUndefined();
    expect(asked("GET", "/api/v1")).toBeUndefined();
  });

  it("is written down once, and read again", () => {
    let text = "";
    const record = requestRecorder((line) => {
      text += line;
    });
    const request = { handler: "h", method: "GET", path: "/api/v1/pods", watch: false, websocket: false };
    record(request);
    record({ ...request, path: "/api/v1/pods?limit=500" });
    record({ ...request, path: "/version" });
    expect(parseRecording(text)).toEqual([request]);
    expect(() => parseRecording(`${text}no\n`)).toThrow("line 2 is not JSON");
  });
});
