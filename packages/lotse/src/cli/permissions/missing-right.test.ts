import { describe, expect, it } from "vitest";
import { needOf } from "../../report/index.ts";
import { includesRequest, type MissingRight, missingRight } from "./missing-right.ts";

const asked = (method: string, path: string, more = {}) => {
  return { method, path, watch: false, websocket: false, ...more };
};

describe("a right that is missing", () => {
  it.each([
    [
      asked("POST", "/api/v1/namespaces/a/configmaps"),
      "create configmaps in a",
      "{ apiGroups: [''], resources: [configmaps], verbs: [create] }",
    ],
    [
      asked("GET", "/apis/apps/v1/deployments", { watch: true }),
      "watch deployments.apps",
      "{ apiGroups: [apps], resources: [deployments], verbs: [watch] }",
    ],
    [
      asked("GET", "/api/v1/namespaces/a/pods/p/exec", { websocket: true }),
      "create, get pods/exec in a",
      "{ apiGroups: [''], resources: [pods/exec], verbs: [create, get] }",
    ],
    [asked("GET", "/api/v1/nodes/n"), "get nodes", "{ apiGroups: [''], resources: [nodes], verbs: [get] }"],
  ])("is told in words, and as a rule", (request, text, rule) => {
    expect(missingRight(request)).toMatchObject({ text, rule });
  });

  it("is none for a request that no rule is about", () => {
    expect(missingRight(asked("GET", "/version"))).toBeUndefined();
  });

  it("is in a role when it was recorded, for the namespaces that are served", () => {
    const request = asked("GET", "/api/v1/namespaces/a/secrets");
    const missing = missingRight(request) as MissingRight;
    const recorded = [needOf({ handler: "h", ...request })].flatMap((need) => need ?? []);
    expect(includesRequest(recorded, missing, undefined)).toBe(true);
    expect(includesRequest(recorded, missing, ["a"])).toBe(true);
    expect(includesRequest(recorded, missing, ["b"])).toBe(false);
    expect(includesRequest([], missing, undefined)).toBe(false);
  });
});
